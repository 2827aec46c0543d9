import type { Row } from './row.js';

/** Rows a chunk of record bytes holds: with records of at most 256 KiB, 32 bits address a chunk. */
const CHUNK_BITS = 14;
const CHUNK_ROWS = 1 << CHUNK_BITS;
const COMMA = 0x2c;

/**
 * The rendered JSON of every record in row order, each followed by a comma, so that neighbouring rows
 * are one copy and a page needs no joining.
 */
export interface Records {
  readonly chunks: readonly Uint8Array[];
  /** Where each row's comma ends, counted from its chunk's start. */
  readonly ends: Uint32Array;
}

/** Lays out chunks for records of the given lengths (without commas), in row order. */
export function allocateRecords(lengths: Uint32Array): Records {
  const ends = new Uint32Array(lengths.length);
  const chunks: Uint8Array[] = [];
  for (let first = 0; first < lengths.length; first += CHUNK_ROWS) {
    const last = Math.min(first + CHUNK_ROWS, lengths.length);
    let end = 0;
    for (let row = first; row < last; row++) {
      end += lengths[row]! + 1;
      ends[row] = end;
    }
    chunks.push(new Uint8Array(end));
  }
  return { chunks, ends };
}

/**
 * Puts records, end to end in `source`, in their places. The first is number `first` of the snapshot;
 * number `i` has `lengths[i]` bytes and belongs to row `rows[i]`. Returns the number after the last.
 */
export function putRecords(
  records: Records,
  rows: Uint32Array,
  lengths: Uint32Array,
  source: Uint8Array,
  first: number,
): number {
  const { chunks, ends } = records;
  // made from the memory itself: the views of a Buffer are Buffers, and slow to make
  const { buffer, byteOffset, byteLength } = source;
  let from = byteOffset;
  let next = first;
  while (from < byteOffset + byteLength) {
    const row = rows[next]!;
    const length = lengths[next]!;
    const chunk = chunks[row >>> CHUNK_BITS]!;
    const comma = ends[row]! - 1;
    chunk.set(new Uint8Array(buffer, from, length), comma - length);
    chunk[comma] = COMMA;
    from += length;
    next++;
  }
  return next;
}

/** Bytes of a row's JSON, its comma included. */
export function recordSize(records: Records, row: Row): number {
  return records.ends[row]! - startOf(records, row);
}

/** Bytes of `count` rows, commas included. */
export function recordsSize(records: Records, rows: ArrayLike<Row>, count: number): number {
  let size = 0;
  for (let i = 0; i < count; i++) size += recordSize(records, rows[i]!);
  return size;
}

/** Copies `count` rows to `target` at `at`, each with its comma; returns where they end. */
export function copyRecords(
  records: Records,
  rows: ArrayLike<Row>,
  count: number,
  target: Uint8Array,
  at: number,
): number {
  let position = at;
  for (let i = 0; i < count; ) {
    const first = rows[i]!;
    let last = first;
    i++;
    // a run of neighbouring rows in one chunk is one copy
    while (i < count && rows[i] === last + 1 && ((last + 1) & (CHUNK_ROWS - 1)) !== 0) {
      last++;
      i++;
    }
    const from = startOf(records, first);
    const to = records.ends[last]!;
    target.set(records.chunks[first >>> CHUNK_BITS]!.subarray(from, to), position);
    position += to - from;
  }
  return position;
}

/** A view of one record's JSON, without its comma. */
export function recordBytes(records: Records, row: Row): Uint8Array {
  const chunk = records.chunks[row >>> CHUNK_BITS]!;
  return chunk.subarray(startOf(records, row), records.ends[row]! - 1);
}

function startOf(records: Records, row: Row): number {
  return (row & (CHUNK_ROWS - 1)) === 0 ? 0 : records.ends[row - 1]!;
}
