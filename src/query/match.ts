import type { Dataset } from '../dataset/dataset.js';
import type { Row } from '../dataset/row.js';
import { CellWalk, cellRows } from './cells.js';
import { chooseDriver, type Driver, NEIGHBOUR, REGION_TEST, SCATTERED } from './plan.js';
import type { Filters } from './query.js';
import type { Region } from './region/overlap.js';
import { regionOf } from './region/region.js';
import type { Runs } from './runs.js';
import type { Scratch } from './scratch.js';
import { findRuns } from './search.js';
import { narrowest, type Window, windowOf } from './windows.js';
import { andThen, inStretches, type Step } from './work.js';

/** The rows that satisfy all filters, counted, in the form in which they were cheapest to find. */
export type Matches = { readonly count: number } & (
  | { readonly form: 'all' }
  /** What lies in one window of time, or in both. */
  | { readonly form: 'windows'; readonly windows: readonly Window[] }
  /** What lies in a region; valid until the next search. */
  | { readonly form: 'runs'; readonly region: Region; readonly runs: Runs }
  /** Single rows at the front of the scratch memory's matches, and the windows that they lie in. */
  | { readonly form: 'rows'; readonly ascending: boolean; readonly windows: readonly Window[] }
);

/** Below this many rows in a time window, testing them beats looking for a region's runs. */
const NARROW_WINDOW = 256;

/** Finds and counts the rows that satisfy the filters. `forced` overrides the planner's choice. */
export function findMatches(
  dataset: Dataset,
  scratch: Scratch,
  filters: Filters,
  forced?: Driver,
): Step<Matches> {
  const region = regionOf(filters);
  const created = windowOf(dataset.byCreatedAt, filters.createdAt);
  const modified = windowOf(dataset.byModifiedAt, filters.modifiedAt);
  const windows = [created, modified].filter((window) => window !== undefined);

  // one filter is counted by its index alone
  if (region === undefined) {
    if (windows.length === 0) return { form: 'all', count: dataset.count };
    if (windows.length === 1) return { form: 'windows', windows, count: windows[0]!.count };
  } else if (windows.length === 0) {
    return andThen(findRuns(dataset, region, scratch.runs, scratch.meter), (runs) => ({
      form: 'runs',
      region,
      runs,
      count: runs.rows,
    }));
  }

  // several need the rows of one tested against the others
  const narrow = windows.some((window) => window.count < NARROW_WINDOW);
  const needsRuns = region !== undefined && (forced === undefined ? !narrow : forced === 'region');
  const finding = needsRuns ? findRuns(dataset, region, scratch.runs, scratch.meter) : undefined;
  return andThen(finding, (runs) => {
    const driver =
      forced ??
      chooseDriver({
        total: dataset.count,
        region: runs?.rows,
        inRegion: region !== undefined,
        createdAt: created?.count,
        modifiedAt: modified?.count,
        cellRows: region === undefined ? cellRows(dataset) : undefined,
      });
    if (driver === 'cells' && region === undefined) {
      return { form: 'windows', windows, count: countBoth(dataset, created!, modified!) };
    }
    const ascending = driver === 'all' || driver === 'region';
    const testing = testRows(dataset, scratch, driver, region, created, modified);
    return andThen(testing, (count) => ({ form: 'rows', ascending, windows, count }));
  });
}

function countBoth(dataset: Dataset, created: Window, modified: Window): number {
  return new CellWalk(dataset, created.order, created.range, modified).count();
}

/** Goes through the driver's rows and keeps those that satisfy the rest; returns how many. */
function testRows(
  dataset: Dataset,
  scratch: Scratch,
  driver: Driver,
  region: Region | undefined,
  created: Window | undefined,
  modified: Window | undefined,
): Step<number> {
  if (driver === 'createdAt' && created !== undefined) {
    return testWindow(dataset, scratch, created, region, modified);
  }
  if (driver === 'modifiedAt' && modified !== undefined) {
    return testWindow(dataset, scratch, modified, region, created);
  }
  if (driver === 'region') return testRuns(dataset, scratch, created, modified);
  scratch.runs.clear();
  scratch.runs.add(0, dataset.count);
  return andThen(testRuns(dataset, scratch, created, modified), (count) =>
    region === undefined ? count : testRegion(dataset, scratch, count, region),
  );
}

/** Rows of the runs whose ranks lie in the windows. */
function testRuns(
  dataset: Dataset,
  { runs, matches, meter }: Scratch,
  created: Window | undefined,
  modified: Window | undefined,
): Step<number> {
  const windows: Windows = {
    createdRanks: dataset.byCreatedAt.ranks,
    modifiedRanks: dataset.byModifiedAt.ranks,
    created: bounds(created, dataset.count),
    modified: bounds(modified, dataset.count),
  };
  const state = { run: 0, row: runs.bounds[0]!, count: 0 };
  const test = (from: number, to: number): void => {
    testSomeRuns(windows, runs.bounds, matches, state, to - from);
  };
  return andThen(inStretches(meter, 0, runs.rows, NEIGHBOUR, test), () => state.count);
}

