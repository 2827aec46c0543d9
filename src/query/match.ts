import type { Dataset } from '../index/dataset.js';
import type { Order, Row } from '../index/order.js';
import type { Filters } from '../model/query.js';
import {
  keepInWindows,
  keepWithin,
  listWindow,
  matchesOf,
  matchListed,
  restrictMatches,
} from './attribute-match.js';
import { findAttributeRows, haveAttributes } from './common/attribute-rows.js';
import { CellWalk, cellRows } from './common/cell-walk.js';
import { type Bounds, type Matches, markWithin, type Window, windowOf } from './common/matches.js';
import {
  COUNTED_CELLS,
  chooseDriver,
  type Driver,
  MOST_LISTED,
  NEIGHBOUR,
  SCATTERED,
} from './common/plan.js';
import { findRuns, visitRuns } from './common/runs.js';
import type { Scratch } from './common/scratch.js';
import type { Region } from './region/overlap.js';
import { regionOf } from './region/region.js';

/** Below this many rows in a window, testing them beats looking for a region's runs. */
const NARROW_WINDOW = 256;

/** Finds and counts the rows that satisfy the filters. `forced` overrides the planner's choice. */
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
  // one filter is counted by its index alone
  if (region === undefined) {
    if (windows.length === 0) return { form: 'all', count: dataset.count };
    if (windows.length === 1) return { form: 'windows', windows, count: windows[0]!.count };
  } else if (windows.length === 0) {
    const runs = findRuns(dataset, region, scratch.runs, scratch.budget);
    return { form: 'runs', region, runs, count: runs.rows };
  }

  // with several filters the rows of one are tested against the others
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

/** The rows of the region's runs that lie in the windows: listed, or marked where they are many. */
function keepRuns({ runs, rows, marks, budget }: Scratch, windows: readonly Window[]): Matches {
  const { bits } = marks;
  const [one, other = one] = windows;
  const isListed = runs.rows <= MOST_LISTED;
  let count = 0;
  const keep = isListed
    ? (from: Row, to: Row): void => {
        count = listBetween(one!, other!, from, to, rows, count);
      }
    : (from: Row, to: Row): void => {
        count += markWithin(bits, one!, other!, from, to);
      };
  marks.isUsed ||= !isListed;
  visitRuns(runs, NEIGHBOUR, budget, keep);
  if (!isListed) return { form: 'bits', bits, windows, count };
  return { form: 'rows', rows: rows.subarray(0, count), windows, count };
}

/**
 * Lists those of rows `from` to `to - 1` that lie in both windows; returns where they end. The sign
 * bit says "outside", so a row is kept or overwritten without a branch to mispredict.
 */
function listBetween(
  { ranks: ones, from: oneFrom, to: oneTo }: Bounds,
  { ranks: others, from: otherFrom, to: otherTo }: Bounds,
  from: Row,
  to: Row,
  list: Int32Array,
  at: number,
): number {
  const oneLast = oneTo - 1;
  const otherLast = otherTo - 1;
  let end = at;
  for (let row = from; row < to; row++) {
    const a = ones[row]!;
    const b = others[row]!;
    list[end] = row;
    end += ~((a - oneFrom) | (oneLast - a) | (b - otherFrom) | (otherLast - b)) >>> 31;
  }
  return end;
}
