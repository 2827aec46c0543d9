import { type Order, type Rank, type RankRange, type Row, rankRange } from '../../index/order.js';
import { bitCount } from '../../index/postings.js';
import type { TimeWindow } from '../../model/query.js';

/** A window of time as a range of ranks of its order. */
export interface Window {
  readonly order: Order;
  readonly range: RankRange;
  readonly count: number;
}

/** The window of a filter; undefined without a filter, or where all rows lie in the window. */
export function windowOf(order: Order, window: TimeWindow | undefined): Window | undefined {
  if (window === undefined) return undefined;
  const range = rankRange(order, window.after, window.before);
  const count = range.to - range.from;
  return count === order.rows.length ? undefined : { order, range, count };
}

export function narrowest(windows: readonly Window[]): Window {
  return windows.reduce((least, window) => (window.count < least.count ? window : least));
}

/** A window of time: the rank of each row, and the first and the last rank that lie inside. */
export interface Bounds {
  readonly ranks: Int32Array;
  readonly from: Rank;
  readonly last: Rank;
}

export function boundsOf({ order, range }: Window): Bounds {
  return { ranks: order.ranks, from: range.from, last: range.to - 1 };
}

/**
 * Sets the bits of those rows from `from` to `to - 1` that lie in both windows; returns their
 * number. The sign bit of `(rank - from) | (last - rank)` says "outside": there is no branch to
 * mispredict.
 */
export function markWithin(
  bits: Int32Array,
  { ranks: ones, from: oneFrom, last: oneLast }: Bounds,
  { ranks: others, from: otherFrom, last: otherLast }: Bounds,
  from: Row,
  to: Row,
): number {
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

/** Lists the rows of one window that lie in the other; returns where they end. */
export function listWithin(
  { order: { rows } }: Window,
  other: Window,
  list: Int32Array,
  at: number,
  from: number,
  to: number,
): number {
  const { ranks, from: least, last } = boundsOf(other);
  let end = at;
  for (let rank = from; rank < to; rank++) {
    const row = rows[rank]!;
    const place = ranks[row]!;
    list[end] = row;
    end += ~((place - least) | (last - place)) >>> 31;
  }
  return end;
}
