import type { Dataset } from '../dataset/dataset.js';
import { type Order, type RankRange, rankRange } from '../dataset/order.js';
import { chooseDriver, type Driver } from './plan.js';
import type { Filters, TimeWindow } from './query.js';
import type { Region } from './region/overlap.js';
import { regionOf } from './region/region.js';
import { findRuns, type Runs } from './runs.js';
import type { Scratch } from './scratch.js';

/** The rows that satisfy all filters, counted, in the form in which they were cheapest to find. */
export type Matches = { readonly count: number } & (
  | { readonly form: 'all' }
  /** A stretch of a time order. */
  | { readonly form: 'window'; readonly order: Order; readonly range: RankRange }
  /** What lies in a region; valid until the next search. */
  | { readonly form: 'runs'; readonly region: Region; readonly runs: Runs }
  /** Single rows at the front of the scratch memory's matches. */
  | { readonly form: 'rows'; readonly ascending: boolean }
);

/** Below this many rows in a time window, testing them beats looking for a region's runs. */
const NARROW_WINDOW = 256;

/** Finds and counts the rows that satisfy the filters. `forced` overrides the planner's choice. */
export function findMatches(
  dataset: Dataset,
  scratch: Scratch,
  filters: Filters,
  forced?: Driver,
): Matches {
  const region = regionOf(filters);
  const created = windowOf(dataset.byCreatedAt, filters.createdAt);
  const modified = windowOf(dataset.byModifiedAt, filters.modifiedAt);
  const windows = [created, modified].filter((window) => window !== undefined);

  // one filter is counted by its index alone
  if (region === undefined) {
    if (windows.length === 0) return { form: 'all', count: dataset.count };
    if (windows.length === 1) return { form: 'window', ...windows[0]! };
  } else if (windows.length === 0) {
    findRuns(dataset, region, scratch.runs);
    return { form: 'runs', region, runs: scratch.runs, count: scratch.runs.rows };
  }

  // several need the rows of one tested against the others
  const narrow = windows.some((window) => window.count < NARROW_WINDOW);
  const needsRuns = region !== undefined && (forced === undefined ? !narrow : forced === 'region');
  if (needsRuns) findRuns(dataset, region, scratch.runs);
  const driver =
    forced ??
    chooseDriver({
      total: dataset.count,
      region: needsRuns ? scratch.runs.rows : undefined,
      inRegion: region !== undefined,
      createdAt: created?.count,
      modifiedAt: modified?.count,
    });
  const count = testRows(dataset, scratch, driver, region, created, modified);
  return { form: 'rows', ascending: driver === 'all' || driver === 'region', count };
}

interface Window {
  readonly order: Order;
  readonly range: RankRange;
  readonly count: number;
}

/** Undefined where all rows lie in the window, too. */
function windowOf(order: Order, window: TimeWindow | undefined): Window | undefined {
  if (window === undefined) return undefined;
  const range = rankRange(order, window.after, window.before);
  const count = range.to - range.from;
  return count === order.rows.length ? undefined : { order, range, count };
}

/** Goes through the driver's rows and keeps those that satisfy the rest; returns how many. */
function testRows(
  dataset: Dataset,
  scratch: Scratch,
  driver: Driver,
  region: Region | undefined,
  created: Window | undefined,
  modified: Window | undefined,
): number {
  if (driver === 'createdAt' && created !== undefined) {
    return testWindow(dataset, scratch.matches, created, region, modified);
  }
  if (driver === 'modifiedAt' && modified !== undefined) {
    return testWindow(dataset, scratch.matches, modified, region, created);
  }
  if (driver === 'region') return testRuns(dataset, scratch, created, modified);
  scratch.runs.clear();
  scratch.runs.add(0, dataset.count);
  const count = testRuns(dataset, scratch, created, modified);
  return region === undefined ? count : testRegion(dataset, scratch.matches, count, region);
}

/**
 * Rows of the runs whose ranks lie in the windows. The sign bit of `(rank - from) | (to - 1 - rank)` says
 * "outside", so a row is kept or overwritten without a branch to mispredict.
 */
function testRuns(
  dataset: Dataset,
  { runs, matches }: Scratch,
  created: Window | undefined,
  modified: Window | undefined,
): number {
  const createdRanks = dataset.byCreatedAt.ranks;
  const modifiedRanks = dataset.byModifiedAt.ranks;
  const [createdFrom, createdLast] = bounds(created, dataset.count);
  const [modifiedFrom, modifiedLast] = bounds(modified, dataset.count);
  let count = 0;
  for (let run = 0; run < runs.length; run++) {
    const to = runs.bounds[2 * run + 1]!;
    for (let row = runs.bounds[2 * run]!; row < to; row++) {
      const c = createdRanks[row]!;
      const m = modifiedRanks[row]!;
      matches[count] = row;
      count +=
        ~((c - createdFrom) | (createdLast - c) | (m - modifiedFrom) | (modifiedLast - m)) >>> 31;
    }
  }
  return count;
}

function testWindow(
  { coords, count: total }: Dataset,
  matches: Int32Array,
  window: Window,
  region: Region | undefined,
  other: Window | undefined,
): number {
  const { rows } = window.order;
  const otherRanks = other?.order.ranks;
  const [otherFrom, otherLast] = bounds(other, total);
  let count = 0;
  for (let rank = window.range.from; rank < window.range.to; rank++) {
    const row = rows[rank]!;
    if (otherRanks !== undefined) {
      const r = otherRanks[row]!;
      if (r < otherFrom || r > otherLast) continue;
    }
    if (region !== undefined && !region.contains(coords, row)) continue;
    matches[count++] = row;
  }
  return count;
}

function testRegion(
  { coords }: Dataset,
  matches: Int32Array,
  candidates: number,
  region: Region,
): number {
  let count = 0;
  for (let i = 0; i < candidates; i++) {
    const row = matches[i]!;
    if (region.contains(coords, row)) matches[count++] = row;
  }
  return count;
}

/** First and last rank of a window; of all rows when there is none. */
function bounds(window: Window | undefined, total: number): [from: number, last: number] {
  return window === undefined ? [0, total - 1] : [window.range.from, window.range.to - 1];
}

/** The matches as single rows, at the front of the scratch memory's matches; of what has a filter. */
export function listRows({ matches: list }: Scratch, matches: Matches): Int32Array {
  if (matches.form === 'runs') {
    const { bounds, length } = matches.runs;
    let count = 0;
    for (let run = 0; run < length; run++) {
      const to = bounds[2 * run + 1]!;
      for (let row = bounds[2 * run]!; row < to; row++) list[count++] = row;
    }
  } else if (matches.form === 'window') {
    const { from, to } = matches.range;
    list.set(matches.order.rows.subarray(from, to));
  }
  return list.subarray(0, matches.count);
}
