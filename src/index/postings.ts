import { type TextNumbers, textOf } from '../formats/attributes.js';
import { sharedArray } from '../model/memory.js';
import { lowerBound } from './order.js';

/** A list of rows, ascending, or a bitmap of them where that is smaller. */
export type RowSet =
  | { readonly count: number; readonly rows: Int32Array; readonly bits?: undefined }
  | { readonly count: number; readonly bits: Int32Array; readonly rows?: undefined };

/** The rows of each value of an attribute, in shared memory; values are numbered from 0. */
export interface Postings {
  readonly counts: Uint32Array;
  /** The start of each value's rows in `rows`, which has none of a value with a bitmap. */
  readonly starts: Uint32Array;
  readonly rows: Int32Array;
  /** The number of each value's bitmap, or -1. */
  readonly bitmapOf: Int32Array;
  readonly bitmaps: readonly Int32Array[];
}

/** The values of rows; no row has a value twice. */
export interface RowValues {
  /** The row of each value, in any order; undefined where each row has one value. */
  readonly rows: Int32Array | undefined;
  readonly values: Uint32Array | Uint8Array;
  readonly length: number;
}

/** Postings whose rows below `kept` stay; `numbers` has the new number of each value. */
interface Kept {
  readonly postings: Postings;
  readonly kept: number;
  readonly numbers: Uint32Array;
}

export function wordsOf(count: number): number {
  return (count + 31) >>> 5;
}

/**
 * Makes the postings of the rows that stay and of `count` rows behind them, with `values` values. A
 * value of more than one row in 32 has a bitmap: a list of its rows would be larger.
 */
export function buildPostings(
  count: number,
  values: number,
  { rows: rowOf, values: numbers, length }: RowValues,
  before?: Kept,
): Postings {
  const first = before?.kept ?? 0;
  const words = wordsOf(first + count);
  const counts = sharedArray(Uint32Array, values);
  const stay: RowSet[] = [];
  for (let value = 0; value < (before?.numbers.length ?? 0); value++) {
    stay.push(rowsBelow(before!.postings, value, first));
    counts[before!.numbers[value]!] = stay[value]!.count;
  }
  for (let i = 0; i < length; i++) counts[numbers[i]!]!++;
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
  const put = (row: number, value: number): void => {
    const bitmap = bitmapOf[value]!;
    if (bitmap < 0) rows[next[value]!++] = row;
    else bitmaps[bitmap]![row >>> 5]! |= 1 << (row & 31);
  };
  for (const [value, kept] of stay.entries()) {
    const number = before!.numbers[value]!;
    const bitmap = bitmaps[bitmapOf[number]!];
    if (kept.bits !== undefined && bitmap !== undefined) bitmap.set(kept.bits);
    else if (kept.rows !== undefined && bitmap === undefined) {
      rows.set(kept.rows, next[number]);
      next[number]! += kept.count;
    } else visitRows(kept, (row) => put(row, number));
  }
  const from = next.slice();
  for (let i = 0; i < length; i++) {
    put(first + (rowOf === undefined ? i : rowOf[i]!), numbers[i]!);
  }
  // kept rows are in order, and lie before the new ones
  for (let value = 0; rowOf !== undefined && value < values; value++) {
    if (next[value]! > from[value]! + 1) rows.subarray(from[value], next[value]).sort();
  }
  return { counts, starts, rows, bitmapOf, bitmaps };
}

function visitRows({ rows, bits }: RowSet, visit: (row: number) => unknown): void {
  if (rows !== undefined) for (const row of rows) visit(row);
  for (let i = 0; bits !== undefined && i < bits.length; i++) {
    for (let word = bits[i]!; word !== 0; word &= word - 1) {
      visit(32 * i + (31 - Math.clz32(word & -word)));
    }
  }
}

export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function rowsWith(
  { counts, starts, rows, bitmapOf, bitmaps }: Postings,
  value: number,
): RowSet {
  const count = counts[value]!;
  const bitmap = bitmapOf[value]!;
  if (bitmap >= 0) return { count, bits: bitmaps[bitmap]! };
  return { count, rows: rows.subarray(starts[value], starts[value + 1]) };
}

