import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fullLoop } from './generators/wrk.js';
import { LIST, surveyPlaces } from './places.js';
import { type ReadRound, readBesidePosts } from './post/reads.js';
import { POST_BODY, type PostResults, type PostRound, postTables } from './post/table.js';
import { dealer, requestPaths, scenarioOf } from './scenarios.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  positiveNumber,
  runBench,
  say,
  smokeFlags,
} from './support/run.js';
import { type Server, startServer, startService, temporaryFolder } from './support/service.js';

interface Options extends BenchOptions {
  readonly points: number;
  readonly connections: number;
  readonly seconds: number;
  readonly readSeconds: number;
  readonly rounds: number;
  readonly seed: number;
}

const LINE_BYTES = 400;
/** So many that none is asked for twice before the cache has forgotten the first time. */
const DIFFERENT_READS = 100_000;
const SMOKE = { points: 5_000, connections: 16, seconds: 0.5, readSeconds: 0.5, rounds: 1 };
const PEER = join(import.meta.dirname, 'peers/server.js');

const command = benchCommand(
  'post',
  'Measures posts acknowledged a second beside bare fdatasync calls, and reads beside posts.',
  { points: 1_000_000, connections: 256, seconds: 2, rounds: 2, seed: SEED },
).option('--read-seconds <number>', 'length of each stretch of reads', positiveNumber, 8);

async function benchPosts(options: Options): Promise<PostResults> {
  const { points, connections, seconds, readSeconds, seed } = options;
  const snapshot = await nativeFile(points, seed);
  // on the disk of the snapshots, as by default
  const folder = temporaryFolder('journal', CACHE);
  const servers: Server[] = [];
  const start = async (server: Promise<Server>): Promise<string> => {
    servers.push(await server);
    return servers.at(-1)!.url;
  };
  const limits = ['--posts-per-address', '0', '--max-connections', '5000'];
  const flags = ['--journal', join(folder, 'journal'), ...limits, ...smokeFlags(options.smoke)];
  try {
    const echo = await start(startServer(PEER, ['fastify-cluster', folder]));
    const url = await start(startService(snapshot, flags));
    const places = await surveyPlaces(url, options.smoke ? 40 : 400, seed);
    const paths = requestPaths(scenarioOf('small-box'), places, DIFFERENT_READS, seed);
    const all = Array.from({ length: options.rounds }, (_, i) => `round ${i + 1}`);
    const nextPaths = dealer(paths);
    const reads: ReadRound[] = [];
    // first, since what is posted at full speed is being merged for a while
    for (const [i, round] of all.entries()) {
      say(`${round} of reads`);
      reads.push(await readBesidePosts(url, nextPaths, readSeconds, i));
    }
    const rounds: PostRound[] = [];
    // what is not compiled yet is not measured
    for (const one of [echo, url]) await postFor(one, seconds / 4, connections);
    for (const [i, round] of all.entries()) {
      say(`${round} of posts`);
      rounds.push({
        ...reads[i]!,
        syncs: syncsASecond(folder, seconds / 2),
        echoes: await postFor(echo, seconds, connections),
        posts: await postFor(url, seconds, connections),
      });
    }
    return { points, connections, rounds };
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Posts a second that are accepted, each client its next when the last was. */
async function postFor(base: string, seconds: number, connections: number): Promise<number> {
  const load = { base, paths: [POST_BODY], postTo: LIST, connections, warmupSeconds: 0, seconds };
  const { perSecond, errors } = await fullLoop(load);
  if (Object.keys(errors).length > 0) throw new Error(`Posts failed: ${JSON.stringify(errors)}`);
  return perSecond;
}

/** Writes a line and flushes it, one after the other. */
function syncsASecond(folder: string, seconds: number): number {
  const path = join(folder, 'bare');
  const fd = openSync(path, 'w');
  const line = Buffer.alloc(LINE_BYTES, 0x78);
  const until = performance.now() + seconds * 1000;
  let count = 0;
  for (; performance.now() < until; count++) {
    writeSync(fd, line);
    fdatasyncSync(fd);
  }
  closeSync(fd);
  rmSync(path);
  return count / seconds;
}

await runBench(import.meta, command, { smoke: SMOKE, run: benchPosts, tables: postTables });
