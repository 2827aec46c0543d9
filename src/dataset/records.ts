import { sharedArray } from '../common-array.js';
import type { Row } from './row.js';

/**
 * Rows of a chunk are a power of two. Large chunks are mapped and unmapped by the system, where
 * small ones would stay with the process when they are freed; but positions in them should be small
 * integers.
 */
const MOST_CHUNK_BITS = 20;
const MOST_CHUNK_BYTES = 2 ** 30;
/** 2^`LEAST_CHUNK_BITS` records of the largest size fit {@link MOST_CHUNK_BYTES}. */
const LEAST_CHUNK_BITS = 12;
/** Memory behind the records of a chunk, so that reading a page may go too far. */
export const SPARE_BYTES = 512;

/**
 * The rendered JSON of every record in row order, end to end as files have them, so that a run of
 * rows is read straight to its place.
 */
export interface Records {
  /** A chunk holds 2^`chunkBits` rows, the last one what is left. */
  readonly chunkBits: number;
  /** Records, then {@link SPARE_BYTES}, in memory that threads share. */
  readonly chunks: readonly Uint8Array[];
  /** The same memory, to be read in words. */
  readonly words: readonly DataView[];
  /** Where each row's record ends, counted from its chunk's start. */
  readonly ends: Uint32Array;
}

/** Lays out chunks of at most 2^`mostBits` rows for records of the given lengths, in row order. */
export function allocateRecords(lengths: Uint32Array, mostBits: number = MOST_CHUNK_BITS): Records {
  for (let chunkBits = mostBits; ; chunkBits--) {
    const ends = sharedArray(Uint32Array, lengths.length);
    const sizes = measureChunks(lengths, ends, 1 << chunkBits);
    if (chunkBits > LEAST_CHUNK_BITS && sizes.some((size) => size > MOST_CHUNK_BYTES)) continue;
    const memory = sizes.map((size) => new SharedArrayBuffer(size + SPARE_BYTES));
    return {
      chunkBits,
      chunks: memory.map((chunk) => new Uint8Array(chunk)),
      words: memory.map((chunk) => new DataView(chunk)),
      ends,
    };
  }
}

/** Fills in `ends` for chunks of `chunkRows` rows; returns the bytes of each chunk. */
function measureChunks(lengths: Uint32Array, ends: Uint32Array, chunkRows: number): number[] {
  const sizes: number[] = [];
  for (let first = 0; first < lengths.length; first += chunkRows) {
    const last = Math.min(first + chunkRows, lengths.length);
    let end = 0;
    for (let row = first; row < last; row++) {
      end += lengths[row]!;
      ends[row] = end;
    }
    sizes.push(end);
  }
  return sizes;
}

/**
 * Puts records, end to end in `source`, in their places. The first is number `first` of the
 * snapshot; number `i` has `lengths[i]` bytes and belongs to row `rows[i]`. Returns the number
 * after the last.
 */
export function putRecords(
  records: Records,
  rows: Uint32Array,
  lengths: Uint32Array,
  source: Uint8Array,
  first: number,
): number {
  const { chunkBits, chunks, ends } = records;
  // made from the memory itself: the views of a Buffer are Buffers, and slow to make
  const { buffer, byteOffset, byteLength } = source;
  let from = byteOffset;
  let next = first;
  while (from < byteOffset + byteLength) {
    const row = rows[next]!;
    const length = lengths[next]!;
    chunks[row >>> chunkBits]!.set(new Uint8Array(buffer, from, length), ends[row]! - length);
    from += length;
    next++;
  }
  return next;
}

/**
 * The memory of rows `from` to `to - 1`: their records, end to end, cut only where a chunk ends.
 */
export function stretchOf(records: Records, from: Row, to: Row): Uint8Array[] {
  const { chunkBits, chunks, ends } = records;
  const pieces: Uint8Array[] = [];
  for (let first = from; first < to; ) {
    const chunk = first >>> chunkBits;
    const next = Math.min((chunk + 1) << chunkBits, to);
    pieces.push(chunks[chunk]!.subarray(recordStart(records, first), ends[next - 1]));
    first = next;
  }
  return pieces;
}

/** A view of one record's JSON. */
export function recordBytes(records: Records, row: Row): Uint8Array {
  const chunk = records.chunks[row >>> records.chunkBits]!;
  return chunk.subarray(recordStart(records, row), records.ends[row]);
}

/** Bytes of one record. */
export function recordLength(records: Records, row: Row): number {
  return records.ends[row]! - recordStart(records, row);
}

/** Where a record begins in its chunk. */
export function recordStart(records: Records, row: Row): number {
  return (row & ((1 << records.chunkBits) - 1)) === 0 ? 0 : records.ends[row - 1]!;
}
