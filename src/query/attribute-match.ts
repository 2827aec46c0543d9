import type { Dataset } from '../index/dataset.js';
import type { Row } from '../index/order.js';
import { bitCount, type RowSet } from '../index/postings.js';
import { inStretches } from '../model/budget.js';
import { hasRow } from './common/attribute-rows.js';
import { listMarkedRows, markCommonRows } from './common/marks.js';
import { type Matches, markMatches } from './common/matches.js';
import {
  type Driver,
  MARKED,
  MOST_LISTED,
  NEIGHBOUR,
  REGION_TEST,
  RUN_TEST,
  SCATTERED,
} from './common/plan.js';
import { costInRuns, type Runs, startOfRuns, visitRuns } from './common/runs.js';
import type { Scratch } from './common/scratch.js';
import { findRuns } from './common/search.js';
import { narrowest, type Window } from './common/windows.js';
import { keepInWindows, keepMarked, keepRows, keepWithin, listWindow } from './kept-rows.js';
import type { Region } from './region/overlap.js';

const NO_WINDOWS: readonly Window[] = [];
/** Up to here the rows of a list are tested one by one, above a region's runs are looked for. */
const FEW_LISTED = 1_024;

/** The matches where attributes are all that filters ask for. */
export function matchesOf({ rows, bits, count }: RowSet): Matches {
  return bits === undefined
    ? { form: 'rows', rows, ascending: true, windows: NO_WINDOWS, count }
    : { form: 'bits', bits, windows: NO_WINDOWS, count };
}

export function restrictMatches(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  frequent: RowSet & { readonly bits: Int32Array },
): Matches {
  const { bits } = frequent;
  if (matches.form === 'all' || matches.count === dataset.count) return matchesOf(frequent);
  const windows = 'windows' in matches ? matches.windows : NO_WINDOWS;
  const listed = (count: number, ascending: boolean): Matches => {
    const rows = scratch.rows.subarray(0, count);
    return { form: 'rows', rows, ascending, windows, count };
  };
  if (matches.form === 'rows') {
    return listed(keepMarked(scratch, matches.count, bits), matches.ascending);
  }
  if (matches.form === 'runs') return restrictRuns(scratch, matches.runs, bits);
  const window = matches.form === 'windows' ? narrowest(windows) : undefined;
  if (window && window.count * (SCATTERED + MARKED) < dataset.count * NEIGHBOUR) {
    const others = windows.filter((one) => one !== window);
    const found = keepInWindows(scratch, listWindow(scratch, window), others);
    return listed(keepMarked(scratch, found, bits), false);
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

/** Lists the rows of runs whose bit is set, or marks them where they are many. */
function restrictRuns({ rows, marks, budget }: Scratch, runs: Runs, bits: Int32Array): Matches {
  const cursor = startOfRuns(runs);
  const isListed = runs.rows <= MOST_LISTED;
  let count = 0;
  const visit = isListed
    ? (from: Row, to: Row): void => {
        count = listMarkedRows(bits, rows, count, from, to);
      }
    : (from: Row, to: Row): void => {
        count += markCommonRows(marks.bits, bits, from, to);
      };
  marks.isUsed ||= !isListed;
  const cost = costInRuns(runs, isListed ? NEIGHBOUR : NEIGHBOUR / 32);
  inStretches(budget, 0, runs.rows, cost, (from, to) =>
    visitRuns(runs.bounds, cursor, to - from, visit),
  );
  return matchesOf(
    isListed ? { rows: rows.subarray(0, count), count } : { bits: marks.bits, count },
  );
}

/** Keeps those of a list that lie in region and windows, or goes through far fewer of a window. */
export function matchListed(
  dataset: Dataset,
  scratch: Scratch,
  list: Int32Array,
  region: Region | undefined,
  windows: readonly Window[],
  forced: Driver | undefined,
): Matches {
  const window = windows.length === 0 ? undefined : chooseWindow(windows, list, forced);
  const others = windows.filter((one) => one !== window);
  const found =
    window === undefined
      ? listInRegion(dataset, scratch, list, region, forced)
      : listWindow(scratch, window);
  let count = keepInWindows(scratch, found, others);
  if (window !== undefined) {
    if (region !== undefined) count = keepWithin(dataset, scratch, count, region);
    count = keepRows(scratch, count, RUN_TEST, (row) => hasRow({ rows: list }, row));
  }
  const rows = scratch.rows.subarray(0, count);
  return { form: 'rows', rows, ascending: window === undefined, windows, count };
}

/** The window whose rows are to be gone through, if any. */
function chooseWindow(
  windows: readonly Window[],
  list: Int32Array,
  forced: Driver | undefined,
): Window | undefined {
  const window = narrowest(windows);
  if (forced === 'createdAt' || forced === 'modifiedAt') return window;
  const isFewer = window.count * (SCATTERED + RUN_TEST) < list.length * REGION_TEST;
  return forced === undefined && isFewer ? window : undefined;
}

/** Lists those rows of a list that lie in a region; returns how many do. */
function listInRegion(
  dataset: Dataset,
  scratch: Scratch,
  list: Int32Array,
  region: Region | undefined,
  forced: Driver | undefined,
): number {
  const { rows, runs, budget } = scratch;
  const searches = forced === undefined ? list.length > FEW_LISTED : forced === 'region';
  if (region !== undefined && searches) {
    findRuns(dataset, region, runs, budget);
    return listCommon(scratch, list);
  }
  rows.set(list);
  budget.charge(list.length);
  return region === undefined ? list.length : keepWithin(dataset, scratch, list.length, region);
}

/** Lists the rows that an ascending list and the runs have in common; returns their number. */
function listCommon({ runs, rows, budget }: Scratch, list: Int32Array): number {
  const { bounds, length } = runs;
  let at = 0;
  let count = 0;
  inStretches(budget, 0, length, RUN_TEST, (from, to) => {
    for (let run = from; run < to; run++) {
      at = firstFrom(list, at, bounds[2 * run]!);
      for (const end = bounds[2 * run + 1]!; at < list.length && list[at]! < end; at++) {
        rows[count++] = list[at]!;
      }
    }
  });
  budget.charge(count * NEIGHBOUR);
  return count;
}

/** The first place from `start` on of an ascending list whose row is not below `row`. */
function firstFrom(list: Int32Array, start: number, row: Row): number {
  // runs are neighbours mostly: steps that double end near the next one's place
  let step = 1;
  let from = start;
  while (from + step < list.length && list[from + step]! < row) {
    from += step;
    step *= 2;
  }
  let to = Math.min(from + step, list.length);
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (list[middle]! < row) from = middle + 1;
    else to = middle;
  }
  return from;
}
