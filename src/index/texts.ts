import type { TextNumbers } from '../formats/text-numbers.js';
import { sharedArray } from './shared-array.js';

/** Distinct texts in ascending order of their bytes, in shared memory; numbered from 0. */
export interface Texts {
  /** The texts end to end, as JSON has them between its quotes. */
  readonly bytes: Uint8Array;
  /** Where each of them ends. */
  readonly ends: Uint32Array;
}

/** A text as JSON has it between its quotes: the form in which texts are compared. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}

/** The number of a text, -1 where there is none such; some 0.5 µs among 10,000. */
export function numberOf({ bytes, ends }: Texts, wanted: Uint8Array): number {
  let from = 0;
  let to = ends.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const text = bytes.subarray(middle === 0 ? 0 : ends[middle - 1], ends[middle]);
    const order = Buffer.compare(text, wanted);
    if (order === 0) return middle;
    if (order < 0) from = middle + 1;
    else to = middle;
  }
  return -1;
}

/** Puts texts, whose characters stand for bytes, in ascending order; `places` has their places. */
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

/** Takes all texts among others; returns the number that each has there. */
export function numbersOf({ bytes, ends }: Texts, numbers: TextNumbers): Uint32Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ends.map((end, i) => numbers.add(buffer, i === 0 ? 0 : ends[i - 1]!, end));
}
