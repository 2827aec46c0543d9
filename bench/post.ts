import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openLoop } from './generators/open.js';
import { surveyPlaces } from './places.js';
import { postEvenly, postFor } from './post/clients.js';
import { requestPaths, scenarioOf } from './scenarios.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  runMain,
  say,
  typedCommand,
  writePart,
} from './support/run.js';
import { type Server, startServer, startService } from './support/service.js';
import { ratiosOf, spreadOf } from './support/stats.js';
import { digits, textTable } from './support/table.js';

interface Options extends BenchOptions {
  readonly points: number;
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
}

/** What a round measured. */
export interface PostRound {
  /** Calls of `fdatasync` a second, each after a write as long as a line of the journal. */
  readonly syncs: number;
  /** Posts a second that a bare Fastify route in a process a core sends back. */
  readonly echoes: number;
  /** Posts that were acknowledged a second. */
  readonly posts: number;
  /** The first and the third where each flush takes {@link SLOW_FLUSH_MS} longer. */
  readonly slowSyncs: number;
  readonly slowPosts: number;
  /** 99th percentile of reads in milliseconds, without posts and beside them. */
  readonly quietMs: number;
  readonly besideMs: number;
}

/** What bench/post writes. */
export interface PostResults {
  readonly points: number;
  readonly connections: number;
  readonly rounds: readonly PostRound[];
}

const LINE_BYTES = 400;
/** What a flush takes on a disk behind a network, or on one without a cache of its own. */
const SLOW_FLUSH_MS = 2;
const READS_A_SECOND = 1_000;
const POSTS_A_SECOND = 500;
const READERS = 32;
const DIFFERENT_READS = 2_000;
const SMOKE = { points: 5_000, connections: 16, seconds: 0.5, rounds: 1 };
const ECHO = join(import.meta.dirname, 'post/echo.js');
const SLOW_FLUSH = pathToFileURL(join(import.meta.dirname, 'post/slow-flush.js')).href;

const command = benchCommand(
  'post',
  'Measures posts acknowledged a second beside bare fdatasync calls, and reads beside posts.',
  { points: 1_000_000, connections: 256, seconds: 4, rounds: 3, seed: SEED },
);

async function main(): Promise<void> {
  const given = command.parse().opts<Options>();
  const options = given.smoke ? { ...given, ...SMOKE } : given;
  const { points, connections, seconds, seed } = options;
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
    return startService(snapshot, ['--journal', join(folder, journal), ...limits], nodeFlags);
  };
  try {
    const echo = await start(startServer(ECHO, []));
    const url = await start(accepting('a.journal'));
    const slow = await start(accepting('slow.journal', ['--import', SLOW_FLUSH]));
    const places = await surveyPlaces(url, options.smoke ? 40 : 400, seed);
    const paths = requestPaths(scenarioOf('small-box'), places, DIFFERENT_READS, seed);
    const all = Array.from({ length: options.rounds }, (_, i) => `round ${i + 1}`);
    const reads: Pick<PostRound, 'quietMs' | 'besideMs'>[] = [];
    // first, since what is posted at full speed is being folded in for a while
    for (const round of all) {
      say(`${round} of reads`);
      const quietMs = await readFor(url, paths, seconds);
      const [besideMs] = await Promise.all([
        readFor(url, paths, seconds),
        postEvenly(url, seconds, POSTS_A_SECOND),
      ]);
      reads.push({ quietMs, besideMs });
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
    console.log(textTable(['', 'least', 'mean', 'most'], postRows(results)));
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

/** Reads evenly at {@link READS_A_SECOND}. Returns the 99th percentile in milliseconds. */
async function readFor(base: string, paths: readonly string[], seconds: number): Promise<number> {
  const rate = READS_A_SECOND;
  const load = { base, paths, connections: READERS, warmupSeconds: 0.5, seconds, rate };
  const { latencies, errors } = await openLoop(load);
  const failed = Object.entries(errors);
  if (failed.length > 0) throw new Error(`Reads failed: ${JSON.stringify(errors)}`);
  return latencies.percentiles[99]!;
}

/** The results as lines of text: what, least, mean and most of the rounds. */
export function postRows({ connections, rounds }: PostResults): string[][] {
  const of = (key: keyof PostRound): number[] => rounds.map((round) => round[key]);
  const row = (name: string, key: keyof PostRound): string[] => {
    const { min, mean, max } = spreadOf(of(key));
    return [name, digits(min), digits(mean), digits(max)];
  };
  const ratio = (name: string, ours: keyof PostRound, theirs: keyof PostRound): string[] => {
    const { min, mean, max } = ratiosOf(of(ours), of(theirs));
    return [name, digits(min), digits(mean), digits(max)];
  };
  return [
    row('bare fdatasync calls a second', 'syncs'),
    row(`posts a second that bare Fastify sends back, ${connections} clients`, 'echoes'),
    row('points acknowledged a second, as many clients', 'posts'),
    ratio('  beside bare fdatasync calls', 'posts', 'syncs'),
    ratio('  beside bare Fastify', 'posts', 'echoes'),
    row(`bare calls a second that take ${SLOW_FLUSH_MS} ms longer`, 'slowSyncs'),
    row('points acknowledged a second with such flushes', 'slowPosts'),
    ratio('  beside these calls', 'slowPosts', 'slowSyncs'),
    row(`p99 of ${digits(READS_A_SECOND)} reads a second, ms`, 'quietMs'),
    row(`the same beside ${POSTS_A_SECOND} posts a second, ms`, 'besideMs'),
    ratio('  beside posts to without', 'besideMs', 'quietMs'),
  ];
}

await runMain(import.meta, main);
