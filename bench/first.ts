import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { benchRandom, surveyPlaces } from './places.js';
import { requestPaths, scenarioOf, tileAt } from './scenarios.js';
import { nativeFile, SEED } from './support/data.js';
import { type BenchOptions, benchCommand, runBench, say, smokeFlags } from './support/run.js';
import { startService } from './support/service.js';
import { ratiosOf, type Spread, spreadOf } from './support/stats.js';
import { digits, type Table } from './support/table.js';

/** The slowest of the first answers of a kind, in milliseconds, round by round. */
interface FirstAnswers {
  readonly kind: string;
  readonly cold: Spread;
  readonly warm: Spread;
  readonly ratio: Spread;
}

const LISTS = ['small-box', 'nearby', 'wide', 'time', 'deep-pages'] as const;
/** Different requests of each kind, which come to all threads. */
const REQUESTS = 100;
/** What the other threads take to start and to warm up. */
const THREADS_MS = 3_000;

const command = benchCommand(
  'first',
  'Measures the slowest of the first answers after a start, with the warm-up and without.',
  { points: 1_000_000, rounds: 3 },
);

/** Starts a service twice in each round: as it is, and without its warm-up. */
async function benchFirst({ points, rounds, smoke }: BenchOptions): Promise<FirstAnswers[]> {
  const file = await nativeFile(points);
  const kinds = await kindsOf(file, smoke);
  const slowest = { cold: new Map<string, number[]>(), warm: new Map<string, number[]>() };
  for (let round = 0; round < rounds; round++) {
    for (const side of ['cold', 'warm'] as const) {
      const flags = [...smokeFlags(smoke), ...(side === 'cold' ? ['--warm-up', '0s'] : [])];
      const server = await startService(file, flags);
      // the other threads begin once the first one listens
      await delay(smoke ? 200 : THREADS_MS);
      for (const [kind, paths] of kinds) {
        const times: number[] = [];
        for (const path of paths) times.push(await timeOf(server.url + path));
        const before = slowest[side].get(kind) ?? [];
        slowest[side].set(kind, [...before, Math.max(...times)]);
      }
      await server.stop();
    }
    say(`round ${round + 1}`);
  }
  return [...kinds.keys()].map((kind) => {
    const [cold, warm] = [slowest.cold.get(kind)!, slowest.warm.get(kind)!];
    return { kind, cold: spreadOf(cold), warm: spreadOf(warm), ratio: ratiosOf(warm, cold) };
  });
}

/**
 * The requests of each kind. Another service is asked for the places, so that measured ones stay
 * cold.
 */
async function kindsOf(file: string, smoke: boolean): Promise<Map<string, readonly string[]>> {
  const server = await startService(file, smokeFlags(smoke));
  const places = await surveyPlaces(server.url, smoke ? 40 : 400, SEED);
  await server.stop();
  const random = benchRandom(SEED, 1);
  const tiles = Array.from({ length: REQUESTS }, (_, i) => {
    const { lat, lon } = random.pick(places.centres);
    const zoom = i % 16;
    return `/tiles/${zoom}/${tileAt(lat, lon, zoom).join('/')}.mvt`;
  });
  const pathsOf = (name: string): string[] =>
    requestPaths(scenarioOf(name), places, REQUESTS, SEED);
  return new Map([
    ...LISTS.map((name) => [name, pathsOf(name)] as const),
    ['vector tiles', tiles],
    ['filtered tiles', tiles.map((path) => `${path}?is_processed=false`)],
    ['pages for people', pathsOf('nearby').map((path) => `${path}&format=api`)],
    ['GeoJSON', pathsOf('small-box').map((path) => `${path}&format=geojson`)],
  ]);
}

/** Milliseconds of one request on a connection of its own. */
async function timeOf(url: string): Promise<number> {
  const began = performance.now();
  const [answer] = await once(request(url, { agent: new Agent() }).end(), 'response');
  await once(answer.resume(), 'end');
  if (answer.statusCode >= 400) throw new Error(`${url}: ${answer.statusCode}`);
  return performance.now() - began;
}

function firstTables(results: readonly FirstAnswers[]): Table[] {
  return [
    {
      title: 'First answers',
      note: `The slowest of the first ${REQUESTS} different requests of each kind, in milliseconds: medians of the rounds.`,
      head: ['kind', 'without warm-up', 'with', 'ratio'],
      rows: results.map(({ kind, cold, warm, ratio }) => [
        kind,
        ...[cold, warm, ratio].map(({ median }) => digits(median)),
      ]),
    },
  ];
}

await runBench(import.meta, command, {
  smoke: { points: 2_000, rounds: 1 },
  run: benchFirst,
  tables: firstTables,
});
