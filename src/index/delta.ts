import type { StoredRecord } from '../formats/record-layout.js';
import { sharedArray } from '../model/memory.js';
import type { Point } from '../model/point.js';
import { IMAGE, PROCESSED } from '../model/units.js';
import type { OrderKeys } from './orders.js';
import { bytesOf, endBefore, NOBODY } from './postings.js';
import { SPARE_BYTES } from './records.js';

/** A point's place in a delta, from 0, in the order in which points were accepted. */
export type DeltaRow = number & { readonly brand?: 'delta row' };

/**
 * The points that were accepted since a generation was made: columns and record bytes in shared
 * memory. One thread appends; all others see a row once {@link deltaLength} counts it.
 */
export interface Delta extends OrderKeys {
  /** One number, the rows that there are; {@link deltaLength} reads it. */
  readonly published: Int32Array;
  /** The generation has the points of all sequences up to this one; rows have greater ones. */
  readonly base: number;
  /** When the point of `base` was accepted, in microseconds since the epoch; else -Infinity. */
  readonly baseTime: number;
  readonly coords: Float64Array;
  /** The sequence of each row, ascending. */
  readonly sequence: Float64Array;
  readonly ends: Uint32Array;
  /** The stored records end to end, then {@link SPARE_BYTES}. */
  readonly bytes: Uint8Array;
  readonly words: DataView;
  /** {@link PROCESSED} and {@link IMAGE}. */
  readonly flags: Uint32Array;
  /** {@link NOBODY} where there is no user. */
  readonly createdBy: Float64Array;
  /** The status and, each behind a byte 0, tags as in JSON: no more bytes than the record has. */
  readonly texts: Uint8Array;
  readonly textEnds: Uint32Array;
}

/** Rows of a delta that are part of an answer. */
export interface DeltaMatches {
  readonly delta: Delta;
  /** Ascending. */
  readonly rows: Int32Array;
}

export interface DeltaSize {
  readonly rows: number;
  readonly bytes: number;
}

export interface AcceptedPoint {
  readonly sequence: number;
  readonly point: Point;
  readonly record: StoredRecord;
}

const COLUMNS = ['id', 'createdAt', 'modifiedAt', 'sequence', 'flags', 'createdBy'] as const;

/** Makes an empty delta. The system gives it memory only where something is written. */
export function createDelta(
  { rows, bytes }: DeltaSize,
  base = 0,
  baseTime: number = Number.NEGATIVE_INFINITY,
): Delta {
  const memory = new SharedArrayBuffer(bytes + SPARE_BYTES);
  return {
    published: sharedArray(Int32Array, 1),
    base,
    baseTime,
    coords: sharedArray(Float64Array, 2 * rows),
    id: sharedArray(Float64Array, rows),
    createdAt: sharedArray(Float64Array, rows),
    modifiedAt: sharedArray(Float64Array, rows),
    sequence: sharedArray(Float64Array, rows),
    ends: sharedArray(Uint32Array, rows),
    bytes: new Uint8Array(memory),
    words: new DataView(memory),
    flags: sharedArray(Uint32Array, rows),
    createdBy: sharedArray(Float64Array, rows),
    texts: new Uint8Array(new SharedArrayBuffer(bytes)),
    textEnds: sharedArray(Uint32Array, rows),
  };
}

/** Makes the delta of a merge of the rows below `merged`: it begins with the rows from there on. */
export function continueDelta(delta: Delta, merged: DeltaRow, capacity: DeltaSize): Delta {
  const length = deltaLength(delta);
  const { ends, textEnds } = delta;
  const next = createDelta(capacity, lastSequence(delta, merged), lastTime(delta, merged));
  for (const column of COLUMNS) next[column].set(delta[column].subarray(merged, length));
  next.coords.set(delta.coords.subarray(2 * merged, 2 * length));
  const [from, textFrom] = [endBefore(ends, merged), endBefore(textEnds, merged)];
  next.bytes.set(delta.bytes.subarray(from, endBefore(ends, length)));
  next.texts.set(delta.texts.subarray(textFrom, endBefore(textEnds, length)));
  for (let row = merged; row < length; row++) {
    next.ends[row - merged] = ends[row]! - from;
    next.textEnds[row - merged] = textEnds[row]! - textFrom;
  }
  Atomics.store(next.published, 0, length - merged);
  return next;
}

