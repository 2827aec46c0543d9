import type { Dataset } from '../index/dataset.js';
import type { Row } from '../index/order.js';
import { type Budget, inStretches } from '../model/budget.js';
import { bitOf } from './common/marks.js';
import { MARKED, NEIGHBOUR, REGION_TEST, SCATTERED } from './common/plan.js';
import type { Scratch } from './common/scratch.js';
import { type Bounds, boundsOf, type Window } from './common/windows.js';
import type { Region } from './region/overlap.js';

// Candidates are the first so many rows of the scratch memory's list. Each function here keeps those
// that pass a test, in their order, and returns how many do.

/** Lists the rows of a window, in the order of its times. */
export function listWindow({ rows, budget }: Scratch, { order, range, count }: Window): number {
  rows.set(order.rows.subarray(range.from, range.to));
  budget.looks += count;
  budget.charge(count * NEIGHBOUR);
  return count;
}

/** Keeps what lies in all of some windows, of which there are two at most. */
export function keepInWindows(
  scratch: Scratch,
  candidates: number,
  windows: readonly Window[],
): number {
  if (windows.length === 0) return candidates;
  const [one, other = one] = windows.map(boundsOf);
  const cost = windows.length * SCATTERED;
  return keepRows(scratch, candidates, cost, (row) => isWithin(one!, row) && isWithin(other!, row));
}

function isWithin({ ranks, from, last }: Bounds, row: Row): boolean {
  const rank = ranks[row]!;
  return rank >= from && rank <= last;
}

export function keepMarked(scratch: Scratch, candidates: number, bits: Int32Array): number {
  return keepRows(scratch, candidates, MARKED, (row) => bitOf(bits, row) === 1);
}

export function keepWithin(
  { coords }: Dataset,
  { rows: list, budget }: Scratch,
  candidates: number,
  region: Region,
): number {
  let count = 0;
  const test = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const row = list[i]!;
      if (region.contains(coords, row)) list[count++] = row;
    }
    charge();
  };
  const charge = chargeOf(budget, region);
  inStretches(budget, 0, candidates, REGION_TEST, test, MEASURED_ROWS);
  return count;
}

/** Keeps what passes a test, which takes `cost` nanoseconds. */
export function keepRows(
  { rows, budget }: Scratch,
  candidates: number,
  cost: number,
  test: (row: Row) => boolean,
): number {
  let count = 0;
  inStretches(budget, 0, candidates, cost, (from, to) => {
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      if (test(row)) rows[count++] = row;
    }
  });
  return count;
}

/** Rows that are tested by a region between two charges: each may cost microseconds. */
const MEASURED_ROWS = 256;

/** Charges the budget for the geodesics that the region took since the last call. */
export function chargeOf(budget: Budget, region: Region | undefined): () => void {
  if (region === undefined) return () => {};
  let before = region.work();
  return () => {
    const work = region.work();
    budget.charge(work - before);
    before = work;
  };
}
