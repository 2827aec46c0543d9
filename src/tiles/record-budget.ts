import { type Budget, inStretches } from '../budget.js';
import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import { hashId, THINNING_VALUES } from '../dataset/thinning.js';
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

// nanoseconds
const HASHED = 40; // an id, looked up and hashed, and the length of a record
const PLACED = 20; // a row brought to its side of a hash

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
  accepted: TailMatches | undefined,
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
  const halves = new Uint16Array(rows.length);
  /** Bytes of the records by the upper halves of hashes: most rows need not be sorted. */
  const bytesOf = new Float64Array(THINNING_VALUES);
  inStretches(budget, 0, rows.length, HASHED, (from, to) => {
    const ids = facts.ids(rows.subarray(from, to));
    for (let i = from; i < to; i++) {
      halves[i] = hashId(ids[i - from]!) >>> 16;
      bytesOf[halves[i]!]! += facts.recordBytes(rows[i]!);
    }
  });
  let last = 0;
  let bytes = 0;
  while (bytes + bytesOf[last]! <= MOST_RECORD_BYTES) bytes += bytesOf[last++]!;
  const sure = rows.filter((_, i) => halves[i]! < last);
  const doubtful = inOrderOfHashes(
    rows.filter((_, i) => halves[i] === last),
    facts,
  );
  let fitting = sure.length;
  for (const row of doubtful) {
    const more = facts.recordBytes(row);
    if (bytes + more > MOST_RECORD_BYTES) break;
    bytes += more;
    fitting++;
  }
  const others = rows.filter((_, i) => halves[i]! > last);
  budget.charge(rows.length * PLACED + doubtful.length * SORTED);
  const ordered = new Int32Array(rows.length);
  ordered.set(sure);
  ordered.set(doubtful, sure.length);
  ordered.set(others, sure.length + doubtful.length);
  return { rows: ordered, fitting, bytes };
}
