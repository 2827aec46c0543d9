import type { Dataset } from '../dataset/dataset.js';
import { bitCount, type RowSet } from '../dataset/postings.js';
import type { Row } from '../dataset/row.js';
import { hasRow } from './common/attribute-rows.js';
import { type Bounds, bitOf, boundsOf, listMarkedRows, markCommonRows } from './common/marks.js';
import type { Matches } from './common/matches.js';
import { type Driver, MARKED, NEIGHBOUR, REGION_TEST, RUN_TEST, SCATTERED } from './common/plan.js';
import { costInRuns, type Runs, startOfRuns, visitRuns } from './common/runs.js';
import type { Scratch } from './common/scratch.js';
import { narrowest, type Window } from './common/windows.js';
import { andThen, inStretches, type Step } from './common/work.js';
import type { Region } from './region/overlap.js';
import { findRuns } from './search.js';
import { keepWithin, listMarkedWindow, listWindow } from './tested-rows.js';

/** Up to here the rows of a list are tested one by one, above a region's runs are looked for. */
const FEW_LISTED = 1_024;

/** Up to `MANY` rows in a region the matches are listed, above they are marked in a bitmap. */
const MANY = 16_384;

const NO_WINDOWS: readonly Window[] = [];

/** The matches where attributes are all that filters ask for. */
export function matchesOf({ rows, bits, count }: RowSet): Matches {
  return bits === undefined
    ? { form: 'rows', rows, ascending: true, windows: NO_WINDOWS, count }
    : { form: 'bits', bits, windows: NO_WINDOWS, count };
}

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
): Step<Matches> {
  const window = windows.length === 0 ? undefined : chooseWindow(windows, list, forced);
  const listed = (count: number, ascending: boolean): Matches => {
    const rows = scratch.rows.subarray(0, count);
    return { form: 'rows', rows, ascending, windows, count };
  };
  if (window !== undefined) {
    const other = windows.find((one) => one !== window);
    return andThen(listWindow(dataset, scratch, window, region, other), (found) =>
      andThen(
        keepRows(scratch, found, RUN_TEST, (row) => hasRow({ rows: list }, row)),
        (count) => listed(count, false),
      ),
    );
  }
  return andThen(listInRegion(dataset, scratch, list, region, forced), (inside) =>
    andThen(keepInWindows(scratch, inside, windows), (count) => listed(count, true)),
  );
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
): Step<number> {
  const { rows, runs, meter } = scratch;
  const searches = forced === undefined ? list.length > FEW_LISTED : forced === 'region';
  if (region !== undefined && searches) {
    return andThen(findRuns(dataset, region, runs, meter), () => listCommon(scratch, list));
  }
  rows.set(list);
  meter.left -= list.length;
  return region === undefined ? list.length : keepWithin(dataset, scratch, list.length, region);
}

/** Lists the rows that an ascending list and the runs have in common; returns how many there are. */
function listCommon({ runs, rows, meter }: Scratch, list: Int32Array): Step<number> {
  const { bounds, length } = runs;
  let at = 0;
  let count = 0;
  const listing = inStretches(meter, 0, length, RUN_TEST, (from, to) => {
    for (let run = from; run < to; run++) {
      at = firstFrom(list, at, bounds[2 * run]!);
      for (const end = bounds[2 * run + 1]!; at < list.length && list[at]! < end; at++) {
        rows[count++] = list[at]!;
      }
    }
  });
  return andThen(listing, () => {
    meter.left -= count * NEIGHBOUR;
    return count;
  });
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

/** Keeps those of the first `candidates` of the list that pass; returns how many do. */
function keepRows(
  { rows, meter }: Scratch,
  candidates: number,
  cost: number,
  test: (row: Row) => boolean,
): Step<number> {
  let count = 0;
  const keeping = inStretches(meter, 0, candidates, cost, (from, to) => {
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      if (test(row)) rows[count++] = row;
    }
  });
  return andThen(keeping, () => count);
}

function keepInWindows(
  scratch: Scratch,
  candidates: number,
  windows: readonly Window[],
): Step<number> {
  if (windows.length === 0) return candidates;
  const [one, other = one] = windows.map(boundsOf);
  const cost = windows.length * SCATTERED;
  return keepRows(scratch, candidates, cost, (row) => isWithin(one!, row) && isWithin(other!, row));
}

function isWithin({ ranks, from, last }: Bounds, row: Row): boolean {
  const rank = ranks[row]!;
  return rank >= from && rank <= last;
}

