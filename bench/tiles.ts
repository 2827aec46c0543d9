import type { Engine } from '../src/query/engine.js';
import { Skipped } from './peers/types.js';
import { FULL_TAIL, fullTail } from './query/full-tail.js';
import { loadEngine } from './query.js';
import { nativeFile, ndjsonFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  positive,
  runMain,
  say,
  typedCommand,
  writePart,
} from './support/run.js';
import { digits, textTable } from './support/table.js';
import { FILTER_SETS, tilesOf, ZOOMS } from './tiles/cases.js';
import { checkTiles } from './tiles/check.js';
import type { Contender } from './tiles/contender.js';
import { documentTables } from './tiles/document.js';
import { type Floor, measureFloors } from './tiles/floors.js';
import { measureTiles } from './tiles/measure.js';
import { openOurs, startOurs } from './tiles/ours.js';
import { startPostgisTiles } from './tiles/postgis.js';
import type { Rebuilt, TileResult, TileResults } from './tiles/results.js';
import { type HostileTiles, hostileTiles, slowestTiles } from './tiles/slowest.js';
import { startSupercluster } from './tiles/supercluster.js';
import { tileNotes, tileTable } from './tiles/table.js';

interface Options extends BenchOptions {
  readonly points: number;
  readonly rounds: number;
  readonly large: boolean;
  readonly searchOnly: boolean;
  readonly search: boolean;
  readonly postgres?: number;
  readonly filters?: number;
}

const TILES = 100;
const SMOKE_POINTS = 5_000;
const SLOW_TRIES = 500;
const HOSTILE = 100_000;

const command = benchCommand('tiles', 'Makes vector tiles, by zoom and by filters.', {
  points: 1_000_000,
  rounds: 5,
})
  .option('--large', '10,000,000 points as well: needs 20 GB of memory', false)
  .option('--search-only', 'the search for slow tiles alone', false)
  .option('--no-search', 'no search for slow tiles')
  .option('--filters <number>', 'the set of so many filters alone, without the search', Number)
  .option(
    '--postgres <port>',
    'a PostgreSQL that runs, and keeps the points it is given',
    positive,
  );

/** Entry: each size in turn. */
async function main(): Promise<void> {
  const options = command.parse().opts<Options>();
  const { smoke, large, points, json } = options;
  const parts: TileResults[] = [];
  for (const size of smoke ? [SMOKE_POINTS] : large ? [points, 10_000_000] : [points]) {
    parts.push(await benchSize(size, { ...options, rounds: smoke ? 1 : options.rounds }));
  }
  const results: TileResults = {
    results: parts.flatMap((part) => part.results),
    queries: Object.fromEntries(FILTER_SETS.map(({ count, query }) => [count, query])),
    rebuilt: parts.flatMap((part) => part.rebuilt),
    floors: parts.flatMap((part) => part.floors ?? []),
    slowest: parts.flatMap((part) => part.slowest),
    hostile: parts.flatMap((part) => part.hostile),
    skipped: Object.assign({}, ...parts.map((part) => part.skipped)) as Record<string, string>,
  };
  console.log(tilesText(results));
  writePart(json, typedCommand('tiles'), results);
}

async function benchSize(points: number, options: Options): Promise<TileResults> {
  const { smoke, searchOnly, search, filters } = options;
  const native = await nativeFile(points);
  const engine = await loadEngine(native);
  const measured = searchOnly
    ? { results: [], rebuilt: [], skipped: {} }
    : await measureSize(engine, native, options);
  const isSearched = search && filters === undefined;
  const slowest = isSearched ? await slowestTiles(engine, smoke ? 20 : SLOW_TRIES) : [];
  const hostile = isSearched ? await searchHostile(engine, smoke) : [];
  return {
    ...measured,
    queries: {},
    slowest: slowest.map((one) => ({ points, ...one })),
    hostile: hostile.map((one) => ({ points, ...one })),
  };
}

