import { sharedArray } from '../common-array.js';
import type { Point } from '../model/point.js';
import { putRowHash } from './content-hash.js';
import { SPARE_BYTES } from './records.js';
import {
  allocateAttributes,
  copyAttributes,
  putAttributes,
  type TailAttributes,
} from './tail-attributes.js';

/** A point's place in a tail: from 0, in the sequence in which points were accepted. */
export type TailRow = number & { readonly brand?: 'tail row' };

/**
 * The points that were accepted since a generation was made: columns and record bytes in memory
 * that threads share. One thread appends; all others see a row once the length says so.
 */
export interface Tail {
  /** One number: how many rows there are. Read it by {@link tailLength}. */
  readonly published: Int32Array;
  /**
   * The generation has all points that were accepted under numbers up to this one, or they are
   * settled. Rows have numbers above it.
   */
  readonly base: number;
  /** When the last of these was accepted, in microseconds since the epoch, where that is known. */
  readonly baseTime: number;
  /** Longitude and latitude of each row, in turn. */
  readonly coords: Float64Array;
  readonly id: Float64Array;
  /** Microseconds since the epoch. */
  readonly createdAt: Float64Array;
  readonly modifiedAt: Float64Array;
  /** As the dataset has them. */
  readonly rowHashes: Int32Array;
  /** Ascending: the numbers under which the points were accepted. */
  readonly sequence: Float64Array;
  /** Where each row's record ends in {@link bytes}. */
  readonly ends: Uint32Array;
  /** The rendered JSON of each row, end to end, then {@link SPARE_BYTES}. */
  readonly bytes: Uint8Array;
  /** The same memory, to be read in words. */
  readonly words: DataView;
  readonly attributes: TailAttributes;
}

/** Rows of a tail that are part of an answer. */
export interface TailMatches {
  readonly tail: Tail;
  /** Ascending. */
  readonly rows: Int32Array;
}

/** How much is in a tail, or can be. */
export interface TailSize {
  readonly rows: number;
  /** Of records. */
  readonly bytes: number;
}

/** An accepted point as a tail takes it. */
export interface AcceptedPoint {
  readonly sequence: number;
  readonly point: Point;
  /** The point's rendered JSON. */
  readonly record: Uint8Array;
}

/**
 * Makes an empty tail of a generation that has all points accepted up to the sequence `base`.
 * Memory is taken from the system only where something is written to it.
 */
export function createTail(capacity: TailSize, base = 0): Tail {
  return allocateTail(capacity, capacity.bytes, { base, baseTime: Number.NEGATIVE_INFINITY });
}

/**
 * Makes the tail of the generation that rows below `merged` of another tail have become part of: it
 * has all rows from `merged` on, and takes as much as a new one with these.
 */
export function continueTail(tail: Tail, merged: TailRow, capacity: TailSize): Tail {
  const length = tailLength(tail);
  const from = endOf(tail, merged - 1);
  const to = endOf(tail, length - 1);
  const next = allocateTail(capacity, capacity.bytes, {
    base: lastSequence(tail, merged),
    baseTime: lastTime(tail, merged),
  });
  next.coords.set(tail.coords.subarray(2 * merged, 2 * length));
  for (const column of ['id', 'createdAt', 'modifiedAt', 'sequence'] as const) {
    next[column].set(tail[column].subarray(merged, length));
  }
  next.rowHashes.set(tail.rowHashes.subarray(2 * merged, 2 * length));
  copyAttributes(next.attributes, tail.attributes, merged, length);
  next.bytes.set(tail.bytes.subarray(from, to));
  for (let row = merged; row < length; row++) next.ends[row - merged] = tail.ends[row]! - from;
  Atomics.store(next.published, 0, length - merged);
  return next;
}

/** How many rows every thread may read. Taken once, it is one state of the tail. */
export function tailLength({ published }: Tail): TailRow {
  return Atomics.load(published, 0);
}

/** The number under which the last of the rows below `length` was accepted, or the base. */
export function lastSequence({ base, sequence }: Tail, length: TailRow): number {
  return length === 0 ? base : Math.max(base, sequence[length - 1]!);
}

/** When the last of the rows below `length` was accepted, or the base, in microseconds. */
export function lastTime({ baseTime, createdAt }: Tail, length: TailRow): number {
  return length === 0 ? baseTime : createdAt[length - 1]!;
}

/** How much is in a tail. */
export function sizeOf(tail: Tail): TailSize {
  const rows = tailLength(tail);
  return { rows, bytes: endOf(tail, rows - 1) };
}

/** Whether a tail has room for so many rows, with so many bytes of records together. */
export function hasRoom(tail: Tail, { rows, bytes }: TailSize): boolean {
  const length = tailLength(tail);
  const end = endOf(tail, length - 1) + bytes;
  return length + rows <= tail.id.length && end <= tail.bytes.length - SPARE_BYTES;
}

/**
 * Adds points, which all threads see at once. Points whose sequence number the tail has passed are
 * in it already and are left out. For the one thread that writes. Throws when there is no room,
 * which {@link hasRoom} tells before.
 */
export function appendToTail(tail: Tail, points: readonly AcceptedPoint[]): void {
  let length = tailLength(tail);
  for (const { sequence, point, record } of points) {
    if (sequence <= lastSequence(tail, length)) continue;
    const at = endOf(tail, length - 1);
    if (length === tail.id.length || at + record.length > tail.bytes.length - SPARE_BYTES) {
      throw new Error(`Expected room in the tail after ${length} rows with ${at} bytes.`);
    }
    tail.coords[2 * length] = Number(point.lon);
    tail.coords[2 * length + 1] = Number(point.lat);
    tail.id[length] = point.id;
    tail.createdAt[length] = point.createdAt.micros;
    tail.modifiedAt[length] = point.modifiedAt.micros;
    tail.sequence[length] = sequence;
    putRowHash(tail.rowHashes, length, point.id, point.createdAt.micros);
    putAttributes(tail.attributes, length, point);
    tail.bytes.set(record, at);
    tail.ends[length] = at + record.length;
    length++;
  }
  Atomics.store(tail.published, 0, length);
}

/** A view of the record of a row. */
export function tailRecord(tail: Tail, row: TailRow): Uint8Array {
  return tail.bytes.subarray(endOf(tail, row - 1), tail.ends[row]);
}

/** The row below `length` that has the id; -1 where none does. */
export function tailRowOf({ id }: Tail, wanted: number, length: TailRow): TailRow {
  return id.subarray(0, length).lastIndexOf(wanted);
}

function endOf({ ends }: Tail, row: TailRow): number {
  return row < 0 ? 0 : ends[row]!;
}

/** `textBytes` is the room for texts, of which a row has no more than its record. */
function allocateTail(
  { rows, bytes }: TailSize,
  textBytes: number,
  place: Pick<Tail, 'base' | 'baseTime'>,
): Tail {
  const memory = new SharedArrayBuffer(bytes + SPARE_BYTES);
  return {
    published: sharedArray(Int32Array, 1),
    ...place,
    coords: sharedArray(Float64Array, 2 * rows),
    id: sharedArray(Float64Array, rows),
    createdAt: sharedArray(Float64Array, rows),
    modifiedAt: sharedArray(Float64Array, rows),
    sequence: sharedArray(Float64Array, rows),
    rowHashes: sharedArray(Int32Array, 2 * rows),
    ends: sharedArray(Uint32Array, rows),
    bytes: new Uint8Array(memory),
    words: new DataView(memory),
    attributes: allocateAttributes(rows, textBytes),
  };
}
