import type { Row } from './row.js';

/**
 * Rows of a chunk are a power of two. Large chunks are mapped and unmapped by the system, where small ones
 * would stay with the process when they are freed; but positions in them should be small integers.
 */
const MOST_CHUNK_BITS = 20;
const MOST_CHUNK_BYTES = 2 ** 30;
/** Records of the largest size still have positions below 2^32. */
const LEAST_CHUNK_BITS = 14;
const COMMA = 0x2c;

/**
 * The rendered JSON of every record in row order, end to end as files have them, so that a run of rows is
 * read straight to its place.
 */
export interface Records {
  /** A chunk holds 2^`chunkBits` rows, the last one what is left. */
  readonly chunkBits: number;
  readonly chunks: readonly Uint8Array[];
  /** Where each row's record ends, counted from its chunk's start. */
  readonly ends: Uint32Array;
}

/** Lays out chunks of at most 2^`mostBits` rows for records of the given lengths, in row order. */
export function allocateRecords(lengths: Uint32Array, mostBits: number = MOST_CHUNK_BITS): Records {
  for (let chunkBits = mostBits; ; chunkBits--) {
    const ends = new Uint32Array(lengths.length);
    const sizes = measureChunks(lengths, ends, 1 << chunkBits);
    if (chunkBits > LEAST_CHUNK_BITS && sizes.some((size) => size > MOST_CHUNK_BYTES)) continue;
    return { chunkBits, chunks: sizes.map((size) => new Uint8Array(size)), ends };
  }
}

/** Fills in `ends` for chunks of so many rows; returns their sizes. */
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

/** The memory of rows `from` to `to - 1`: their records, end to end, cut only where a chunk ends. */
export function stretchOf(records: Records, from: Row, to: Row): Uint8Array[] {
  const { chunkBits, chunks, ends } = records;
  const pieces: Uint8Array[] = [];
  for (let first = from; first < to; ) {
    const chunk = first >>> chunkBits;
    const next = Math.min((chunk + 1) << chunkBits, to);
    pieces.push(chunks[chunk]!.subarray(startOf(records, first), ends[next - 1]));
    first = next;
  }
  return pieces;
}

const CACHE_LINE = 64;

/**
 * Bytes of `count` rows, each with a comma. On the way it reads a byte of each cache line: loads that do not
 * depend on each other wait for memory together, where the copies that follow would wait one by one. A page
 * of scattered records takes a third of the time so; bench/page-copy.ts shows it.
 */
export function fetchRecords(records: Records, rows: ArrayLike<Row>, count: number): number {
  const { chunkBits, chunks, ends } = records;
  let size = 0;
  let mixed = 0;
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const chunk = chunks[row >>> chunkBits]!;
    const end = ends[row]!;
    const start = startOf(records, row);
    let at = start;
    // the usual four or five lines without a loop, whose end would be mispredicted for every record
    if (end - start > 4 * CACHE_LINE) {
      mixed ^= chunk[at]! ^ chunk[at + CACHE_LINE]!;
      mixed ^= chunk[at + 2 * CACHE_LINE]! ^ chunk[at + 3 * CACHE_LINE]!;
      at += 4 * CACHE_LINE;
    }
    for (; at < end; at += CACHE_LINE) mixed ^= chunk[at]!;
    mixed ^= chunk[end - 1]!;
    size += end - start + 1;
  }
  // never so with bytes, which a compiler does not know: it would leave out loads that nobody uses
  if (mixed > 255) throw new Error('Expected bytes.');
  return size;
}

/** Copies `count` rows to `target` at `at`, a comma behind each; returns where they end. */
export function copyRecords(
  records: Records,
  rows: ArrayLike<Row>,
  count: number,
  target: Uint8Array,
  at: number,
): number {
  let position = at;
  for (let i = 0; i < count; i++) {
    const bytes = recordBytes(records, rows[i]!);
    target.set(bytes, position);
    position += bytes.length;
    target[position++] = COMMA;
  }
  return position;
}

/** A view of one record's JSON. */
export function recordBytes(records: Records, row: Row): Uint8Array {
  const chunk = records.chunks[row >>> records.chunkBits]!;
  return chunk.subarray(startOf(records, row), records.ends[row]);
}

function startOf(records: Records, row: Row): number {
  return (row & ((1 << records.chunkBits) - 1)) === 0 ? 0 : records.ends[row - 1]!;
}
