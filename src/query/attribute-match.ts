import { inStretches } from '../budget.js';
import type { Dataset } from '../dataset/dataset.js';
import { bitCount, type RowSet } from '../dataset/postings.js';
import type { Row } from '../dataset/row.js';
import { type Bounds, bitOf, boundsOf, listMarkedRows, markCommonRows } from './common/marks.js';
import type { Matches } from './common/matches.js';
import { MARKED, MOST_LISTED, NEIGHBOUR, SCATTERED } from './common/plan.js';
import { costInRuns, type Runs, startOfRuns, visitRuns } from './common/runs.js';
import type { Scratch } from './common/scratch.js';
import { narrowest, type Window } from './common/windows.js';
import { keepRows, listMarkedWindow } from './tested-rows.js';

const NO_WINDOWS: readonly Window[] = [];

/** The matches where attributes are all that filters ask for. */
export function matchesOf({ rows, bits, count }: RowSet): Matches {
  return bits === undefined
    ? { form: 'rows', rows, ascending: true, windows: NO_WINDOWS, count }
    : { form: 'bits', bits, windows: NO_WINDOWS, count };
}

/** Keeps those matches whose bit is set, of which there are `frequent`. */
export function restrictMatches(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  frequent: RowSet & { readonly bits: Int32Array },
): Matches {
  const { bits } = frequent;
  const { budget, marks } = scratch;
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
      const count = keepRows(scratch, matches.count, MARKED, (row) => bitOf(bits, row) === 1);
      const rows = scratch.rows.subarray(0, count);
      return { form: 'rows', rows, ascending, windows, count };
    }
    case 'bits': {
      const marked = marks.bits;
      let count = 0;
      inStretches(budget, 0, bits.length, NEIGHBOUR, (from, to) => {
        for (let word = from; word < to; word++) {
          marked[word]! &= bits[word]!;
          count += bitCount(marked[word]!);
        }
      });
      return { ...matches, count };
    }
  }
}

function restrictRuns(scratch: Scratch, runs: Runs, bits: Int32Array): Matches {
  const { rows, marks, budget } = scratch;
  const cursor = startOfRuns(runs);
  let count = 0;
  const isListed = runs.rows <= MOST_LISTED;
  const visit = isListed
    ? (from: Row, to: Row): void => {
        count = listMarkedRows(bits, rows, count, from, to);
      }
    : (from: Row, to: Row): void => {
        count += markCommonRows(marks.bits, bits, from, to);
      };
  if (!isListed) marks.isUsed = true;
  const cost = costInRuns(runs, isListed ? NEIGHBOUR : NEIGHBOUR / 32);
  inStretches(budget, 0, runs.rows, cost, (from, to) =>
    visitRuns(runs.bounds, cursor, to - from, visit),
  );
  return matchesOf(
    isListed ? { rows: rows.subarray(0, count), count } : { bits: marks.bits, count },
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
): Matches {
  const { marks, budget } = scratch;
  const window = narrowest(windows);
  const other = windows.find((one) => one !== window);
  if (window.count * (SCATTERED + MARKED) < frequent * TESTED) {
    const count = listMarkedWindow(scratch, bits, window, other);
    const rows = scratch.rows.subarray(0, count);
    return { form: 'rows', rows, ascending: false, windows, count };
  }
  const [one, two = one] = windows.map(boundsOf);
  let count = 0;
  marks.isUsed = true;
  const cost = (TESTED * frequent) / dataset.count;
  inStretches(budget, 0, bits.length, 32 * cost, (from, to) => {
    count += markTested(marks.bits, bits, one!, two!, from, to);
  });
  return { form: 'bits', bits: marks.bits, windows, count };
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
