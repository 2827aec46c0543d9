import type { Engine } from '../src/query/engine.js';
import { Skipped } from './peers/types.js';
import { loadEngine } from './query.js';
import { nativeFile, ndjsonFile } from './support/data.js';
import { type BenchOptions, benchCommand, runBench, say } from './support/run.js';
import { endRun } from './support/service.js';
import { digits, type Table } from './support/table.js';
import { FILTER_SETS, tilesOf, ZOOMS } from './tiles/cases.js';
import { checkTiles } from './tiles/check.js';
import { type Contender, measureTiles, type Timed } from './tiles/measure.js';
import { BY_HTTP, OURS, openOurs, slowestTile, startOurs, type WorldTile } from './tiles/ours.js';
import { startPostgisTiles } from './tiles/postgis.js';
import { openSupercluster } from './tiles/supercluster.js';

interface TileResult {
  readonly points: number;
  readonly filters: number;
  readonly zoom: number;
  readonly times: readonly Timed[];
}

export interface TileResults {
  readonly results: readonly TileResult[];
  /** The slowest tile of the whole world with a filter that was not asked for before. */
  readonly slowest: readonly (WorldTile & { readonly points: number })[];
  /** What else a reader must know. */
  readonly notes: readonly string[];
}

interface Options extends BenchOptions {
  readonly large: boolean;
  readonly filters?: number;
}

const TILES = 100;
const WORLD_TILES = 200;
const PEERS = ['PostGIS', 'supercluster'] as const;

const command = benchCommand('tiles', 'Makes vector tiles, by zoom and by filters.', {
  points: 1_000_000,
  rounds: 2,
})
  .option('--large', '10,000,000 points as well: needs 20 GB of memory', false)
  .option(
    '--filters <number>',
    'the set of 0, 1 or 3 filters; 1 by default, all with --large',
    Number,
  );

async function benchTiles(options: Options): Promise<TileResults> {
  const { smoke, large, points } = options;
  const notes: string[] = [];
  const results: TileResult[] = [];
  const slowest: (WorldTile & { readonly points: number })[] = [];
  for (const size of large ? [points, 10_000_000] : [points]) {
    const native = await nativeFile(size);
    const engine = await loadEngine(native);
    slowest.push({ points: size, ...slowestTile(engine, smoke ? 10 : WORLD_TILES) });
    results.push(...(await measureSize(engine, native, options, notes)));
  }
  return { results, slowest, notes };
}

/** All contenders by turns, zoom by zoom and filter set by filter set. */
async function measureSize(
  engine: Engine,
  native: string,
  { rounds, smoke: isSmoke, large, filters }: Options,
  notes: string[],
): Promise<TileResult[]> {
  const points = engine.dataset.count;
  const ndjson = await ndjsonFile(points);
  const tiles = ZOOMS.map((z) => tilesOf(engine.dataset, z, isSmoke ? 5 : TILES));
  const contenders: Contender[] = [openOurs(engine), await startOurs(native)];
  const results: TileResult[] = [];
  for (const start of [startPostgisTiles, openSupercluster]) {
    try {
      contenders.push(await start(ndjson, points));
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      notes.push(`Left out: ${error.message}.`);
    }
  }
  const sets = FILTER_SETS.filter(({ count }) =>
    filters === undefined ? large || count === 1 : count === filters,
  );
  for (const set of sets) {
    if (set.count > 0) notes.push(`${set.count} filters: \`${set.query}\`.`);
    for (const contender of contenders) {
      const began = performance.now();
      await contender.prepare(set);
      const seconds = (performance.now() - began) / 1000;
      if (seconds < 0.05) continue;
      notes.push(`${contender.name} prepares ${set.count} filters for ${digits(seconds)} s.`);
    }
    await checkTiles(contenders, tiles, set);
    for (const [i, zoom] of ZOOMS.entries()) {
      const times = await measureTiles(contenders, tiles[i]!, rounds, isSmoke);
      results.push({ points, filters: set.count, zoom, times });
      say(`${points} points, ${set.count} filters, zoom ${zoom}: measured`);
    }
  }
  // the next size needs the memory
  await endRun();
  return results;
}

export function tileTables({ results, slowest, notes }: TileResults): Table[] {
  const worst = slowest.map(
    ({ points, query, millis }) =>
      `The slowest tile of the world of ${digits(points)} points, with one filter never asked before, took ${digits(millis)} ms of the processor: \`${query.slice(0, 100)}\`.`,
  );
  const rows = results.map(({ points, filters, zoom, times }) => [
    ...[digits(points), String(filters), String(zoom), String(times[0]!.tiles)],
    ...[OURS, BY_HTTP].map((name) => figure(times, name, 'micros')),
    ...PEERS.map((name) => figure(times, name, 'toOurs')),
  ]);
  const titles = PEERS.map((name) => `${name} ×`);
  return [
    {
      title: 'Vector tiles',
      note: `Microseconds a tile, and how many times as long others take, by zoom and number of filters, with one connection each. ${[...notes, ...worst].join(' ')}`,
      head: ['points', 'filters', 'zoom', 'tiles', OURS, 'by HTTP', ...titles],
      rows,
    },
  ];
}

function figure(times: readonly Timed[], contender: string, what: 'micros' | 'toOurs'): string {
  const found = times.find((one) => one.contender === contender);
  return found === undefined ? '–' : digits(found[what].median);
}

/**
 * How many times as many tiles Waypost serves over HTTP as PostGIS makes, in a mix of as many tiles
 * of every zoom; undefined where that was not measured.
 */
export function tilesBesidePostgis(
  { results }: TileResults,
  wanted: { readonly points: number; readonly filters: number },
): number | undefined {
  const chosen = results.filter(
    ({ points, filters }) => points === wanted.points && filters === wanted.filters,
  );
  const total = (name: string): number =>
    chosen
      .flatMap(({ times }) => times.filter(({ contender }) => contender === name))
      .reduce((sum, { micros }) => sum + micros.median, 0);
  const ratio = total('PostGIS') / total(BY_HTTP);
  return ratio > 0 ? ratio : undefined;
}

const smoke = { points: 5_000, rounds: 1, large: false };
await runBench(import.meta, command, { smoke, run: benchTiles, tables: tileTables });
