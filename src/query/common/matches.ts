import type { Dataset } from '../../index/dataset.js';
import { type Order, type RankRange, type Row, rankRange } from '../../index/order.js';
import { bitCount } from '../../index/postings.js';
import { inStretches } from '../../model/budget.js';
import type { TimeWindow } from '../../model/query.js';
import type { Region } from '../region/overlap.js';
import { listMarked, markRows, markRun } from './marks.js';
import { MARKED, NEIGHBOUR, SCATTERED } from './plan.js';
import { costInRuns, type Runs } from './runs.js';
import type { Scratch } from './scratch.js';

/** The rows that satisfy all filters, in the form that was cheapest to find; all in `windows`. */
export type Matches = { readonly count: number; readonly windows: readonly Window[] } & (
  | { readonly form: 'all' }
  /** All rows that lie in one window, or in both. */
  | { readonly form: 'windows' }
  | { readonly form: 'runs'; readonly region: Region; readonly runs: Runs }
  | { readonly form: 'rows'; readonly rows: Int32Array }
  | { readonly form: 'bits'; readonly bits: Int32Array }
);

/** Lists the matches. Throws where no filter was given: the list would be all rows. */
export function listRows(scratch: Scratch, matches: Matches): Int32Array {
  const { rows: list, budget } = scratch;
  const { count } = matches;
  switch (matches.form) {
    case 'all':
      throw new Error('Expected matches of a filter, got all rows.');
    case 'rows':
      return matches.rows;
    case 'bits': {
      const { bits } = matches;
      let at = 0;
      inStretches(budget, 0, bits.length, 32 * NEIGHBOUR, (from, to) => {
        at = listMarked(bits, list, at, from << 5, to << 5);
      });
      return list.subarray(0, count);
    }
    case 'runs':
      return listRuns(scratch, matches.runs);
    case 'windows': {
      const { windows } = matches;
      const window = narrowest(windows);
      const others = windows.filter((one) => one !== window);
      keepInWindows(scratch, listWindow(scratch, window), others);
      return list.subarray(0, count);
    }
  }
}

/** Lists the rows of runs in loops: a call for each run would take longer than most runs. */
export function listRuns({ rows: list, budget }: Scratch, runs: Runs): Int32Array {
  const { bounds, length } = runs;
  let run = 0;
  let count = 0;
  inStretches(budget, 0, runs.rows, costInRuns(runs, NEIGHBOUR), (_from, to) => {
    let [next, end] = [run, count];
    for (; end < to && next < length; next++) {
      const last = bounds[2 * next + 1]!;
      for (let row = bounds[2 * next]!; row < last; row++) list[end++] = row;
    }
    [run, count] = [next, end];
  });
  return list.subarray(0, count);
}

/** Lists the rows of a window, by time; returns their number. */
export function listWindow({ rows, budget }: Scratch, { order, from, to, count }: Window): number {
  inStretches(budget, from, to, NEIGHBOUR, (first, end) =>
    rows.set(order.rows.subarray(first, end), first - from),
  );
  return count;
}

/**
 * Keeps those of the first `candidates` rows of `scratch.rows` that lie in all windows, two at
 * most; returns their number. The sign bit says "outside": no branch is mispredicted.
 */
export function keepInWindows(
  { rows, budget }: Scratch,
  candidates: number,
  windows: readonly Window[],
): number {
  if (windows.length === 0) return candidates;
  const [one, other = one] = windows;
  const { ranks: ones, from: oneFrom, to: oneTo } = one!;
  const { ranks: others, from: otherFrom, to: otherTo } = other!;
  const [oneLast, otherLast] = [oneTo - 1, otherTo - 1];
  let count = 0;
  inStretches(budget, 0, candidates, windows.length * SCATTERED, (from, to) => {
    let end = count;
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      const a = ones[row]!;
      const b = others[row]!;
      rows[end] = row;
      end += ~((a - oneFrom) | (oneLast - a) | (b - otherFrom) | (otherLast - b)) >>> 31;
    }
    count = end;
  });
  return count;
}

