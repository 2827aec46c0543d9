import type { Point } from '../model/point.js';
import { IMAGE, PROCESSED } from '../model/units.js';
import { NOBODY } from './postings.js';
import { sharedArray } from './shared-array.js';
import { bytesOf } from './texts.js';

/** What filters may ask of the rows of a delta besides place and times, in shared memory. */
export interface DeltaAttributes {
  /** {@link PROCESSED} and {@link IMAGE}. */
  readonly flags: Uint32Array;
  /** {@link NOBODY} where there is no user. */
  readonly createdBy: Float64Array;
  /**
   * The status of each row and, each behind a byte 0, its tags; as JSON has texts between its
   * quotes, where no byte is 0.
   */
  readonly texts: Uint8Array;
  /** Where the texts of each row end. */
  readonly textEnds: Uint32Array;
}

export function allocateAttributes(rows: number, textBytes: number): DeltaAttributes {
  return {
    flags: sharedArray(Uint32Array, rows),
    createdBy: sharedArray(Float64Array, rows),
    texts: new Uint8Array(new SharedArrayBuffer(textBytes)),
    textEnds: sharedArray(Uint32Array, rows),
  };
}

/** Writes the attributes of a row; those of the rows before are there. */
export function putAttributes(
  { flags, createdBy, texts, textEnds }: DeltaAttributes,
  row: number,
  { status, isProcessed, image, tags, createdBy: user }: Point,
): void {
  flags[row] = (isProcessed ? PROCESSED : 0) | (image === undefined ? 0 : IMAGE);
  createdBy[row] = user ?? NOBODY;
  let end = row === 0 ? 0 : textEnds[row - 1]!;
  for (const [i, text] of [status, ...(tags ?? [])].entries()) {
    const bytes = bytesOf(text);
    if (i > 0) texts[end++] = 0;
    texts.set(bytes, end);
    end += bytes.length;
  }
  textEnds[row] = end;
}

/** Copies rows `first` to `length - 1` to the beginning of `next`. */
export function copyAttributes(
  next: DeltaAttributes,
  { flags, createdBy, texts, textEnds }: DeltaAttributes,
  first: number,
  length: number,
): void {
  const start = endBefore(textEnds, first);
  next.flags.set(flags.subarray(first, length));
  next.createdBy.set(createdBy.subarray(first, length));
  next.texts.set(texts.subarray(start, endBefore(textEnds, length)));
  for (let row = first; row < length; row++) next.textEnds[row - first] = textEnds[row]! - start;
}

function endBefore(ends: Uint32Array, row: number): number {
  return row === 0 ? 0 : ends[row - 1]!;
}
