import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import type { Matches } from '../query/common/matches.js';
import type { Scratch } from '../query/common/scratch.js';
import { Grid } from './grid.js';
import { writeMeta } from './meta.js';
import { writePoints } from './points.js';
import type { TileQuery } from './query.js';
import { withinBudget } from './record-budget.js';
import { thinOut } from './thin.js';

const EMPTY: Uint8Array = new Uint8Array(0);

/**
 * A tile of at most `limit` points, each at its own place, and a layer that says how many were left
 * out; empty where nothing matches.
 */
export function singlesTile(
  dataset: Dataset,
  scratch: Scratch,
  { address, limit = Infinity, fields }: TileQuery,
  matches: Matches,
  accepted: TailMatches | undefined,
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