/** Keeps those matches whose bit is set, of which there are `frequent`. */
export function restrictMatches(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  frequent: RowSet & { readonly bits: Int32Array },
): Step<Matches> {
  const { bits } = frequent;
  const { meter, marks } = scratch;
  switch (matches.form) {
    case 'all':
      return matchesOf(frequent);
    case 'windows':
      return restrictWindows(dataset, scratch, matches.windows, frequent);
    case 'runs':
      if (matches.count === dataset.count) return matchesOf(frequent);
      return restrictRuns(scratch, matches.runs, bits);
    case 'rows': {
      const { ascending, windows } = matches;
      const keeping = keepRows(scratch, matches.count, MARKED, (row) => bitOf(bits, row) === 1);
      return andThen(keeping, (count) => {
        const rows = scratch.rows.subarray(0, count);
        return { form: 'rows', rows, ascending, windows, count };
      });
    }
    case 'bits': {
      const marked = marks.bits;
      let count = 0;
      const common = inStretches(meter, 0, bits.length, NEIGHBOUR, (from, to) => {
        for (let word = from; word < to; word++) {
          marked[word]! &= bits[word]!;
          count += bitCount(marked[word]!);
        }
      });
      return andThen(common, () => ({ ...matches, count }));
    }
  }
}

function restrictRuns(scratch: Scratch, runs: Runs, bits: Int32Array): Step<Matches> {
  const { rows, marks, meter } = scratch;
  const cursor = startOfRuns(runs);
  let count = 0;
  const isListed = runs.rows <= MANY;
  const visit = isListed
    ? (from: Row, to: Row): void => {
        count = listMarkedRows(bits, rows, count, from, to);
      }
    : (from: Row, to: Row): void => {
        count += markCommonRows(marks.bits, bits, from, to);
      };
  if (!isListed) marks.isUsed = true;
  const cost = costInRuns(runs, isListed ? NEIGHBOUR : NEIGHBOUR / 32);
  const restricting = inStretches(meter, 0, runs.rows, cost, (from, to) =>
    visitRuns(runs.bounds, cursor, to - from, visit),
  );
  return andThen(restricting, () =>
    matchesOf(isListed ? { rows: rows.subarray(0, count), count } : { bits: marks.bits, count }),
  );
}

/**
 * Keeps the rows of one or two windows: lists those of the narrower one, or tests all rows whose
 * bit is set in sequence.
 */
function restrictWindows(
  dataset: Dataset,
  scratch: Scratch,
  windows: readonly Window[],
  { bits, count: frequent }: RowSet & { readonly bits: Int32Array },
): Step<Matches> {
  const { marks, meter } = scratch;
  const window = narrowest(windows);
  const other = windows.find((one) => one !== window);
  if (window.count * (SCATTERED + MARKED) < frequent * TESTED) {
    return andThen(listMarkedWindow(scratch, bits, window, other), (count) => {
      const rows = scratch.rows.subarray(0, count);
      return { form: 'rows', rows, ascending: false, windows, count };
    });
  }
  const [one, two = one] = windows.map(boundsOf);
  let count = 0;
  marks.isUsed = true;
  const cost = (TESTED * frequent) / dataset.count;
  const marking = inStretches(meter, 0, bits.length, 32 * cost, (from, to) => {
    count += markTested(marks.bits, bits, one!, two!, from, to);
  });
  return andThen(marking, () => ({ form: 'bits', bits: marks.bits, windows, count }));
}

/** Nanoseconds to test a row in sequence whose bit is set. */
const TESTED = 3;

/**
 * Marks those rows of words `from` to `to - 1` whose bit is set and that lie in both windows;
 * returns their number.
 */
function markTested(
  marked: Int32Array,
  bits: Int32Array,
  { ranks: ones, from: oneFrom, last: oneLast }: Bounds,
  { ranks: others, from: otherFrom, last: otherLast }: Bounds,
  from: number,
  to: number,
): number {
  let count = 0;
  for (let word = from; word < to; word++) {
    let set = 0;
    for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) {
      const bit = 31 - Math.clz32(rest & -rest);
      const row = (word << 5) + bit;
      const a = ones[row]!;
      const b = others[row]!;
      const outside = (a - oneFrom) | (oneLast - a) | (b - otherFrom) | (otherLast - b);
      set |= (~outside >>> 31) << bit;
    }
    marked[word] = set;
    count += bitCount(set);
  }
  return count;
}
