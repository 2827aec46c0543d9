import type { Dataset } from '../index/dataset.js';
import type { Order } from '../index/order.js';
import type { Filters } from '../model/query.js';
import { keepWithin, matchesOf, matchListed, restrictMatches } from './attribute-match.js';
import { findAttributeRows, haveAttributes } from './common/attribute-rows.js';
import { CellWalk, cellRows } from './common/cell-walk.js';
import {
  keepInWindows,
  listRuns,
  listWindow,
  type Matches,
  markWithin,
  type Window,
  windowOf,
} from './common/matches.js';
import {
  COUNTED_CELLS,
  chooseDriver,
  type Driver,
  MOST_LISTED,
  NEIGHBOUR,
  SCATTERED,
} from './common/plan.js';
import { costInRuns, findRuns } from './common/runs.js';
import type { Scratch } from './common/scratch.js';
import type { Region } from './region/overlap.js';
import { regionOf } from './region/region.js';

/** The rows of a narrower window are tested, without a search for the region's runs. */
const NARROW_WINDOW = 256;

/** Finds and counts the rows that satisfy the filters. `forced` overrides the planner. */
export function findMatches(
  dataset: Dataset,
  scratch: Scratch,
  filters: Filters,
  forced?: Driver,
): Matches {
  const region = regionOf(filters);
  const windows = windowsOf(dataset, filters);
  if (!haveAttributes(filters)) return matchPlaceAndTime(dataset, scratch, region, windows, forced);
  const { attributeRows, budget } = scratch;
  const having = findAttributeRows(dataset, attributeRows, filters, budget);
  if (having.bits !== undefined) {
    const matches = matchPlaceAndTime(dataset, scratch, region, windows, forced);
    return restrictMatches(dataset, scratch, matches, having);
  }
  if (having.count === 0 || (region === undefined && windows.length === 0)) {
    return matchesOf(having);
  }
  return matchListed(dataset, scratch, having.rows, region, windows, forced);
}

function windowsOf(
  { byCreatedAt, byModifiedAt }: Dataset,
  { createdAt, modifiedAt }: Filters,
): Window[] {
  const windows = [windowOf(byCreatedAt, createdAt), windowOf(byModifiedAt, modifiedAt)];
  return windows.filter((window) => window !== undefined);
}

function matchPlaceAndTime(
  dataset: Dataset,
  scratch: Scratch,
  region: Region | undefined,
  windows: readonly Window[],
  forced: Driver | undefined,
): Matches {
  // a single filter is counted by its index
  if (region === undefined) {
    if (windows.length === 0) return { form: 'all', windows, count: dataset.count };
    if (windows.length === 1) return { form: 'windows', windows, count: windows[0]!.count };
  } else if (windows.length === 0) {
    const runs = findRuns(dataset, region, scratch.runs, scratch.budget);
    return { form: 'runs', region, runs, windows, count: runs.rows };
  }

  // of several filters, the rows of one are tested against the others
  const narrow = windows.some((window) => window.count < NARROW_WINDOW);
  const needsRuns = region !== undefined && (forced === undefined ? !narrow : forced === 'region');
  const runs = needsRuns ? findRuns(dataset, region, scratch.runs, scratch.budget) : undefined;
  const windowOn = (order: Order): Window | undefined =>
    windows.find((window) => window.order === order);
  const [created, modified] = [windowOn(dataset.byCreatedAt), windowOn(dataset.byModifiedAt)];
  const driver =
    forced ??
    chooseDriver({
      region: runs?.rows,
      inRegion: region !== undefined,
      createdAt: created?.count,
      modifiedAt: modified?.count,
      cellRows: region === undefined ? cellRows(dataset) : undefined,
    });
  if (driver === 'region') return keepRuns(scratch, windows);
  if (driver === 'cells' && region === undefined) {
    scratch.budget.charge(COUNTED_CELLS * cellRows(dataset) * SCATTERED);
    const walk = new CellWalk(dataset, created!.order, created!, modified!);
    return { form: 'windows', windows, count: walk.count() };
  }
  // a test may force a filter that all rows satisfy
  const window = (driver === 'modifiedAt' ? modified : created) ?? windows[0]!;
  const other = windows.find((one) => one !== window);
  let count = keepInWindows(scratch, listWindow(scratch, window), other ? [other] : []);
  if (region !== undefined) count = keepWithin(dataset, scratch, count, region);
  return { form: 'rows', rows: scratch.rows.subarray(0, count), windows, count };
}

/** The rows of the region's runs that lie in the windows: a list, or bits of many. */
function keepRuns(scratch: Scratch, windows: readonly Window[]): Matches {
  const { runs, rows, marks, budget } = scratch;
  if (runs.rows <= MOST_LISTED) {
    const count = keepInWindows(scratch, listRuns(scratch, runs).length, windows);
    return { form: 'rows', rows: rows.subarray(0, count), windows, count };
  }
  const { bits } = marks;
  const [one, other = one] = windows;
  let count = 0;
  marks.isUsed = true;
  const cost = costInRuns(runs, NEIGHBOUR);
  budget.looks += runs.rows;
  budget.expect(runs.rows * cost);
  for (let run = 0; run < runs.length; run++) {
    const [from, to] = [runs.bounds[2 * run]!, runs.bounds[2 * run + 1]!];
    count += markWithin(bits, one!, other!, from, to);
    budget.charge((to - from) * cost);
  }
  return { form: 'bits', bits, windows, count };
}
