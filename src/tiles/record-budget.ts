import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import type { RecordKey } from '../model/point.js';
import { Facts } from './facts.js';
import { readsRecords } from './points.js';
import { inOrderOfHashes } from './thin.js';

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
 * first; all rows where no record must be read for the `fields` that are asked for. Part of the rows, such as those of a deeper tile, keeps every row of it that all of them
 * keep.
 */
export function withinBudget(
  dataset: Dataset,
  accepted: TailMatches | undefined,
  rows: Int32Array,
  fields: readonly RecordKey[] | undefined,
): Budgeted {
  if (!readsRecords(fields)) return { rows, fitting: rows.length, bytes: 0 };
  const facts = new Facts(dataset, accepted);
  let bytes = 0;
  for (const row of rows) bytes += facts.recordBytes(row);
  if (bytes <= MOST_RECORD_BYTES) return { rows, fitting: rows.length, bytes };
  const ordered = inOrderOfHashes(rows, facts);
  let fitting = 0;
  for (bytes = 0; ; fitting++) {
    const more = facts.recordBytes(ordered[fitting]!);
    if (bytes + more > MOST_RECORD_BYTES) break;
    bytes += more;
  }
  return { rows: ordered, fitting, bytes };
}
