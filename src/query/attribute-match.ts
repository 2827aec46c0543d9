import type { Dataset } from '../index/dataset.js';
import type { Row } from '../index/order.js';
import { bitCount, type RowSet } from '../index/postings.js';
import { type Budget, inStretches } from '../model/budget.js';
import { bitOf, listMarked } from './common/marks.js';
import {
  type Bounds,
  type Matches,
  markMatches,
  narrowest,
  type Window,
  windowsOf,
} from './common/matches.js';
import {
  type Driver,
  MARKED,
  MOST_LISTED,
  NEIGHBOUR,
  REGION_TEST,
  SCATTERED,
} from './common/plan.js';
import { findRuns, type Runs, visitRuns } from './common/runs.js';
import type { Scratch } from './common/scratch.js';
import type { Region } from './region/overlap.js';

/** Up to here the rows of a list are tested one by one, above a region's runs are looked for. */
const FEW_LISTED = 1_024;

/** The matches where attributes are all that filters ask for. */
export function matchesOf({ rows, bits, count }: RowSet): Matches {
  return bits === undefined
    ? { form: 'rows', rows, windows: [], count }
    : { form: 'bits', bits, windows: [], count };
}

export function restrictMatches(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  frequent: RowSet & { readonly bits: Int32Array },
): Matches {
  const { bits } = frequent;
  if (matches.form === 'all' || matches.count === dataset.count) return matchesOf(frequent);
  const windows = windowsOf(matches);
  const listed = (count: number): Matches => {
    const rows = scratch.rows.subarray(0, count);
    return { form: 'rows', rows, windows, count };
  };
  if (matches.form === 'rows') {
    return listed(keepMarked(scratch, matches.count, bits));
  }
  if (matches.form === 'runs' && matches.runs.rows <= MOST_LISTED) {
    return listed(listMarkedRuns(scratch, matches.runs, bits));
  }
  const window = matches.form === 'windows' ? narrowest(windows) : undefined;
  if (window && window.count * (SCATTERED + MARKED) < dataset.count * NEIGHBOUR) {
    const others = windows.filter((one) => one !== window);
    const found = keepInWindows(scratch, listWindow(scratch, window), others);
    return listed(keepMarked(scratch, found, bits));
  }
  const marked = markMatches(dataset, scratch, matches);
  let count = 0;
  inStretches(scratch.budget, 0, bits.length, NEIGHBOUR, (from, to) => {
    for (let word = from; word < to; word++) {
      marked[word]! &= bits[word]!;
      count += bitCount(marked[word]!);
    }
  });
  return { form: 'bits', bits: marked, windows, count };
}

/** Lists the rows of runs whose bit is set; returns how many do. */
function listMarkedRuns({ rows, budget }: Scratch, runs: Runs, bits: Int32Array): number {
  let count = 0;
  visitRuns(runs, NEIGHBOUR, budget, (from, to) => {
    count = listMarked(bits, rows, count, from, to);
  });
  return count;
}

/** Keeps those of a list that lie in region and windows. */
export function matchListed(
  dataset: Dataset,
  scratch: Scratch,
  list: Int32Array,
  region: Region | undefined,
  windows: readonly Window[],
  forced: Driver | undefined,
): Matches {
  const { rows, runs, budget } = scratch;
  const searches = forced === undefined ? list.length > FEW_LISTED : forced === 'region';
  let found = list.length;
  if (region !== undefined && searches) {
    findRuns(dataset, region, runs, budget);
    found = listCommon(scratch, list);
  } else {
    rows.set(list);
    budget.charge(list.length);
    if (region !== undefined) found = keepWithin(dataset, scratch, found, region);
  }
  const count = keepInWindows(scratch, found, windows);
  return { form: 'rows', rows: rows.subarray(0, count), windows, count };
}

/** Lists the rows that an ascending list and the runs have in common; returns their number. */
function listCommon({ runs, rows, budget }: Scratch, list: Int32Array): number {
  const { bounds, length } = runs;
  let at = 0;
  let count = 0;
  inStretches(budget, 0, length, NEIGHBOUR, (from, to) => {
    for (let run = from; run < to; run++) {
      while (at < list.length && list[at]! < bounds[2 * run]!) at++;
      for (const end = bounds[2 * run + 1]!; at < list.length && list[at]! < end; at++) {
        rows[count++] = list[at]!;
      }
    }
  });
  budget.charge(list.length * NEIGHBOUR);
  return count;
}

// Candidates are the first rows of the scratch memory's list. Each function here keeps the ones that
// pass a test, in their order, and returns their number.

/** Lists the rows of a window, in the order of its times. */
export function listWindow({ rows, budget }: Scratch, { order, from, to, count }: Window): number {
  rows.set(order.rows.subarray(from, to));
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
  const [one, other = one] = windows;
  const cost = windows.length * SCATTERED;
  return keepRows(scratch, candidates, cost, (row) => isWithin(one!, row) && isWithin(other!, row));
}

function isWithin({ ranks, from, to }: Bounds, row: Row): boolean {
  const rank = ranks[row]!;
  return rank >= from && rank < to;
}

function keepMarked(scratch: Scratch, candidates: number, bits: Int32Array): number {
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
function keepRows(
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
