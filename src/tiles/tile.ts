import type { Dataset } from '../index/dataset.js';
import type { DeltaMatches } from '../index/delta.js';
import type { Budget } from '../model/budget.js';
import type { Box, Filters } from '../model/query.js';
import type { Matches } from '../query/common/matches.js';
import type { Scratch } from '../query/common/scratch.js';
import type { Engine, Hints } from '../query/engine.js';
import { clusterTile } from './clusters.js';
import { boxOf, Grid, type TileQuery } from './grid.js';
import { writeMeta } from './layer.js';
import { writePoints } from './points.js';
import { withinBudget } from './record-budget.js';
import { thinOut } from './thin.js';

const EMPTY: Uint8Array = new Uint8Array(0);

/**
 * Makes a tile as Mapbox Vector Tiles 2.1 have it: empty where nothing matches. `accepted` are the
 * matches among the accepted points.
 */
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

/**
 * The filters that are searched for. A tile of clusters without any filter walks through its own
 * part of all points, which takes less than a search for its box.
 */
function searched({ address, limit }: TileQuery, filters: Filters): Filters {
  const { boxes, ...others } = filters;
  if (limit !== undefined || address.z === 0 || boxes?.length !== 1) return filters;
  const isFiltered = Object.keys(others).length > 0 || !isSame(boxes[0]!, boxOf(address));
  return isFiltered ? filters : others;
}

function isSame(a: Box, b: Box): boolean {
  return a.west === b.west && a.south === b.south && a.east === b.east && a.north === b.north;
}

/**
 * A tile of at most `limit` points, each at its own place, and a layer that says how many were left
 * out; empty where nothing matches.
 */
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
  const least = thinOut(dataset, scratch, matches, accepted, limit);
  const budgeted = withinBudget(dataset, accepted, least, fields, budget);
  const { fitting, bytes } = budgeted;
  const isWhole = fitting === budgeted.rows.length;
  const rows = isWhole ? budgeted.rows : budgeted.rows.slice(0, fitting).sort();
  const points = { rows, detailed: fitting, bytes, accepted, fields };
  const tile: Uint8Array[] = [];
  writePoints(tile, new Grid(address, 1), dataset, points, budget);
  writeMeta(tile, { point_count: count, shown: rows.length, left_out: count - rows.length });
  return Buffer.concat(tile);
}
