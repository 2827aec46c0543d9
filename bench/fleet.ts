import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../test/support/client.js';
import { startDatabase } from '../test/support/database.js';
import { LIST } from './places.js';
import {
  dealReads,
  POST_BODY,
  POSTS_A_SECOND,
  postFor,
  type ReadRound,
  readBesidePosts,
} from './post/posting.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import { type BenchOptions, benchCommand, runBench, say, smokeFlags } from './support/run.js';
import { atEnd, startService, temporaryFolder } from './support/service.js';
import { figureOf, ratioOf } from './support/stats.js';
import { digits, spreadTable, type Table } from './support/table.js';

/** Posts a second, of one round. */
interface Round extends ReadRound {
  /** Into a file. */
  readonly file: number;
  /** Through one instance into PostgreSQL, and through three. */
  readonly one: number;
  readonly three: number;
}

interface Results {
  readonly points: number;
  readonly connections: number;
  readonly rounds: readonly Round[];
  /** From 201 to the answer of another instance that has the point, in milliseconds, ascending. */
  readonly lags: readonly number[];
}

const SMOKE = { points: 5_000, connections: 16, seconds: 0.5, rounds: 1 };
const INSTANCES = 3;

const command = benchCommand(
  'fleet',
  'Measures posts acknowledged a second by one instance and by three that share PostgreSQL, beside a file.',
  { points: 100_000, connections: 256, seconds: 3, rounds: 2, seed: SEED },
);

async function benchFleet(options: BenchOptions): Promise<Results> {
  const { points, connections, seconds, seed, smoke } = options;
  const snapshot = await nativeFile(points, seed);
  const folder = temporaryFolder('fleet', CACHE);
  const database = await startDatabase(['fsync=on', 'shared_buffers=128MB']);
  atEnd(() => database.remove());
  const start = async (journal: string): Promise<string> => {
    const flags = ['--journal', journal, '--posts-per-address', '0', ...smokeFlags(smoke)];
    return (await startService(snapshot, [...flags, '--max-connections', '5000'])).url;
  };
  const postAll = async (urls: readonly string[]): Promise<number> => {
    const clients = Math.ceil(connections / urls.length);
    const all = await Promise.all(urls.map((url) => postFor(url, seconds, clients)));
    return all.reduce((sum, one) => sum + one, 0);
  };
  const file = await start(join(folder, 'journal'));
  const fleet: string[] = [];
  for (let i = 0; i < INSTANCES; i++) fleet.push(await start(database.address()));
  const [one, other] = fleet as [string, string];
  say('lags');
  const lags = await lagsOf(fleet, seconds * 3);
  // lets code be compiled before anything is measured
  for (const url of [file, ...fleet]) await postFor(url, seconds / 4, connections);
  const nextPaths = await dealReads(other, options);
  const rounds: Round[] = [];
  for (let round = 0; round < options.rounds; round++) {
    say(`round ${round + 1} of posts`);
    const reads = await readBesidePosts(other, nextPaths, seconds, round, one);
    const posts = {
      file: await postAll([file]),
      one: await postAll([one]),
      three: await postAll(fleet),
    };
    rounds.push({ ...reads, ...posts });
  }
  return { points, connections, rounds, lags };
}

/** Posts steadily to one instance, asks another one for each point; returns ascending lags. */
async function lagsOf(fleet: readonly string[], seconds: number): Promise<number[]> {
  const [from, to] = fleet.map((url) => Number(new URL(url).port)) as [number, number];
  const agent = new Agent({ keepAlive: true });
  const lags: number[] = [];
  const one = async (): Promise<void> => {
    const headers = { 'Content-Type': 'application/json' };
    const reply = await ask(from, LIST, { method: 'POST', body: POST_BODY, headers, agent });
    const began = performance.now();
    const wanted = { 'Waypost-At-Least': String(reply.headers['waypost-sequence']) };
    const { id } = reply.json<{ id: number }>();
    const { status } = await ask(to, `${LIST}${id}/`, { headers: wanted, agent });
    if (status !== 200) throw new Error(`Expected the point ${id}, got ${status}.`);
    lags.push(performance.now() - began);
  };
  const asked: Promise<void>[] = [];
  const began = performance.now();
  for (let count = 0; performance.now() - began < seconds * 1000; count++) {
    asked.push(one());
    await delay(Math.max(0, began + (count * 1000) / POSTS_A_SECOND - performance.now()));
  }
  await Promise.all(asked);
  agent.destroy();
  return lags.sort((a, b) => a - b);
}

function tables({ points, connections, rounds, lags }: Results): Table[] {
  const at = (share: number): string => digits(lags[Math.floor(lags.length * share)]!);
  const note =
    `${digits(points)} points, ${rounds.length} rounds; clients, instances and the database share the cores. ` +
    `From 201 to the answer of another instance, at ${POSTS_A_SECOND} posts a second: ` +
    `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, the request itself included.`;
  const table = spreadTable('A fleet', note, [
    [`points acknowledged a second into a file, ${connections} clients`, figureOf(rounds, 'file')],
    ['by one instance into PostgreSQL', figureOf(rounds, 'one')],
    ['  beside a file', ratioOf(rounds, 'one', 'file')],
    ['by three instances', figureOf(rounds, 'three')],
    ['  beside one', ratioOf(rounds, 'three', 'one')],
    ['p99 of 1,000 reads a second of another instance, ms', figureOf(rounds, 'quietMs')],
    ['  beside 500 posts a second to without', ratioOf(rounds, 'besideMs', 'quietMs')],
  ]);
  return [table];
}

await runBench(import.meta, command, { smoke: SMOKE, run: benchFleet, tables });
