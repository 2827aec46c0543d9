import { type Budget, inStretches } from '../budget.js';
import type { Dataset } from '../dataset/dataset.js';
import type { Row } from '../dataset/row.js';
import { bitOf, boundsOf } from './common/marks.js';
import { MARKED, REGION_TEST, SCATTERED } from './common/plan.js';
import type { Scratch } from './common/scratch.js';
import type { Window } from './common/windows.js';
import type { Region } from './region/overlap.js';

/**
 * Lists the rows of a window that lie in the other window and in the region, as far as these are
 * given; returns how many.
 */
export function listWindow(
  { coords }: Dataset,
  { rows: list, budget }: Scratch,
  window: Window,
  region: Region | undefined,
  other: Window = window,
): number {
  const { rows } = window.order;
  const { ranks, from: least, last } = boundsOf(other);
  const cost = SCATTERED + (region === undefined ? 0 : REGION_TEST);
  let count = 0;
  const test = (from: number, to: number): void => {
    let at = count;
    for (let rank = from; rank < to; rank++) {
      const row = rows[rank]!;
      const place = ranks[row]!;
      if (place < least || place > last) continue;
      if (region !== undefined && !region.contains(coords, row)) continue;
      list[at++] = row;
    }
    count = at;
    charge();
  };
  const charge = chargeOf(budget, region);
  inStretches(budget, window.range.from, window.range.to, cost, test, MEASURED_ROWS);
  return count;
}

/**
 * Lists the rows of a window that have a bit and lie in the other window, if one is given. Returns
 * how many there are.
 */
export function listMarkedWindow(
  { rows: list, budget }: Scratch,
  bits: Int32Array,
  window: Window,
  other: Window = window,
): number {
  const { rows } = window.order;
  const { ranks, from: least, last } = boundsOf(other);
  const hasOther = other !== window;
  let count = 0;
  const test = (from: number, to: number): void => {
    let at = count;
    for (let rank = from; rank < to; rank++) {
      const row = rows[rank]!;
      if (bitOf(bits, row) === 0) continue;
      if (hasOther && (ranks[row]! < least || ranks[row]! > last)) continue;
      list[at++] = row;
    }
    count = at;
  };
  const cost = SCATTERED + MARKED;
  inStretches(budget, window.range.from, window.range.to, cost, test);
  return count;
}

/** Keeps those of the first `candidates` of the list that lie in the region; returns how many. */
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

/** Keeps those of the first `candidates` of the list that pass; returns how many do. */
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

/**
 * Makes a function that charges the budget for the geodesics that the region took since its last
 * call.
 */
export function chargeOf(budget: Budget, region: Region | undefined): () => void {
  if (region === undefined) return () => {};
  let before = region.work();
  return () => {
    const work = region.work();
    budget.charge(work - before);
    before = work;
  };
}