/** The rows of a value below `end`. */
function rowsBelow(postings: Postings, value: number, end: number): RowSet {
  const { rows, bits } = rowsWith(postings, value);
  if (rows !== undefined) {
    const count = lowerBound(rows, end);
    return { count, rows: rows.subarray(0, count) };
  }
  const below = bits.slice(0, wordsOf(end));
  if ((end & 31) !== 0) below[end >>> 5]! &= ~(-1 << (end & 31));
  return { count: below.reduce((sum, word) => sum + bitCount(word), 0), bits: below };
}

export interface TextAttribute {
  readonly texts: Texts;
  readonly postings: Postings;
}

export const NOBODY = -1;

/**
 * An inverted index of what filters ask for besides place and times, in shared memory. A value
 * takes 4 bytes for each row that has it, or a bit for every row.
 */
export interface Attributes {
  readonly status: TextAttribute;
  readonly tags: TextAttribute;
  /** The digits of users, and an empty text for points without one. */
  readonly createdBy: TextAttribute;
  /** Value 0 is `false`, 1 is `true`. */
  readonly isProcessed: TextAttribute;
  readonly hasImage: TextAttribute;
}

/** Distinct texts, sorted by their bytes, in shared memory; numbered from 0. */
interface Texts {
  /** The texts end to end, as JSON has them between its quotes. */
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

/** A text as JSON has it between its quotes, the form of {@link Texts}. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}

/** The number of a text, or -1; some 0.5 µs among 10,000. */
export function numberOf({ bytes, ends }: Texts, wanted: Uint8Array): number {
  let from = 0;
  let to = ends.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const text = bytes.subarray(endBefore(ends, middle), ends[middle]);
    const order = Buffer.compare(text, wanted);
    if (order === 0) return middle;
    if (order < 0) from = middle + 1;
    else to = middle;
  }
  return -1;
}

/** Sorts texts, whose characters stand for bytes; `places` has the place of each. */
export function sortTexts(keys: readonly string[]): { texts: Texts; places: Uint32Array } {
  const places = new Uint32Array(keys.length);
  const ends = sharedArray(Uint32Array, keys.length);
  const size = keys.reduce((sum, key) => sum + key.length, 0);
  const bytes = Buffer.from(new SharedArrayBuffer(size));
  let end = 0;
  const numbers = new Map(keys.map((key, number) => [key, number]));
  for (const [place, key] of keys.toSorted().entries()) {
    places[numbers.get(key)!] = place;
    end += bytes.write(key, end, 'latin1');
    ends[place] = end;
  }
  return { texts: { bytes: new Uint8Array(bytes.buffer), ends }, places };
}

/** Adds all texts to `numbers`; returns the number that each has there. */
export function numbersOf({ bytes, ends }: Texts, numbers: TextNumbers): Uint32Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ends.map((end, i) => numbers.add(buffer, endBefore(ends, i), end));
}

export function endBefore(ends: Uint32Array, i: number): number {
  return i === 0 ? 0 : ends[i - 1]!;
}

/** The most texts that people are offered, and the most characters of one. */
const MOST = 50;
const LONGEST = 64;

const found = new WeakMap<TextAttribute, readonly string[]>();

/** The most frequent statuses and tags of a generation, ascending, which people are offered. */
export function frequentTexts({ status, tags }: Attributes): {
  readonly status: readonly string[];
  readonly tags: readonly string[];
} {
  return { status: mostFrequent(status), tags: mostFrequent(tags) };
}

/** Some 50 ms for a million distinct texts, once; ties go to the first texts. */
function mostFrequent(attribute: TextAttribute): readonly string[] {
  const { texts, postings } = attribute;
  const known = found.get(attribute);
  if (known !== undefined) return known;
  const { counts } = postings;
  const { bytes, ends } = texts;
  const nameOf = (number: number): string => textOf(bytes, endBefore(ends, number), ends[number]!);
  const isOffered = (number: number): boolean => {
    const { length } = nameOf(number);
    return length > 0 && length <= LONGEST;
  };
  const most: number[] = [];
  for (let number = 0; number < counts.length; number++) {
    const least = most.length < MOST ? 0 : counts[most.at(-1)!]!;
    if (counts[number]! <= least || !isOffered(number)) continue;
    const at = most.findIndex((other) => counts[other]! < counts[number]!);
    most.splice(at < 0 ? most.length : at, 0, number);
    most.length = Math.min(most.length, MOST);
  }
  // numbers ascend with the texts
  const offered = most.sort((a, b) => a - b).map(nameOf);
  found.set(attribute, offered);
  return offered;
}
