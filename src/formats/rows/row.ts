import { isUtf8 } from 'node:buffer';
import type { Problem } from '../../model/point.js';
import { InputError } from '../../model/quote.js';
import { MAX_RECORD_BYTES } from '../block.js';
import type { SnapshotFormat } from '../snapshot.js';

/** A record as its file has it, a `RenderedPoint`, or why it could not be read. */
export type Row =
  | { readonly place: number; readonly value: unknown; readonly problem?: never }
  | { readonly place: number; readonly value?: never; readonly problem: Problem };

export function problemRow(place: number, reason: string, field = 'record'): Row {
  return { place, problem: { field, reason } };
}

/** A record as it stands in its file. */
export interface RawRecord {
  /** The first line in formats of lines, else the number of the record; both from 1. */
  readonly place: number;
  /** Undefined where there are more than {@link MAX_RAW_BYTES}. */
  readonly bytes: Uint8Array | undefined;
  /** The record's first byte in the document, in formats of one document. */
  readonly start?: number;
}

/** Turns a gunzipped file into rows, a batch for each chunk, in order. Throws {@link BrokenRows}. */
export type RowParser = (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<Row[]>;

/** Nothing more can be read. The reader adds the name of the file to the message. */
export class BrokenRows extends Error {
  override readonly name = 'BrokenRows';
}

/** The most bytes of a record in its file, where escapes and white space make it longer. */
export const MAX_RAW_BYTES: number = 8 * (MAX_RECORD_BYTES + 1);

export const TOO_LONG: Problem = {
  field: 'record',
  reason: `is longer than ${MAX_RAW_BYTES} bytes`,
};

export const NOT_UTF8 = 'is not valid UTF-8; save the file as UTF-8';

/** The text of bytes; undefined where they are no UTF-8. */
export function utf8Of(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** The byte order mark of UTF-8. */
export const BOM: readonly number[] = [0xef, 0xbb, 0xbf];

export function withoutBom(bytes: Uint8Array): Uint8Array {
  return BOM.every((byte, index) => bytes[index] === byte) ? bytes.subarray(BOM.length) : bytes;
}

export function isBlank(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (!isSpace(byte)) return false;
  return true;
}

export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** The most invalid records that an error lists. */
export const MAX_SHOWN = 10;

export class ProblemLog {
  /** The place of each of the first invalid records, then all that is wrong with it. */
  readonly first: string[] = [];
  invalid = 0;
  readonly #unit: 'line' | 'record';

  constructor(format: SnapshotFormat) {
    this.#unit = format === 'ndjson' || format === 'csv' ? 'line' : 'record';
  }

  add(place: number, problems: readonly Problem[]): void {
    this.invalid += 1;
    if (this.first.length === MAX_SHOWN) return;
    const texts = problems.map(({ field, reason }) => `${field}: ${reason}`);
    this.first.push(`${this.#unit} ${place}: ${texts.join('; ')}`);
  }

  /** The error with the first problems behind the line `summary`. */
  error(path: string, summary: string): InputError {
    const lines = this.first.map((text) => `  ${path}: ${text}`);
    return new InputError([`${path}: ${summary}`, ...lines].join('\n'));
  }
}

const MAX_KEYS = 100;
const MAX_KEY_LENGTH = 60;
const OTHERS = '(other keys)';

/** Counts unknown keys in bounded memory: a file may have ever new ones. */
export class UnknownKeys {
  readonly #counts = new Map<string, number>();

  add(key: string, times = 1): void {
    const name = key.length > MAX_KEY_LENGTH ? `${key.slice(0, MAX_KEY_LENGTH)}…` : key;
    const isKnown = this.#counts.has(name) || this.#counts.size < MAX_KEYS;
    const slot = isKnown ? name : OTHERS;
    this.#counts.set(slot, (this.#counts.get(slot) ?? 0) + times);
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
