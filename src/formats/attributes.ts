import { randomInt } from 'node:crypto';
import { IMAGE, PROCESSED } from '../model/units.js';
import type { AttributeColumns } from './block.js';
import { Members, memberOf } from './record-layout.js';

const STATUS = memberOf('status');
const IMAGE_MEMBER = memberOf('image');
const CREATED_BY = memberOf('created_by');
const TAGS = memberOf('tags');

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** Reads the attributes of stored records, which stand end to end; some 200 ns a record. */
export function attributesOf(records: Uint8Array, length: Uint32Array): AttributeColumns {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  const attributes = new Attributes(bytes, length.length);
  let start = 0;
  for (const size of length) {
    attributes.add(start);
    start += size;
  }
  return attributes.columns();
}

/** With a method for a record: V8 would compile a loop with all of it several times. */
class Attributes {
  readonly #bytes: Buffer;
  readonly #statuses = new TextNumbers();
  readonly #tagTexts = new TextNumbers();
  readonly #status: Uint32Array;
  readonly #flags: Uint8Array;
  readonly #createdBy: Float64Array;
  readonly #tagCounts: Uint32Array;
  readonly #tags: number[] = [];
  readonly #members = new Members();
  #count = 0;

  constructor(bytes: Buffer, count: number) {
    this.#bytes = bytes;
    this.#status = new Uint32Array(count);
    this.#flags = new Uint8Array(count);
    this.#createdBy = new Float64Array(count).fill(-1);
    this.#tagCounts = new Uint32Array(count);
  }

  /** Adds the record that begins at byte `start`. */
  add(start: number): void {
    const bytes = this.#bytes;
    const members = this.#members;
    const { starts, ends } = members;
    members.find(bytes, start);
    const i = this.#count++;
    if (members.has(TAGS)) this.#tagCounts[i] = this.#addTags(starts[TAGS]!, ends[TAGS]!);
    this.#status[i] = this.#statuses.add(bytes, starts[STATUS]!, ends[STATUS]!);
    const hasImage = members.has(IMAGE_MEMBER);
    this.#flags[i] = (members.isProcessed ? PROCESSED : 0) | (hasImage ? IMAGE : 0);
    if (members.has(CREATED_BY)) {
      this.#createdBy[i] = readDigits(bytes, starts[CREATED_BY]!, ends[CREATED_BY]!);
    }
  }

  /** Adds the tags in bytes `from` to `to - 1`, up to the first that is no text; returns how many. */
  #addTags(from: number, to: number): number {
    const bytes = this.#bytes;
    let count = 0;
    for (let at = from; at < to && bytes[at] === QUOTE; at++) {
      const start = at + 1;
      for (at = start; at < to && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
      this.#tags.push(this.#tagTexts.add(bytes, start, Math.min(at++, to)));
      count++;
    }
    return count;
  }

  columns(): AttributeColumns {
    return {
      status: this.#status,
      flags: this.#flags,
      createdBy: this.#createdBy,
      tagCounts: this.#tagCounts,
      statusTexts: this.#statuses.keys().map(utf8),
      tagTexts: this.#tagTexts.keys().map(utf8),
      tags: Uint32Array.from(this.#tags),
    };
  }
}

/** Reads the digits in bytes `from` to `to - 1`. */
export function readDigits(bytes: Uint8Array, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) number = number * 10 + (bytes[at]! - ZERO);
  return number;
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

const FIRST_SLOTS = 256;
const FIRST_BYTES = 2_048;
/** Random, so that nobody can choose texts that share their slots. */
const SEED = randomInt(2 ** 32);

/** Numbers texts by their bytes, from 0: making a string of each would take 100 ns. */
export class TextNumbers {
  /** The number of the text in each slot, or -1; a power of two of slots. */
  #slots = new Int32Array(FIRST_SLOTS).fill(-1);
  readonly #hashes: number[] = [];
  readonly #ends: number[] = [];
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);

  /** The number of the text in bytes `from` to `to - 1`, which is added where it is new. */
  add(source: Uint8Array, from: number, to: number): number {
    let hash = SEED ^ (to - from);
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ source[i]!, 0x01000193);
    hash ^= hash >>> 15;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (; slots[slot]! >= 0; slot = (slot + 1) & mask) {
      const number = slots[slot]!;
      if (this.#hashes[number] === hash && this.#is(number, source, from, to)) return number;
    }
    slots[slot] = this.#hashes.push(hash) - 1;
    this.#keep(source, from, to);
    return this.#hashes.length - 1;
  }

  addText(text: string): number {
    const bytes = Buffer.from(text);
    return this.add(bytes, 0, bytes.length);
  }

  /** The texts by number; their characters stand for bytes. */
  keys(): string[] {
    return this.#ends.map((end, i) => this.#bytes.toString('latin1', this.#ends[i - 1] ?? 0, end));
  }

  #is(number: number, source: Uint8Array, from: number, to: number): boolean {
    const start = number === 0 ? 0 : this.#ends[number - 1]!;
    if (this.#ends[number]! - start !== to - from) return false;
    const bytes = this.#bytes;
    const move = start - from;
    for (let i = from; i < to; i++) if (bytes[i + move] !== source[i]) return false;
    return true;
  }

  #keep(source: Uint8Array, from: number, to: number): void {
    const start = this.#ends.at(-1) ?? 0;
    const end = start + to - from;
    if (end > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes.subarray(0, start)], 2 * end);
    }
    const bytes = this.#bytes;
    for (let i = from; i < to; i++) bytes[start + i - from] = source[i]!;
    this.#ends.push(end);
    if (2 * this.#ends.length > this.#slots.length) this.#grow();
  }

  #grow(): void {
    const slots = new Int32Array(2 * this.#slots.length).fill(-1);
    const mask = slots.length - 1;
    for (const [number, hash] of this.#hashes.entries()) {
      let slot = hash & mask;
      while (slots[slot]! >= 0) slot = (slot + 1) & mask;
      slots[slot] = number;
    }
    this.#slots = slots;
  }
}

/** Whether the text of a JSON string in bytes `from` to `to - 1` has escapes. */
export function hasEscape(source: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (source[at] === BACKSLASH) return true;
  return false;
}

/** The text of a JSON string whose bytes `from` to `to - 1` stand between its quotes. */
export function textOf(source: Uint8Array, from: number, to: number): string {
  return JSON.parse(`"${Buffer.from(source.subarray(from, to))}"`);
}
