import type { Rank, Row } from './row.js';

/**
 * All rows sorted by a key, ties by id. Three views of one permutation, so that a window of keys is two
 * binary searches and a row's membership in it one integer comparison.
 */
export interface Order {
  /** Keys, ascending: `keys[rank]`. */
  readonly keys: Float64Array;
  /** {@link Row} at each {@link Rank}. */
  readonly rows: Uint32Array;
  /** {@link Rank} of each {@link Row}; signed, for the sign-bit test of windows. */
  readonly ranks: Int32Array;
}

/** Ranks `from` to `to - 1` of an order. */
export interface RankRange {
  readonly from: Rank;
  readonly to: Rank;
}

const DIGIT_BITS = 11;
const BUCKETS = 1 << DIGIT_BITS;

/**
 * Sorts rows by `keyOf[row]`, which must hold whole numbers within ±2^53. Rows with equal keys keep the
 * order in which `start` lists them. Radix sort: six to ten times faster than a comparator at 1M rows.
 */
export function buildOrder(keyOf: Float64Array, start?: Uint32Array): Order {
  const count = keyOf.length;
  let rows = new Uint32Array(count);
  for (let i = 0; i < count; i++) rows[i] = start === undefined ? i : start[i]!;
  let low = new Uint32Array(count);
  let high = new Uint32Array(count);
  const base = splitKeys(keyOf, rows, low, high);

  let otherRows = new Uint32Array(count);
  let otherLow = new Uint32Array(count);
  let otherHigh = new Uint32Array(count);
  const starts = new Uint32Array(BUCKETS);
  for (let shift = 0; shift < 64; shift += DIGIT_BITS) {
    // three digits from each half: bits 0-10, 11-21, 22-31
    const half = shift < 33 ? low : high;
    const within = shift < 33 ? shift : shift - 33;
    if (!bucketStarts(half, within, starts)) continue;
    for (let i = 0; i < count; i++) {
      const at = starts[(half[i]! >>> within) & (BUCKETS - 1)]!++;
      otherRows[at] = rows[i]!;
      otherLow[at] = low[i]!;
      otherHigh[at] = high[i]!;
    }
    [rows, otherRows] = [otherRows, rows];
    [low, otherLow] = [otherLow, low];
    [high, otherHigh] = [otherHigh, high];
  }

  const order = allocateOrder(count);
  order.rows.set(rows);
  for (let rank = 0; rank < count; rank++) {
    order.ranks[rows[rank]!] = rank;
    order.keys[rank] = (high[rank]! + base) * 2 ** 32 + low[rank]!;
  }
  return order;
}

/** The ranks whose keys lie within `[least, most]`, both included. */
export function rankRange(order: Order, least: number, most: number): RankRange {
  const from = firstAtLeast(order.keys, least);
  return { from, to: Math.max(from, firstAbove(order.keys, most)) };
}

/** Rank of the exact key, or -1. */
export function rankOf(order: Order, key: number): Rank {
  const rank = firstAtLeast(order.keys, key);
  return order.keys[rank] === key ? rank : -1;
}

function allocateOrder(count: number): Order {
  return {
    keys: new Float64Array(new SharedArrayBuffer(count * 8)),
    rows: new Uint32Array(new SharedArrayBuffer(count * 4)),
    ranks: new Int32Array(new SharedArrayBuffer(count * 4)),
  };
}

/** Splits keys into unsigned halves; the high halves count from the returned base. */
function splitKeys(
  keyOf: Float64Array,
  rows: Uint32Array,
  low: Uint32Array,
  high: Uint32Array,
): number {
  let least = 0;
  for (let i = 0; i < keyOf.length; i++) {
    if (i === 0 || keyOf[i]! < least) least = keyOf[i]!;
  }
  const base = Math.floor(least / 2 ** 32);
  for (let i = 0; i < rows.length; i++) {
    const key = keyOf[rows[i]!]!;
    const top = Math.floor(key / 2 ** 32);
    high[i] = top - base;
    low[i] = key - top * 2 ** 32;
  }
  return base;
}

/** Fills in where each bucket begins; false when all digits are equal and the pass can be skipped. */
function bucketStarts(digits: Uint32Array, shift: number, starts: Uint32Array): boolean {
  starts.fill(0);
  for (let i = 0; i < digits.length; i++) {
    const digit = (digits[i]! >>> shift) & (BUCKETS - 1);
    starts[digit] = starts[digit]! + 1;
  }
  let sum = 0;
  for (let i = 0; i < BUCKETS; i++) {
    const size = starts[i]!;
    if (size === digits.length) return false;
    starts[i] = sum;
    sum += size;
  }
  return true;
}

function firstAtLeast(keys: Float64Array, value: number): number {
  let from = 0;
  let to = keys.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (keys[middle]! < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

function firstAbove(keys: Float64Array, value: number): number {
  let from = 0;
  let to = keys.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (keys[middle]! <= value) from = middle + 1;
    else to = middle;
  }
  return from;
}
