import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { openLoop } from './generators/open.js';
import { surveyPlaces } from './places.js';
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
import { startService } from './support/service.js';
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
interface Round {
  /** Calls of `fdatasync` a second, each after a write as long as a line of the journal. */
  readonly syncs: number;
  /** Posts that were acknowledged a second. */
  readonly posts: number;
  /** 99th percentile of reads in milliseconds, without posts and beside them. */
  readonly quietMs: number;
  readonly besideMs: number;
}

const LIST = '/rest/map_data_points/';
const HEADERS = { 'content-type': 'application/json' };
const BODY = JSON.stringify({
  ...{ lat: '60.17', lon: '24.94' },
  ...{ comment: 'The bench is broken.', tags: ['Repair'] },
});
const LINE_BYTES = 400;
const READS_A_SECOND = 1_000;
const POSTS_A_SECOND = 500;
const READERS = 32;
const DIFFERENT_READS = 2_000;
const SMOKE = { points: 5_000, connections: 16, seconds: 1, rounds: 1 };

const command = benchCommand(
  'post',
  'Measures posts acknowledged a second beside bare fdatasync calls, and reads beside posts.',
  { points: 1_000_000, connections: 256, seconds: 5, rounds: 3, seed: SEED },
);

async function main(): Promise<void> {
  const given = command.parse().opts<Options>();
  const options = given.smoke ? { ...given, ...SMOKE } : given;
  const snapshot = await nativeFile(options.points, options.seed);
  // on the disk of the snapshots, as by default
  const folder = mkdtempSync(join(CACHE, 'journal-'));
  const limits = ['--posts-per-address', '0', '--max-connections', '5000'];
  const server = await startService(snapshot, ['--journal', join(folder, 'a.journal'), ...limits]);
  try {
    const places = await surveyPlaces(server.url, options.smoke ? 40 : 400, options.seed);
    const paths = requestPaths(scenarioOf('small-box'), places, DIFFERENT_READS, options.seed);
    const rounds: Round[] = [];
    for (let round = 0; round < options.rounds; round++) {
      say(`round ${round + 1} of ${options.rounds}`);
      const syncs = syncsASecond(folder, options.seconds);
      const { seconds, connections } = options;
      const posts = await postFor(server.url, seconds, connections);
      const quietMs = await readFor(server.url, paths, seconds);
      const [besideMs] = await Promise.all([
        readFor(server.url, paths, seconds),
        postEvenly(server.url, seconds),
      ]);
      rounds.push({ syncs, posts, quietMs, besideMs });
    }
    console.log(report(rounds));
    writePart(options.json, typedCommand('post'), rounds);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

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

/** Posts as fast as it goes. Returns how many were acknowledged a second. */
async function postFor(url: string, seconds: number, connections: number): Promise<number> {
  const result = await autocannon({
    url: url + LIST,
    method: 'POST',
    headers: HEADERS,
    body: BODY,
    duration: seconds,
    connections,
  });
  refuseFailures(result);
  return result['2xx'] / result.duration;
}

/** Posts evenly at {@link POSTS_A_SECOND}, whatever the answers. */
async function postEvenly(url: string, seconds: number): Promise<void> {
  const answers: Promise<Response>[] = [];
  const began = performance.now();
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - began) / 1000) {
    while (answers.length < elapsed * POSTS_A_SECOND) {
      answers.push(fetch(url + LIST, { method: 'POST', headers: HEADERS, body: BODY }));
    }
    await delay(2);
  }
  const statuses = await Promise.all(answers.map(async (answer) => (await answer).status));
  const non2xx = statuses.filter((status) => status !== 201).length;
  refuseFailures({ non2xx, errors: 0 });
}

/** Reads evenly at {@link READS_A_SECOND}. Returns the 99th percentile in milliseconds. */
async function readFor(base: string, paths: readonly string[], seconds: number): Promise<number> {
  const rate = READS_A_SECOND;
  const load = { base, paths, connections: READERS, warmupSeconds: 0.5, seconds, rate };
  const { latencies, errors } = await openLoop(load);
  refuseFailures({ non2xx: 0, errors: Object.keys(errors).length });
  return latencies.percentiles[99]!;
}

function refuseFailures({ non2xx, errors }: Pick<autocannon.Result, 'non2xx' | 'errors'>): void {
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} refusals and ${errors} errors`);
}

function report(rounds: readonly Round[]): string {
  const of = (key: keyof Round): number[] => rounds.map((round) => round[key]);
  const row = (name: string, key: keyof Round): string[] => {
    const { min, mean, max } = spreadOf(of(key));
    return [name, digits(min), digits(mean), digits(max)];
  };
  const ratio = (name: string, ours: keyof Round, theirs: keyof Round): string[] => {
    const { min, mean, max } = ratiosOf(of(ours), of(theirs));
    return [name, digits(min), digits(mean), digits(max)];
  };
  return textTable(
    ['', 'least', 'mean', 'most'],
    [
      row('fdatasync calls a second', 'syncs'),
      row('posts acknowledged a second', 'posts'),
      ratio('  posts beside fdatasync calls', 'posts', 'syncs'),
      row(`p99 of ${READS_A_SECOND} reads a second, ms`, 'quietMs'),
      row(`  the same beside ${POSTS_A_SECOND} posts a second, ms`, 'besideMs'),
      ratio('  beside posts to without', 'besideMs', 'quietMs'),
    ],
  );
}

await runMain(import.meta, main);
