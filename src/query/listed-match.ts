import { inStretches } from '../budget.js';
import type { Dataset } from '../dataset/dataset.js';
import type { Row } from '../dataset/row.js';
import { hasRow } from './common/attribute-rows.js';
import { type Bounds, boundsOf } from './common/marks.js';
import type { Matches } from './common/matches.js';
import { type Driver, NEIGHBOUR, REGION_TEST, RUN_TEST, SCATTERED } from './common/plan.js';
import type { Scratch } from './common/scratch.js';
import { narrowest, type Window } from './common/windows.js';
import type { Region } from './region/overlap.js';
import { findRuns } from './search.js';
import { keepRows, keepWithin, listWindow } from './tested-rows.js';

/** Up to here the rows of a list are tested one by one, above a region's runs are looked for. */
const FEW_LISTED = 1_024;

/**
 * Keeps those rows of a list that lie in the region and in the windows. Goes through the rows of a
 * window instead where these are far fewer.
 */
export function matchListed(
  dataset: Dataset,
  scratch: Scratch,
  list: Int32Array,
  region: Region | undefined,
  windows: readonly Window[],
  forced: Driver | undefined,
): Matches {
  const window = windows.length === 0 ? undefined : chooseWindow(windows, list, forced);
  const listed = (count: number, ascending: boolean): Matches => {
    const rows = scratch.rows.subarray(0, count);
    return { form: 'rows', rows, ascending, windows, count };
  };
  if (window !== undefined) {
    const other = windows.find((one) => one !== window);
    const found = listWindow(dataset, scratch, window, region, other);
    return listed(
      keepRows(scratch, found, RUN_TEST, (row) => hasRow({ rows: list }, row)),
      false,
    );
  }
  const inside = listInRegion(dataset, scratch, list, region, forced);
  return listed(keepInWindows(scratch, inside, windows), true);
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

/**
 * Lists the rows that an ascending list and the runs have in common; returns how many there are.
 */
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

function keepInWindows(scratch: Scratch, candidates: number, windows: readonly Window[]): number {
  if (windows.length === 0) return candidates;
  const [one, other = one] = windows.map(boundsOf);
  const cost = windows.length * SCATTERED;
  return keepRows(scratch, candidates, cost, (row) => isWithin(one!, row) && isWithin(other!, row));
}

function isWithin({ ranks, from, last }: Bounds, row: Row): boolean {
  const rank = ranks[row]!;
  return rank >= from && rank <= last;
}
