import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { surveyPlaces } from './places.js';
import { postFor } from './post/clients.js';
import { type ReadRound, readBesidePosts } from './post/reads.js';
import { type PostResults, type PostRound, postRows, SLOW_FLUSH_MS } from './post/table.js';
import { requestPaths, scenarioOf } from './scenarios.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  positiveNumber,
  runMain,
  say,
  smokeFlags,
  typedCommand,
  writePart,
} from './support/run.js';
import { type Server, startServer, startService } from './support/service.js';
import { textTable } from './support/table.js';

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
const ECHO = join(import.meta.dirname, 'post/echo.js');
const SLOW_FLUSH = pathToFileURL(join(import.meta.dirname, 'post/slow-flush.js')).href;

const command = benchCommand(
  'post',
  'Measures posts acknowledged a second beside bare fdatasync calls, and reads beside posts.',
  { points: 1_000_000, connections: 256, seconds: 4, rounds: 3, seed: SEED },
).option('--read-seconds <number>', 'length of each stretch of reads', positiveNumber, 20);

async function main(): Promise<void> {
  const given = command.parse().opts<Options>();
  const options = given.smoke ? { ...given, ...SMOKE } : given;
  const { points, connections, seconds, readSeconds, seed } = options;
  const snapshot = await nativeFile(points, seed);
  // on the disk of the snapshots, as by default
  const folder = mkdtempSync(join(CACHE, 'journal-'));
  process.env['SLOW_FLUSH_MS'] = String(SLOW_FLUSH_MS);
  const servers: Server[] = [];
  const start = async (server: Promise<Server>): Promise<string> => {
    servers.push(await server);
    return servers.at(-1)!.url;
  };
  const accepting = (journal: string, nodeFlags: readonly string[] = []): Promise<Server> => {
    const limits = ['--posts-per-address', '0', '--max-connections', '5000'];
    const flags = ['--journal', join(folder, journal), ...limits, ...smokeFlags(options.smoke)];
    return startService(snapshot, flags, nodeFlags);
  };
  try {
    const echo = await start(startServer(ECHO, []));
    const url = await start(accepting('a.journal'));
    const slow = await start(accepting('slow.journal', ['--import', SLOW_FLUSH]));
    const places = await surveyPlaces(url, options.smoke ? 40 : 400, seed);
    const paths = requestPaths(scenarioOf('small-box'), places, DIFFERENT_READS, seed);
    const all = Array.from({ length: options.rounds }, (_, i) => `round ${i + 1}`);
    let read = 0;
    const nextPaths = (count: number): string[] =>
      Array.from({ length: count }, () => paths[read++ % paths.length]!);
    const reads: ReadRound[] = [];
    // first, since what is posted at full speed is being folded in for a while
    for (const [i, round] of all.entries()) {
      say(`${round} of reads`);
      reads.push(await readBesidePosts(url, nextPaths, readSeconds, i));
    }
    const rounds: PostRound[] = [];
    // what is not compiled yet is not measured
    for (const one of [echo, url, slow]) await postFor(one, seconds / 4, connections);
    for (const [i, round] of all.entries()) {
      say(`${round} of posts`);
      rounds.push({
        ...reads[i]!,
        syncs: syncsASecond(folder, seconds / 2, 0),
        echoes: await postFor(echo, seconds, connections),
        posts: await postFor(url, seconds, connections),
        slowSyncs: syncsASecond(folder, seconds / 2, SLOW_FLUSH_MS),
        slowPosts: await postFor(slow, seconds, connections),
      });
    }
    const results: PostResults = { points, connections, rounds };
    console.log(textTable(['', 'least', 'mean', 'most', 'deviation'], postRows(results)));
    writePart(options.json, typedCommand('post'), results);
  } finally {
    for (const server of servers) await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Writes a line and flushes it, one after the other, each flush so many milliseconds longer. */
function syncsASecond(folder: string, seconds: number, extraMs: number): number {
  const path = join(folder, 'bare');
  const fd = openSync(path, 'w');
  const line = Buffer.alloc(LINE_BYTES, 0x78);
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const until = performance.now() + seconds * 1000;
  let count = 0;
  for (; performance.now() < until; count++) {
    writeSync(fd, line);
    fdatasyncSync(fd);
    if (extraMs > 0) Atomics.wait(nothing, 0, 0, extraMs);
  }
  closeSync(fd);
  rmSync(path);
  return count / seconds;
}

await runMain(import.meta, main);
