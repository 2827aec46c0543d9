import { sharedArray } from '../common-array.js';

/**
 * Which rows have a value: a list of them, ascending, or a bit for each row where that is smaller.
 */
export type RowSet =
  | { readonly count: number; readonly rows: Int32Array; readonly bits?: undefined }
  | { readonly count: number; readonly bits: Int32Array; readonly rows?: undefined };

/** The rows that have each value of an attribute, in shared memory; values are numbered from 0. */
export interface Postings {
  /** Rows of each value. */
  readonly counts: Uint32Array;
  /** Where the rows of each value begin in `rows`; a value with a bitmap has none there. */
  readonly starts: Uint32Array;
  readonly rows: Int32Array;
  /** Number of each value's bitmap; -1 where it has none. */
  readonly bitmapOf: Int32Array;
  readonly bitmaps: readonly Int32Array[];
}

/** Values of rows, row by row and, for rows with several, in any order; each once a row. */
export interface RowValues {
  /** Ascending; undefined where each row has one value. */
  readonly rows: Int32Array | undefined;
  readonly values: Uint32Array;
  readonly length: number;
}

/** Words of a bitmap that has a bit for each row. */
export function wordsOf(count: number): number {
  return (count + 31) >>> 5;
}

/**
 * Lays out the rows of each of `values` values, of `count` rows in all. A value has a bitmap where
 * more than one row in 32 has it: a list of these rows would be larger.
 */
export function buildPostings(
  count: number,
  values: number,
  { rows: rowOf, values: numbers, length }: RowValues,
): Postings {
  const counts = sharedArray(Uint32Array, values);
  for (let i = 0; i < length; i++) counts[numbers[i]!]!++;

  const words = wordsOf(count);
  const starts = sharedArray(Uint32Array, values + 1);
  const bitmapOf = sharedArray(Int32Array, values);
  const bitmaps: Int32Array[] = [];
  let listed = 0;
  for (let value = 0; value < values; value++) {
    starts[value] = listed;
    const isFrequent = counts[value]! > words;
    bitmapOf[value] = isFrequent ? bitmaps.length : -1;
    if (isFrequent) bitmaps.push(sharedArray(Int32Array, words));
    else listed += counts[value]!;
  }
  starts[values] = listed;

  const rows = sharedArray(Int32Array, listed);
  const next = starts.slice();
  for (let i = 0; i < length; i++) {
    const row = rowOf === undefined ? i : rowOf[i]!;
    const value = numbers[i]!;
    const bitmap = bitmapOf[value]!;
    if (bitmap < 0) rows[next[value]!++] = row;
    else bitmaps[bitmap]![row >>> 5]! |= 1 << (row & 31);
  }
  return { counts, starts, rows, bitmapOf, bitmaps };
}

/** The same for 0 and 1; `bits` has a bit for each row that has 1, and is kept. */
export function buildFlagPostings(count: number, bits: Int32Array): Postings {
  const [counts, starts] = [sharedArray(Uint32Array, 2), sharedArray(Uint32Array, 3)];
  const others = sharedArray(Int32Array, bits.length);
  for (let word = 0; word < bits.length; word++) {
    others[word] = ~bits[word]!;
    counts[1]! += bitCount(bits[word]!);
  }
  // the last word has bits for fewer rows
  if (count % 32 > 0) others[bits.length - 1]! &= -1 >>> (32 - (count % 32));
  counts[0] = count - counts[1]!;
  const bitmapOf = sharedArray(Int32Array, 2);
  bitmapOf[1] = 1;
  const rows = sharedArray(Int32Array, 0);
  return { counts, starts, rows, bitmapOf, bitmaps: [others, bits] };
}

/** How many bits of a word are set. */
export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The rows that have a value. */
export function rowsWith(
  { counts, starts, rows, bitmapOf, bitmaps }: Postings,
  value: number,
): RowSet {
  const count = counts[value]!;
  const bitmap = bitmapOf[value]!;
  if (bitmap >= 0) return { count, bits: bitmaps[bitmap]! };
  return { count, rows: rows.subarray(starts[value], starts[value + 1]) };
}