/** Hostile addresses, and some of them beside as many accepted points as there may be. */
async function searchHostile(
  engine: Engine,
  isSmoke: boolean,
): Promise<(HostileTiles & { readonly accepted: number })[]> {
  const rows = isSmoke ? 2_000 : FULL_TAIL;
  const tail = fullTail(engine.dataset.byId.keys.at(-1)!, rows, SEED);
  return [
    { accepted: 0, ...(await hostileTiles(engine, isSmoke ? 500 : HOSTILE)) },
    { accepted: rows, ...(await hostileTiles(engine, isSmoke ? 100 : HOSTILE / 10, tail)) },
  ];
}

/** All contenders by turns, zoom by zoom and filter set by filter set. */
async function measureSize(
  engine: Engine,
  native: string,
  { rounds, smoke: isSmoke, postgres, filters }: Options,
): Promise<Pick<TileResults, 'results' | 'rebuilt' | 'floors' | 'skipped'>> {
  const points = engine.dataset.count;
  const ndjson = await ndjsonFile(points);
  const tiles = ZOOMS.map((z) => tilesOf(engine.dataset, z, isSmoke ? 5 : TILES));
  const byHttp = await startOurs(native);
  const contenders: Contender[] = [openOurs(engine), byHttp];
  const floors: Floor[] = [];
  const skipped: Record<string, string> = {};
  const rebuilt: Rebuilt[] = [];
  const results: TileResult[] = [];
  try {
    const postgis = await startPostgisTiles(ndjson, postgres).catch((error: unknown) => {
      if (!(error instanceof Skipped)) throw error;
      say(`left out: ${error.message}`);
      skipped['PostGIS'] = error.message;
    });
    if (postgis) contenders.push(postgis);
    const clusters = await startSupercluster({ ndjson, points });
    contenders.push(clusters);
    for (const set of FILTER_SETS.filter(
      ({ count }) => filters === undefined || count === filters,
    )) {
      for (const contender of contenders) await contender.prepare(set);
      const seconds = clusters.rebuilt.get(set.count);
      if (seconds !== undefined) rebuilt.push({ points, filters: set.count, seconds });
      await checkTiles(contenders, (one) => one !== clusters, tiles, set);
      for (const [i, zoom] of ZOOMS.entries()) {
        const times = await measureTiles(contenders, tiles[i]!, rounds, isSmoke);
        results.push({ points, filters: set.count, zoom, times });
        say(`${points} points, ${set.count} filters, zoom ${zoom}: measured`);
      }
    }
    // last, when the code of all of them is warm
    const deepest = tiles.at(-1)![0]!;
    const bytes = await contenders[0]!.tile(deepest);
    floors.push(...(await measureFloors(byHttp, postgis ?? undefined, bytes, isSmoke)));
  } finally {
    for (const contender of contenders) await contender.stop();
  }
  return { results, rebuilt, floors: floors.map((one) => ({ points, ...one })), skipped };
}

function tilesText(results: TileResults): string {
  const { head, rows } = tileTable(results);
  const slowest = results.slowest.map(
    ({ points, query, millis, held }) =>
      `slow, ${digits(points)} points: ${digits(millis)} ms, held ${digits(held)} ms: ${query}`,
  );
  const hostile = results.hostile.map(
    ({ points, accepted = 0, slowest: one, longestHeld: held }) =>
      `hostile, ${digits(points)} points, ${digits(accepted)} accepted: slowest ${digits(one?.millis ?? 0)} ms: ${one?.query.slice(0, 200)}\n` +
      `  held ${digits(held?.held ?? 0)} ms: ${held?.query.slice(0, 200)}`,
  );
  const tables = documentTables(results.results);
  return [textTable(head, rows), ...tileNotes(results), ...slowest, ...hostile, ...tables].join(
    '\n',
  );
}

await runMain(import.meta, main);
