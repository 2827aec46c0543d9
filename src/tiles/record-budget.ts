import type { Dataset } from '../index/dataset.js';
import type { DeltaMatches } from '../index/delta.js';
import { type Budget, inStretches } from '../model/budget.js';
import type { RecordKey } from '../model/point.js';
import { SCATTERED } from '../query/common/plan.js';
import { Facts } from './facts.js';
import { readsRecords } from './points.js';
import { inOrderOfHashes, SORTED } from './thin.js';

/**
 * Bytes of records that are read for one tile. A record has up to 256 KiB: without a bound, 10,000
 * of them would be gigabytes.
 */
export const MOST_RECORD_BYTES: number = 4 * 2 ** 20;

/** Rows of which the first `fitting` may have their records read. */
export interface Budgeted {
  readonly rows: Int32Array;
  readonly fitting: number;
  /** Bytes of the records that may be read. */
  readonly bytes: number;
}

/**
 * Finds the rows whose records fit into {@link MOST_RECORD_BYTES} together, the least hashes of ids
 * first; all rows where no record must be read for the `fields` that are asked for. Part of the
 * rows, such as those of a deeper tile, keeps every row of it that all of them keep.
 */
export function withinBudget(
  dataset: Dataset,
  accepted: DeltaMatches | undefined,
  rows: Int32Array,
  fields: readonly RecordKey[] | undefined,
  budget: Budget,
): Budgeted {
  if (!readsRecords(fields)) return { rows, fitting: rows.length, bytes: 0 };
  const facts = new Facts(dataset, accepted);
  let bytes = 0;
  inStretches(budget, 0, rows.length, SCATTERED, (from, to) => {
    for (let i = from; i < to; i++) bytes += facts.recordBytes(rows[i]!);
  });
  return bytes <= MOST_RECORD_BYTES
    ? { rows, fitting: rows.length, bytes }
    : leastHashesFirst(rows, facts, budget);
}

/** Puts those rows first whose records fit, which not all of them do. */
function leastHashesFirst(rows: Int32Array, facts: Facts, budget: Budget): Budgeted {
  budget.charge(rows.length * SORTED);
  const ordered = inOrderOfHashes(rows, facts);
  let bytes = 0;
  let fitting = 0;
  for (; fitting < ordered.length; fitting++) {
    const more = facts.recordBytes(ordered[fitting]!);
    if (bytes + more > MOST_RECORD_BYTES) break;
    bytes += more;
  }
  return { rows: ordered, fitting, bytes };
}
