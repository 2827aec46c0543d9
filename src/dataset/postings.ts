import { sharedArray } from '../common-array.js';
import type { Row } from './row.js';

/** Which rows have a value: a list of them, ascending, or a bit for each row where that is smaller. */
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
  readonly rows: ArrayLike<Row>;
  readonly values: ArrayLike<number>;
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
export function buildPostings(count: number, values: number, given: RowValues): Postings {
  const counts = sharedArray(Uint32Array, values);
  for (let i = 0; i < given.length; i++) counts[given.values[i]!]!++;

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
  for (let i = 0; i < given.length; i++) {
    const row = given.rows[i]!;
    const value = given.values[i]!;
    const bitmap = bitmapOf[value]!;
    if (bitmap < 0) rows[next[value]!++] = row;
    else bitmaps[bitmap]![row >>> 5]! |= 1 << (row & 31);
  }
  return { counts, starts, rows, bitmapOf, bitmaps };
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
