import type { Budget } from '../budget.js';
import type { TailMatches } from '../dataset/tail.js';
import type { Box, Filters } from '../model/query.js';
import type { Engine, Hints } from '../query/engine.js';
import { clusterTile } from './clusters.js';
import { boxOf } from './grid.js';
import type { TileQuery } from './query.js';
import { singlesTile } from './singles.js';

const EMPTY: Uint8Array = new Uint8Array(0);

/**
 * Makes a tile as Mapbox Vector Tiles 2.1 have it: empty where nothing matches. `accepted` are the
 * matches among the accepted points.
 */
export function makeTile(
  engine: Engine,
  query: TileQuery,
  accepted?: TailMatches,
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