/** Nanoseconds of {@link listRows}. */
export function costOfListing(dataset: Dataset, matches: Matches): number {
  if (matches.form === 'rows') return 0;
  if (matches.form === 'bits') return dataset.count / 32 + matches.count * NEIGHBOUR;
  if (matches.form !== 'windows') return matches.count * NEIGHBOUR;
  const { windows } = matches;
  return windows.length === 1 ? 0 : narrowest(windows).count * SCATTERED;
}

export function markMatches(dataset: Dataset, scratch: Scratch, matches: Matches): Int32Array {
  if (matches.form === 'bits') return matches.bits;
  const { marks, budget } = scratch;
  const { bits } = marks;
  marks.isUsed = true;
  if (matches.form === 'all') {
    if (matches.count > 0) markRun(bits, 0, matches.count);
    return bits;
  }
  if (matches.form === 'runs') {
    const { bounds, length } = matches.runs;
    inStretches(budget, 0, length, RUN, (from, to) => {
      for (let run = from; run < to; run++) markRun(bits, bounds[2 * run]!, bounds[2 * run + 1]!);
    });
    return bits;
  }
  if (matches.form === 'windows' && marksInSequence(dataset, matches.windows)) {
    const [one, other = one] = matches.windows;
    inStretches(budget, 0, dataset.count, NEIGHBOUR, (from, to) =>
      markWithin(bits, one!, other!, from, to),
    );
    return bits;
  }
  const rows = listRows(scratch, matches);
  inStretches(budget, 0, rows.length, MARKED, (from, to) => markRows(bits, rows, from, to));
  return bits;
}

/** Nanoseconds to mark a run, long or short. */
const RUN = 8;

/** Whether testing all rows in sequence is quicker than marking those of a window, scattered. */
function marksInSequence({ count }: Dataset, windows: readonly Window[]): boolean {
  const perRow = windows.length === 1 ? MARKED : SCATTERED + MARKED;
  return narrowest(windows).count * perRow > count * NEIGHBOUR;
}

export function costOfMarking(dataset: Dataset, matches: Matches): number {
  if (matches.form === 'bits') return 0;
  if (matches.form === 'runs') return matches.runs.length * RUN + matches.count / 32;
  const listed = costOfListing(dataset, matches) + matches.count * MARKED;
  return matches.form === 'windows' ? Math.min(listed, dataset.count * NEIGHBOUR) : listed;
}

/** A window of time as a range of ranks of its order. */
export interface Window extends Bounds {
  readonly order: Order;
  readonly count: number;
}

/** The window of a filter; undefined where all rows lie in it. */
export function windowOf(order: Order, window: TimeWindow | undefined): Window | undefined {
  if (window === undefined) return undefined;
  const range = rankRange(order, window.after, window.before);
  const count = range.to - range.from;
  if (count === order.rows.length) return undefined;
  return { order, ranks: order.ranks, ...range, count };
}

export function narrowest(windows: readonly Window[]): Window {
  return windows.reduce((least, window) => (window.count < least.count ? window : least));
}

/** The rank of each row, and the ranks that lie inside. */
export interface Bounds extends RankRange {
  readonly ranks: Int32Array;
}

/**
 * Sets the bits of the rows `from` to `to - 1` that lie in both windows; returns their number. The
 * sign bit of `(rank - from) | (last - rank)` says "outside", without a branch to mispredict.
 */
export function markWithin(
  bits: Int32Array,
  { ranks: ones, from: oneFrom, to: oneTo }: Bounds,
  { ranks: others, from: otherFrom, to: otherTo }: Bounds,
  from: Row,
  to: Row,
): number {
  const oneLast = oneTo - 1;
  const otherLast = otherTo - 1;
  let count = 0;
  for (let row = from; row < to; ) {
    const word = row >>> 5;
    const end = Math.min(to, (word + 1) << 5);
    let set = 0;
    for (; row < end; row++) {
      const a = ones[row]!;
      const b = others[row]!;
      const outside = (a - oneFrom) | (oneLast - a) | (b - otherFrom) | (otherLast - b);
      set |= (~outside >>> 31) << (row & 31);
    }
    bits[word]! |= set;
    count += bitCount(set);
  }
  return count;
}
