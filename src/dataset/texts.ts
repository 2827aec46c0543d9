import { sharedArray } from '../common-array.js';

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

/** Slots of the cache; a power of two. */
const SLOTS = 1_024;

/**
 * Numbers texts while records are read. Most texts are among few, so a cache compares bytes first:
 * a look into the map needs a string, which takes some 100 ns to make.
 */
export class TextNumbers {
  /** The number of each text, whose bytes stand for its characters. */
  readonly #numbers = new Map<string, number>();
  /** All texts, by number, and where each ends. */
  #bytes: Buffer = Buffer.alloc(4_096);
  #ends: number[] = [];
  /** Of each slot the number of the text in it, -1 while it is empty. */
  readonly #slots = new Int32Array(SLOTS).fill(-1);

  /** The number of the text in bytes `from` to `to - 1`, in the order in which texts are met. */
  add(source: Buffer, from: number, to: number): number {
    const length = to - from;
    const middle = source[from + (length >>> 1)]! * 61;
    const slot = (length + source[from]! * 7 + middle + source[to - 1]! * 17) & (SLOTS - 1);
    const cached = this.#slots[slot]!;
    if (cached >= 0 && this.#is(cached, source, from, length)) return cached;

    const key = source.toString('latin1', from, to);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(key, number);
      this.#keep(key);
    }
    this.#slots[slot] = number;
    return number;
  }

  #is(number: number, source: Buffer, from: number, length: number): boolean {
    const start = number === 0 ? 0 : this.#ends[number - 1]!;
    if (this.#ends[number]! - start !== length) return false;
    const bytes = this.#bytes;
    for (let i = 0; i < length; i++) if (bytes[start + i] !== source[from + i]) return false;
    return true;
  }

  #keep(key: string): void {
    const start = this.#ends.at(-1) ?? 0;
    if (start + key.length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(start + key.length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, start);
      this.#bytes = larger;
    }
    this.#bytes.write(key, start, 'latin1');
    this.#ends.push(start + key.length);
  }

  /** The texts in ascending order, and the place there of each text that was numbered. */
  finish(): { texts: Texts; places: Uint32Array } {
    const keys = [...this.#numbers.keys()].sort();
    const places = new Uint32Array(keys.length);
    const ends = sharedArray(Uint32Array, keys.length);
    const bytes = new Uint8Array(new SharedArrayBuffer(this.#ends.at(-1) ?? 0));
    const target = Buffer.from(bytes.buffer);
    let end = 0;
    for (const [place, key] of keys.entries()) {
      places[this.#numbers.get(key)!] = place;
      end += target.write(key, end, 'latin1');
      ends[place] = end;
    }
    return { texts: { bytes, ends }, places };
  }
}
