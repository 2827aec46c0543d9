import type { Dataset } from '../index/dataset.js';
import { bitCount, type RowSet } from '../index/postings.js';
import { type Budget, inStretches } from '../model/budget.js';
import { bitOf } from './common/marks.js';
import {
  keepInWindows,
  listRuns,
  listWindow,
  type Matches,
  markMatches,
  narrowest,
  type Window,
} from './common/matches.js';
import {
  type Driver,
  MARKED,
  MOST_LISTED,
  NEIGHBOUR,
  REGION_TEST,
  SCATTERED,
} from './common/plan.js';
import { findRuns } from './common/runs.js';
import type { Scratch } from './common/scratch.js';
import type { Region } from './region/overlap.js';

/** Up to `FEW_LISTED` rows are tested one by one; for a longer list the region is searched. */
const FEW_LISTED = 1_024;

export function matchesOf({ rows, bits, count }: RowSet): Matches {
  return bits === undefined
    ? { form: 'rows', rows, windows: [], count }
    : { form: 'bits', bits, windows: [], count };
}

/** Keeps the matches whose bits are set in `frequent`. */
export function restrictMatches(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  frequent: RowSet & { readonly bits: Int32Array },
): Matches {
  const { bits } = frequent;
  if (matches.form === 'all' || matches.count === dataset.count) return matchesOf(frequent);
  const { windows } = matches;
  const listed = (count: number): Matches => {
    const rows = scratch.rows.subarray(0, count);
    return { form: 'rows', rows, windows, count };
  };
  if (matches.form === 'rows') {
    return listed(keepMarked(scratch, matches.count, bits));
  }
  if (matches.form === 'runs' && matches.runs.rows <= MOST_LISTED) {
    return listed(keepMarked(scratch, listRuns(scratch, matches.runs).length, bits));
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

/** Keeps the rows of a list that lie in region and windows. */
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

/** Lists the rows that are both in an ascending list and in the runs; returns their number. */
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

// `keepMarked` and `keepWithin` keep, in order, the first `candidates` rows of `scratch.rows` that
// pass a test, and return their number.

function keepMarked({ rows, budget }: Scratch, candidates: number, bits: Int32Array): number {
  let count = 0;
  inStretches(budget, 0, candidates, MARKED, (from, to) => {
    let end = count;
    for (let i = from; i < to; i++) {
      // the row is kept or overwritten, without a branch to mispredict
      const row = rows[i]!;
      rows[end] = row;
      end += bitOf(bits, row);
    }
    count = end;
  });
  return count;
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

/** Rows that a region tests between two charges: each may cost microseconds. */
const MEASURED_ROWS = 256;

/** Makes a function that charges the region's work since its last call. */
export function chargeOf(budget: Budget, region: Region | undefined): () => void {
  if (region === undefined) return () => {};
  let before = region.work();
  return () => {
    const work = region.work();
    budget.charge(work - before);
    before = work;
  };
}
