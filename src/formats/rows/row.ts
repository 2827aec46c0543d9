import type { Problem } from '../../model/point.js';
import { MAX_RECORD_BYTES } from '../block.js';

/**
 * A record as its file has it, not validated yet, or a `RenderedPoint`; or why not even that could
 * be read.
 */
export type Row =
  | { readonly place: number; readonly value: unknown; readonly problem?: never }
  | { readonly place: number; readonly problem: Problem };

/**
 * Turns the bytes of a file, gunzipped, into rows: one batch for each chunk, in the order of the
 * file. `place` is the line in formats of lines, else the number of the record, both from 1. Throws
 * {@link BrokenRows} where no way leads on. `onPage` hears at the end why the file is a page of a
 * longer list, if it is.
 */
export type RowParser = (
  chunks: AsyncIterable<Uint8Array>,
  onPage?: OnPage,
) => AsyncGenerator<Row[]>;

export type OnPage = (why: string) => void;

/**
 * Nothing more can be read from this input. The message does not name the file: its reader does.
 */
export class BrokenRows extends Error {
  override readonly name = 'BrokenRows';
}

/**
 * What one record may take in its file, which bounds memory. More than it may take once rendered:
 * escapes and white space are longer there.
 */
export const MAX_RAW_BYTES: number = 8 * (MAX_RECORD_BYTES + 1);

export const TOO_LONG: Problem = {
  field: 'record',
  reason: `is longer than ${MAX_RAW_BYTES} bytes`,
};

/** Why bytes are no text, with the cure: most likely they are Latin-1. */
export const NOT_UTF8 = 'is not valid UTF-8; save the file as UTF-8';

const BOM = [0xef, 0xbb, 0xbf] as const;

/** Text without the byte order mark of UTF-8 that some programs put before it. */
export function withoutBom(bytes: Uint8Array): Uint8Array {
  return BOM.every((byte, index) => bytes[index] === byte) ? bytes.subarray(BOM.length) : bytes;
}

/** Whether there is nothing but spaces, tabs and line ends. */
export function isBlank(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (!isSpace(byte)) return false;
  return true;
}

export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
