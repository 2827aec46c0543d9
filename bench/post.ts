import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { warmUp } from './generators/wrk.js';
import {
  dealReads,
  POSTS_A_SECOND,
  postFor,
  READS_A_SECOND,
  type ReadRound,
  readBesidePosts,
} from './post/posting.js';
import { MANY_REQUESTS } from './scenarios.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import { untilIdle } from './support/proc.js';
import {
  type BenchOptions,
  benchCommand,
  positiveNumber,
  runBench,
  say,
  smokeFlags,
} from './support/run.js';
import { startServer, startService, temporaryFolder } from './support/service.js';
import { figureOf, ratioOf } from './support/stats.js';
import { digits, spreadTable, type Table } from './support/table.js';

interface PostRound extends ReadRound {
  /** Calls of `fdatasync` a second, each after a write as long as a line of the journal. */
  readonly syncs: number;
  /** Posts a second that a bare Fastify route in a process a core sends back. */
  readonly echoes: number;
  /** Posts acknowledged a second. */
  readonly posts: number;
}

export interface PostResults {
  readonly points: number;
  readonly connections: number;
  readonly rounds: readonly PostRound[];
}

interface Options extends BenchOptions {
  readonly readSeconds: number;
}

const LINE_BYTES = 400;
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
  // the journal lies on the disk of the snapshots, as by default
  const folder = temporaryFolder('journal', CACHE);
  const limits = ['--posts-per-address', '0', '--max-connections', '5000'];
  const flags = ['--journal', join(folder, 'journal'), ...limits, ...smokeFlags(options.smoke)];
  const { url: echo } = await startServer(PEER, ['fastify-cluster', folder]);
  const { url, pid } = await startService(snapshot, flags);
  const all = Array.from({ length: options.rounds }, (_, i) => `round ${i + 1}`);
  const nextPaths = await dealReads(url, options);
  await warmUp(url, nextPaths(MANY_REQUESTS), options.smoke);
  // it takes some 40,000 posts until their code is compiled
  for (const one of [echo, url]) await postFor(one, 3 * seconds, connections);
  // after posts at full speed the service merges for a while
  await untilIdle([pid]);
  const reads: ReadRound[] = [];
  for (const [i, round] of all.entries()) {
    say(`${round} of reads`);
    reads.push(await readBesidePosts(url, nextPaths, readSeconds, i));
  }
  const rounds: PostRound[] = [];
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
}

/** Calls of fdatasync a second, each after the write of a line. */
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

export function postTables({ points, connections, rounds }: PostResults): Table[] {
  const note =
    `${digits(points)} points, ${rounds.length} rounds. The clients send what is made once and take their ` +
    'share of the same cores. Bare Fastify has a process a core, and stores nothing.';
  const table = spreadTable('Accepting points', note, [
    ['bare fdatasync calls a second', figureOf(rounds, 'syncs')],
    [
      `posts a second that bare Fastify sends back, ${connections} clients`,
      figureOf(rounds, 'echoes'),
    ],
    ['points acknowledged a second, as many clients', figureOf(rounds, 'posts')],
    ['  beside bare fdatasync calls', ratioOf(rounds, 'posts', 'syncs')],
    ['  beside bare Fastify', ratioOf(rounds, 'posts', 'echoes')],
    [`p99 of ${digits(READS_A_SECOND)} reads a second, ms`, figureOf(rounds, 'quietMs')],
    [`the same beside ${POSTS_A_SECOND} posts a second, ms`, figureOf(rounds, 'besideMs')],
    ['  merges meanwhile', figureOf(rounds, 'merges')],
    ['  beside posts to without', ratioOf(rounds, 'besideMs', 'quietMs')],
  ]);
  return [table];
}

await runBench(import.meta, command, { smoke: SMOKE, run: benchPosts, tables: postTables });
