import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../test/support/client.js';
import { startDatabase } from '../test/support/database.js';
import { fullLoop } from './generators/wrk.js';
import { LIST, surveyPlaces } from './places.js';
import { type ReadRound, readBesidePosts } from './post/reads.js';
import { POST_BODY } from './post/table.js';
import { dealer, requestPaths, scenarioOf } from './scenarios.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import { type BenchOptions, benchCommand, runBench, say, smokeFlags } from './support/run.js';
import { type Server, startService, temporaryFolder } from './support/service.js';
import { ratiosOf, type Spread, spreadOf } from './support/stats.js';
import { digits, type Table } from './support/table.js';

interface Options extends BenchOptions {
  readonly points: number;
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
}

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

const POSTS_A_SECOND = 500;
const SMOKE = { points: 5_000, connections: 16, seconds: 0.5, rounds: 1 };
const INSTANCES = 3;
/** So many that none is asked for twice before the cache has forgotten the first time. */
const DIFFERENT_READS = 50_000;

const command = benchCommand(
  'fleet',
  'Measures posts acknowledged a second by one instance and by three that share PostgreSQL, beside a file.',
  { points: 100_000, connections: 256, seconds: 3, rounds: 2, seed: SEED },
);

async function benchFleet(options: Options): Promise<Results> {
  const { points, connections, seconds, seed, smoke } = options;
  const snapshot = await nativeFile(points, seed);
  const folder = temporaryFolder('fleet', CACHE);
  const database = await startDatabase(['fsync=on', 'shared_buffers=128MB']);
  const servers: Server[] = [];
  const start = async (journal: string): Promise<string> => {
    const flags = ['--journal', journal, '--posts-per-address', '0', ...smokeFlags(smoke)];
    servers.push(await startService(snapshot, [...flags, '--max-connections', '5000']));
    return servers.at(-1)!.url;
  };
  const post = async (urls: readonly string[], length = seconds): Promise<number> => {
    const all = urls.map(async (base) => {
      const clients = Math.ceil(connections / urls.length);
      const load = { base, paths: [POST_BODY], postTo: LIST, connections: clients };
      const { perSecond, errors } = await fullLoop({ ...load, warmupSeconds: 0, seconds: length });
      if (Object.keys(errors).length > 0) throw new Error(`Posts fail: ${JSON.stringify(errors)}`);
      return perSecond;
    });
    return (await Promise.all(all)).reduce((sum, one) => sum + one, 0);
  };
  try {
    const file = await start(join(folder, 'journal'));
    const fleet: string[] = [];
    for (let i = 0; i < INSTANCES; i++) fleet.push(await start(database.address()));
    const [one, other] = fleet as [string, string];
    say('lags');
    const lags = await lagsOf(fleet, seconds * 3);
    // what is not compiled yet is not measured
    for (const url of [file, ...fleet]) await post([url], seconds / 4);
    const places = await surveyPlaces(other, smoke ? 40 : 400, seed);
    const paths = requestPaths(scenarioOf('small-box'), places, DIFFERENT_READS, seed);
    const nextPaths = dealer(paths);
    const rounds: Round[] = [];
    for (let round = 0; round < options.rounds; round++) {
      say(`round ${round + 1} of posts`);
      const reads = await readBesidePosts(other, nextPaths, seconds, round, one);
      const posts = { file: await post([file]), one: await post([one]), three: await post(fleet) };
      rounds.push({ ...reads, ...posts });
    }
    return { points, connections, rounds, lags };
  } finally {
    for (const server of servers) await server.stop();
    await database.remove();
  }
}

/** Posts at a steady rate to one instance, and has another one answer with each point. */
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
  const row = (name: string, { min, mean, max, deviation }: Spread): string[] => {
    return [name, ...[min, mean, max, deviation].map(digits)];
  };
  const of = (key: keyof Round): number[] => rounds.map((round) => round[key]);
  const at = (share: number): string => digits(lags[Math.floor(lags.length * share)]!);
  const rows = [
    row(`points acknowledged a second into a file, ${connections} clients`, spreadOf(of('file'))),
    row('by one instance into PostgreSQL', spreadOf(of('one'))),
    row('  beside a file', ratiosOf(of('one'), of('file'))),
    row('by three instances', spreadOf(of('three'))),
    row('  beside one', ratiosOf(of('three'), of('one'))),
    row('p99 of 1,000 reads a second of another instance, ms', spreadOf(of('quietMs'))),
    row('  beside 500 posts a second to without', ratiosOf(of('besideMs'), of('quietMs'))),
  ];
  const note =
    `${digits(points)} points, ${rounds.length} rounds; clients, instances and the database share the cores. ` +
    `From 201 to the answer of another instance, at ${POSTS_A_SECOND} posts a second: ` +
    `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, the request itself included.`;
  return [{ title: 'A fleet', note, head: ['what', 'least', 'mean', 'most', 'deviation'], rows }];
}

await runBench(import.meta, command, { smoke: SMOKE, run: benchFleet, tables });