interface Windows {
  readonly createdRanks: Int32Array;
  readonly modifiedRanks: Int32Array;
  readonly created: readonly [from: number, last: number];
  readonly modified: readonly [from: number, last: number];
}

/**
 * Tests the next `most` rows of the runs. The sign bit of `(rank - from) | (to - 1 - rank)` says "outside",
 * so a row is kept or overwritten without a branch to mispredict.
 */
function testSomeRuns(
  { createdRanks, modifiedRanks, created, modified }: Windows,
  bounds: Int32Array,
  matches: Int32Array,
  state: { run: number; row: Row; count: number },
  most: number,
): void {
  const [createdFrom, createdLast] = created;
  const [modifiedFrom, modifiedLast] = modified;
  let { run, row, count } = state;
  for (let left = most; left > 0; ) {
    const runEnd = bounds[2 * run + 1]!;
    const end = Math.min(runEnd, row + left);
    left -= end - row;
    for (; row < end; row++) {
      const c = createdRanks[row]!;
      const m = modifiedRanks[row]!;
      matches[count] = row;
      count +=
        ~((c - createdFrom) | (createdLast - c) | (m - modifiedFrom) | (modifiedLast - m)) >>> 31;
    }
    if (row === runEnd) row = bounds[2 * ++run]!;
  }
  state.run = run;
  state.row = row;
  state.count = count;
}

function testWindow(
  { coords, count: total }: Dataset,
  { matches, meter }: Scratch,
  window: Window,
  region: Region | undefined,
  other: Window | undefined,
): Step<number> {
  const { rows } = window.order;
  const otherRanks = other?.order.ranks;
  const [otherFrom, otherLast] = bounds(other, total);
  const cost = SCATTERED + (region === undefined ? 0 : REGION_TEST);
  let count = 0;
  const test = (from: number, to: number): void => {
    let at = count;
    for (let rank = from; rank < to; rank++) {
      const row = rows[rank]!;
      if (otherRanks !== undefined) {
        const r = otherRanks[row]!;
        if (r < otherFrom || r > otherLast) continue;
      }
      if (region !== undefined && !region.contains(coords, row)) continue;
      matches[at++] = row;
    }
    count = at;
  };
  return andThen(inStretches(meter, window.range.from, window.range.to, cost, test), () => count);
}

function testRegion(
  { coords }: Dataset,
  { matches, meter }: Scratch,
  candidates: number,
  region: Region,
): Step<number> {
  let count = 0;
  const test = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const row = matches[i]!;
      if (region.contains(coords, row)) matches[count++] = row;
    }
  };
  return andThen(inStretches(meter, 0, candidates, REGION_TEST, test), () => count);
}

/** First and last rank of a window; of all rows when there is none. */
function bounds(window: Window | undefined, total: number): [from: number, last: number] {
  return window === undefined ? [0, total - 1] : [window.range.from, window.range.to - 1];
}

/** The matches as single rows, at the front of the scratch memory's matches; of what has a filter. */
export function listRows(dataset: Dataset, scratch: Scratch, matches: Matches): Step<Int32Array> {
  const { matches: list, meter } = scratch;
  const { count } = matches;
  if (matches.form === 'runs') {
    const { runs } = matches;
    const state = { run: 0, count: 0 };
    const listing = inStretches(meter, 0, count, NEIGHBOUR, (_from, to) =>
      listSomeRuns(runs, list, state, to),
    );
    return andThen(listing, () => list.subarray(0, count));
  }
  if (matches.form === 'windows') {
    const { windows } = matches;
    const driver = narrowest(windows);
    const other = windows.find((window) => window !== driver);
    if (other === undefined)
      list.set(driver.order.rows.subarray(driver.range.from, driver.range.to));
    else {
      const testing = testWindow(dataset, scratch, driver, undefined, other);
      return andThen(testing, () => list.subarray(0, count));
    }
  }
  return list.subarray(0, count);
}

/** Lists the rows of the next runs until there are `wanted`, or a few more. */
function listSomeRuns(
  { bounds, length }: Runs,
  list: Int32Array,
  state: { run: number; count: number },
  wanted: number,
): void {
  let { run, count } = state;
  for (; count < wanted && run < length; run++) {
    const to = bounds[2 * run + 1]!;
    for (let row = bounds[2 * run]!; row < to; row++) list[count++] = row;
  }
  state.run = run;
  state.count = count;
}
