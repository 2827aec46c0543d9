import { type Order, type RankRange, rankRange } from '../../dataset/order.js';
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

/** The window with the fewest rows, of one or two. */
export function narrowest(windows: readonly Window[]): Window {
  return windows.reduce((least, window) => (window.count < least.count ? window : least));
}
