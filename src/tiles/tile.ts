import { isDeepStrictEqual } from 'node:util';
import type { Dataset } from '../index/dataset.js';
import type { DeltaMatches } from '../index/delta.js';
import { type Budget, inStretches } from '../model/budget.js';
import type { Filters } from '../model/query.js';
import type { Matches } from '../query/common/matches.js';
import type { Scratch } from '../query/common/scratch.js';
import type { Engine, Hints } from '../query/engine.js';
import { Cells, fillCells } from './cells.js';
import { Facts } from './facts.js';
import { boxOf, Grid, type TileQuery } from './grid.js';
import { LayerWriter, type Place, writeMeta } from './layer.js';
import { thinOut, withinBudget, writePoints } from './points.js';

const EMPTY: Uint8Array = new Uint8Array(0);

/** Makes a Mapbox Vector Tile 2.1, empty where nothing matches. */
export function makeTile(
  engine: Engine,
  query: TileQuery,
  accepted?: DeltaMatches,
  hints?: Hints,
  budget?: Budget,
): Uint8Array {
  const { filters, limit } = query;
  if (filters === undefined) return EMPTY;
  const { dataset } = engine;
  const make = limit === undefined ? clusterTile : singlesTile;
  return engine.collect(
    searched(query, filters),
    (matches, scratch) => make(dataset, scratch, query, matches, accepted),
    hints,
    budget,
  );
}

/** None for clusters without other filters: walking the tree is quicker than a search for a box. */
function searched({ address, limit }: TileQuery, filters: Filters): Filters {
  const { boxes, ...others } = filters;
  if (limit !== undefined || !isDeepStrictEqual(boxes, [boxOf(address)])) return filters;
  return Object.values(others).every((one) => one === undefined) ? {} : filters;
}

/** At most `limit` points, and a layer with the number of points that were left out. */
function singlesTile(
  dataset: Dataset,
  scratch: Scratch,
  { address, limit = Infinity, fields }: TileQuery,
  matches: Matches,
  accepted: DeltaMatches | undefined,
): Uint8Array {
  const { budget } = scratch;
  const count = matches.count + (accepted?.rows.length ?? 0);
  if (count === 0) return EMPTY;
  const facts = new Facts(dataset, accepted);
  const least = thinOut(dataset, scratch, matches, accepted, facts, limit);
  const { rows: all, fitting, bytes } = withinBudget(facts, least, fields, budget);
  const rows = all.slice(0, fitting).sort();
  const tile: Uint8Array[] = [];
  writePoints(tile, new Grid(address, 1), facts, { rows, fitting, bytes }, fields, budget);
  writeMeta(tile, { point_count: count, shown: rows.length, left_out: count - rows.length });
  return Buffer.concat(tile);
}

/** Clusters, and points that are alone in their cells. */
function clusterTile(
  dataset: Dataset,
  scratch: Scratch,
  { address, grid: size, fields }: TileQuery,
  matches: Matches,
  accepted: DeltaMatches | undefined,
): Uint8Array {
  const grid = new Grid(address, size);
  const cells = new Cells(grid);
  const { budget } = scratch;
  fillCells(dataset, scratch, grid, cells, matches);
  addAccepted(cells, dataset, accepted, budget);
  const tile: Uint8Array[] = [];
  writeClusters(tile, grid, cells, budget);
  const singles = cells.rows.filter((_, cell) => cells.counts[cell] === 1);
  const facts = new Facts(dataset, accepted);
  const points = withinBudget(facts, singles, fields, budget);
  const { rows, fitting } = points;
  writePoints(tile, grid, facts, points, fields, budget);
  if (fitting < rows.length) writeMeta(tile, { without_fields: rows.length - fitting });
  return Buffer.concat(tile);
}

function addAccepted(
  cells: Cells,
  { count }: Dataset,
  accepted: DeltaMatches | undefined,
  budget: Budget,
): void {
  if (accepted === undefined) return;
  const { delta, rows } = accepted;
  inStretches(budget, 0, rows.length, ADD, (from, to) => {
    for (let i = from; i < to; i++) cells.add(count + rows[i]!, delta.coords, rows[i]!);
  });
}

// nanoseconds
const ADD = 15; // to add a point to its cell
const LOOK = 1; // to look at a cell
const CLUSTER = 200; // to write a cluster

/** Estimated bytes of a cluster. */
const FEATURE_BYTES = 24;

function writeClusters(
  tile: Uint8Array[],
  grid: Grid,
  { counts, sums }: Cells,
  budget: Budget,
): void {
  let clusters = 0;
  for (const count of counts) if (count > 1) clusters++;
  if (clusters === 0) return;
  const layer = new LayerWriter('clusters', clusters * FEATURE_BYTES);
  const pointCount = layer.key('point_count');
  const abbreviated = layer.key('point_count_abbreviated');
  /** The place of each count; the next place has its abbreviation. */
  const places = new Map<number, Place>();
  const write = (from: number, to: number): void => {
    for (let cell = from; cell < to; cell++) {
      const count = counts[cell]!;
      if (count < 2) continue;
      let place = places.get(count);
      if (place === undefined) {
        place = layer.own(count);
        layer.own(abbreviate(count));
        places.set(count, place);
      }
      layer.begin();
      layer.property(pointCount, place);
      layer.property(abbreviated, place + 1);
      const east = grid.unitsEast(sums[2 * cell]! / count, cell);
      layer.end(east, grid.unitsSouth(sums[2 * cell + 1]! / count, cell));
    }
  };
  const cost = LOOK + (CLUSTER * clusters) / counts.length;
  inStretches(budget, 0, counts.length, cost, write);
  layer.finish(tile);
}

const UNITS = ['', 'k', 'M', 'G'] as const;

/** A count rounded to at most four characters: `999`, `1.2k`, `35k`, `1.1M`. */
export function abbreviate(count: number): string {
  if (count < 1000) return String(count);
  let scaled = count;
  let unit = 0;
  // what rounds to `1000k` is `1M`
  while (unit < UNITS.length - 1 && Math.round(scaled) >= 1000) {
    scaled /= 1000;
    unit++;
  }
  const digits = scaled < 9.95 ? 1 : 0;
  return Number(scaled.toFixed(digits)) + UNITS[unit]!;
}