/** The rows that every thread may read. Whoever takes it once has one state of the delta. */
export function deltaLength({ published }: Delta): DeltaRow {
  return Atomics.load(published, 0);
}

/** The sequence of the last of the rows below `length`, or the base. */
export function lastSequence({ base, sequence }: Delta, length: DeltaRow): number {
  return length === 0 ? base : Math.max(base, sequence[length - 1]!);
}

/** When the last of the rows below `length`, or the base, was accepted, in microseconds. */
export function lastTime({ baseTime, createdAt }: Delta, length: DeltaRow): number {
  return length === 0 ? baseTime : createdAt[length - 1]!;
}

export function sizeOf(delta: Delta): DeltaSize {
  const rows = deltaLength(delta);
  return { rows, bytes: endBefore(delta.ends, rows) };
}

/** Whether a delta has room for `rows` more rows, with `bytes` bytes of records. */
export function hasRoom(delta: Delta, { rows, bytes }: DeltaSize): boolean {
  const length = deltaLength(delta);
  const end = endBefore(delta.ends, length) + bytes;
  return length + rows <= delta.id.length && end <= delta.bytes.length - SPARE_BYTES;
}

/**
 * Adds points, which all threads see at once, but those whose sequence the delta has passed: it has
 * them. Only one thread may call this. Throws where there is no room; {@link hasRoom} tells before.
 */
export function appendToDelta(delta: Delta, points: readonly AcceptedPoint[]): void {
  let length = deltaLength(delta);
  for (const { sequence, point, record } of points) {
    if (sequence <= lastSequence(delta, length)) continue;
    const at = endBefore(delta.ends, length);
    if (length === delta.id.length || at + record.length > delta.bytes.length - SPARE_BYTES) {
      throw new Error(`Expected room in the delta after ${length} rows with ${at} bytes.`);
    }
    delta.coords[2 * length] = Number(point.lon);
    delta.coords[2 * length + 1] = Number(point.lat);
    delta.id[length] = point.id;
    delta.createdAt[length] = point.createdAt.micros;
    delta.modifiedAt[length] = point.modifiedAt.micros;
    delta.sequence[length] = sequence;
    putAttributes(delta, length, point);
    delta.bytes.set(record, at);
    delta.ends[length] = at + record.length;
    length++;
  }
  Atomics.store(delta.published, 0, length);
}

export function deltaRecord(delta: Delta, row: DeltaRow): StoredRecord {
  return delta.bytes.subarray(endBefore(delta.ends, row), delta.ends[row]);
}

/** The row below `length` that has the id; -1 where none does. */
export function deltaRowOf({ id }: Delta, wanted: number, length: DeltaRow): DeltaRow {
  return id.subarray(0, length).lastIndexOf(wanted);
}

function putAttributes(
  { flags, createdBy, texts, textEnds }: Delta,
  row: DeltaRow,
  { status, isProcessed, image, tags, createdBy: user }: Point,
): void {
  flags[row] = (isProcessed ? PROCESSED : 0) | (image === undefined ? 0 : IMAGE);
  createdBy[row] = user ?? NOBODY;
  let end = endBefore(textEnds, row);
  for (const [i, text] of [status, ...(tags ?? [])].entries()) {
    const bytes = bytesOf(text);
    if (i > 0) texts[end++] = 0;
    texts.set(bytes, end);
    end += bytes.length;
  }
  textEnds[row] = end;
}
