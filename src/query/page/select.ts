import type { Order } from '../../index/order.js';
import { inStretches } from '../../model/budget.js';
import { NEIGHBOUR, SCATTERED } from '../common/plan.js';
import {
  BITS_PER_SPAN,
  BUCKETS,
  clearSelection,
  type Scratch,
  type Selection,
  SPAN_SHIFT,
} from '../common/scratch.js';

/** The most keys of a bucket: insertion of more would be slow. */
const MOST_IN_BUCKET = 64;

/**
 * Sorts at most `FEW` rows by the keys in `keys`, ties by id, and writes those at places `from` to
 * `to - 1` to the front of `out`. Keys lie within 0 to `most`. Returns false, and writes nothing,
 * where too many keys lie close together.
 */
export function selectFew(
  { keys, sortedKeys, sortedRows, buckets }: Selection,
  rows: Int32Array,
  most: number,
  idRanks: Int32Array,
  from: number,
  to: number,
  out: Uint32Array,
): boolean {
  const count = rows.length;
  // ranks and squared distances of neighbours on the map are spread evenly, more or less; a smaller
  // `most` would make the scale infinite
  const scale = most > 1e-300 ? (BUCKETS - 1) / most : 0;
  buckets.fill(0);
  for (let i = 0; i < count; i++) buckets[Math.trunc(keys[i]! * scale)]!++;
  let start = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const size = buckets[bucket]!;
    if (size > MOST_IN_BUCKET) return false;
    buckets[bucket] = start;
    start += size;
  }
  for (let i = 0; i < count; i++) {
    const key = keys[i]!;
    const place = buckets[Math.trunc(key * scale)]!++;
    sortedKeys[place] = key;
    sortedRows[place] = rows[i]!;
  }
  // a bucket's start is its end by now; buckets behind that of the last place need no sorting
  const end = buckets[Math.trunc(sortedKeys[to - 1]! * scale)]!;
  sortByInsertion(sortedKeys, sortedRows, end, idRanks);
  for (let place = from; place < to; place++) out[place - from] = sortedRows[place]!;
  return true;
}

/** Sorts the first `count` keys and their rows, which are nearly sorted. */
function sortByInsertion(
  keys: Float64Array,
  rows: Int32Array,
  count: number,
  idRanks: Int32Array,
): void {
  for (let i = 1; i < count; i++) {
    const key = keys[i]!;
    const row = rows[i]!;
    let hole = i;
    for (; hole > 0; hole--) {
      const before = keys[hole - 1]!;
      if (before < key) break;
      if (before === key && idRanks[rows[hole - 1]!]! < idRanks[row]!) break;
      keys[hole] = before;
      rows[hole] = rows[hole - 1]!;
    }
    keys[hole] = key;
    rows[hole] = row;
  }
}

/** Sorts rows by rank, and writes those at places `from` to `to - 1` to the front of `out`. */
export function selectRanked(
  { selection, budget }: Scratch,
  rows: Int32Array,
  order: Order,
  from: number,
  to: number,
  out: Uint32Array,
): void {
  const { ranks } = order;
  // sorting takes some 40 ns a rank, marking 3 ns a rank and a pass over the bitmap
  if (rows.length < 64 || rows.length * 37 < ranks.length / 32) {
    const sorted = rows.map((row) => ranks[row]!).sort();
    for (let i = from; i < to; i++) out[i - from] = order.rows[sorted[i]!]!;
    return;
  }
  selection.isUsed = true;
  inStretches(budget, 0, rows.length, SCATTERED, (first, end) =>
    markRanks(selection, rows, ranks, first, end),
  );
  readBits(selection, from, to, out);
  budget.charge((to - from) * NEIGHBOUR);
  // where points were accepted, a page is merged out of as many more rows
  inStretches(budget, 0, to - from, SCATTERED, (first, end) => {
    for (let i = first; i < end; i++) out[i] = order.rows[out[i]!]!;
  });
}

/** Sorts ranks, which are distinct, by marking them in a bitmap, without comparisons. */
function markRanks(
  { bits, spans }: Selection,
  rows: Int32Array,
  ranks: Int32Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const rank = ranks[rows[i]!]!;
    bits[rank >>> 5]! |= 1 << (rank & 31);
    spans[rank >>> SPAN_SHIFT]!++;
  }
}

/** Writes the marked ranks at places `from` to `to - 1`, and clears the marks. */
function readBits(selection: Selection, from: number, to: number, out: Uint32Array): void {
  const { bits, spans } = selection;
  let span = 0;
  let before = 0;
  while (before + spans[span]! <= from) before += spans[span++]!;

  let place = before;
  for (let word = (span * BITS_PER_SPAN) >>> 5; place < to; word++) {
    for (let rest = bits[word]!; rest !== 0 && place < to; rest &= rest - 1) {
      if (place >= from) out[place - from] = (word << 5) + (31 - Math.clz32(rest & -rest));
      place++;
    }
  }
  clearSelection(selection);
}
