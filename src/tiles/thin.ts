import type { Dataset } from '../index/dataset.js';
import type { DeltaMatches } from '../index/delta.js';
import { hashId, THINNING_VALUES } from '../index/records.js';
import { inStretches } from '../model/budget.js';
import { listRows, type Matches } from '../query/common/matches.js';
import { SCATTERED } from '../query/common/plan.js';
import type { Scratch } from '../query/common/scratch.js';
import type { Facts } from './facts.js';

/** Standard deviations by which chance may leave too few rows below a bound. */
const SPREAD = 6;
// nanoseconds
const HASHED = 10; // the id of an accepted point, hashed
export const SORTED = 150; // a row that is brought into the order of hashes
const ORDERED = 50; // a row that is brought into the order of rows
/** More than the places of rows in a list: a hash of 32 bits and a place make one number. */
const PLACES = 2 ** 21;

/**
 * The `limit` rows with the least hashes of their ids, or all where there are no more; ascending.
 * Row `i` of the delta is row `dataset.count + i`. A part of the matches, such as those of a deeper
 * tile, keeps every row of it that all of them keep.
 */
export function thinOut(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  accepted: DeltaMatches | undefined,
  facts: Facts,
  limit: number,
): Int32Array {
  const { budget } = scratch;
  const { thinning } = dataset;
  const list = matches.form === 'all' ? undefined : listRows(scratch, matches);
  const count = matches.count + (accepted?.rows.length ?? 0);

  /** The matches whose hashes have an upper half of at most `bound`. */
  function rowsBelow(bound: number): number[] {
    const found: number[] = [];
    inStretches(budget, 0, matches.count, SCATTERED, (from, to) => {
      for (let i = from; i < to; i++) {
        const row = list === undefined ? i : list[i]!;
        if (thinning[row]! <= bound) found.push(row);
      }
    });
    if (accepted === undefined) return found;
    const { delta, rows } = accepted;
    inStretches(budget, 0, rows.length, HASHED, (from, to) => {
      for (let i = from; i < to; i++) {
        const row = rows[i]!;
        if (hashId(delta.id[row]!) >>> 16 <= bound) found.push(dataset.count + row);
      }
    });
    return found;
  }

  // as low as chance has it for `limit` rows, and higher where these are too few
  const likely = Math.ceil(((limit + SPREAD * Math.sqrt(limit)) / count) * THINNING_VALUES);
  let bound = Math.min(likely, THINNING_VALUES);
  let found = rowsBelow(bound);
  while (found.length < Math.min(limit, count)) {
    bound *= 4;
    found = rowsBelow(bound);
  }
  let rows = Int32Array.from(found);
  if (rows.length > limit) {
    budget.charge(rows.length * SORTED);
    rows = inOrderOfHashes(rows.subarray(0, PLACES), facts).slice(0, limit);
  }
  budget.charge(rows.length * ORDERED);
  return rows.sort();
}

/** Rows in the order of the hashes of their ids, and of the ids where hashes are equal. */
export function inOrderOfHashes(rows: Int32Array, facts: Facts): Int32Array {
  const { length } = rows;
  const ids = facts.ids(rows);
  // a hash of 32 bits and a place make one number: numbers are sorted without calls
  const keys = new Float64Array(length);
  for (let i = 0; i < length; i++) keys[i] = hashId(ids[i]!) * PLACES + i;
  keys.sort();
  const order = new Int32Array(length);
  for (let i = 0; i < length; i++) order[i] = keys[i]! % PLACES;
  const byId = (a: number, b: number): number => ids[a]! - ids[b]!;
  for (let from = 0; from < length; ) {
    const hash = Math.floor(keys[from]! / PLACES);
    let to = from + 1;
    while (to < length && keys[to]! < (hash + 1) * PLACES) to++;
    if (to - from > 1) order.subarray(from, to).sort(byId);
    from = to;
  }
  for (let i = 0; i < length; i++) order[i] = rows[order[i]!]!;
  return order;
}
