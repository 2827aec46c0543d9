import { hash } from 'node:crypto';
import type { PointBlock } from '../formats/block.js';
import { release, sharedArray, viewOf } from '../model/memory.js';
import type { Row } from './order.js';

/** Rows of a chunk as a power of two: as many of the largest records fit one memory. */
export const CHUNK_BITS = 12;
export const CHUNK_ROWS: number = 1 << CHUNK_BITS;
/** The most bytes of one memory: positions in it should be V8's small integers. */
const MOST_BYTES = 2 ** 30;
/** Bytes behind the records: pages are read in words, and may go too far. */
export const SPARE_BYTES = 512;

/**
 * The stored records, end to end in row order as in packed files, from which runs of rows are read
 * straight to their place. A merge shares the memories of the rows that stay and adds new ones.
 */
export interface Records {
  /** Records, then {@link SPARE_BYTES}, in shared memory. */
  readonly memories: readonly Uint8Array[];
  readonly words: readonly DataView[];
  readonly memoryOf: Uint32Array;
  /** The start of each chunk's first record in its memory. */
  readonly starts: Uint32Array;
  /** The end of each record in its memory. */
  readonly ends: Uint32Array;
}

const NO_RECORDS: Records = {
  ...{ memories: [], words: [], memoryOf: new Uint32Array(0) },
  ...{ starts: new Uint32Array(0), ends: new Uint32Array(0) },
};

/**
 * Makes memory for records of the given lengths, in row order, from row `first` on, which begins a
 * chunk. The rows before stay where `former` has them.
 */
export function allocateRecords(
  lengths: Uint32Array,
  former: Records = NO_RECORDS,
  first: Row = 0,
  mostBytes: number = MOST_BYTES,
): Records {
  const count = first + lengths.length;
  const kept = first >>> CHUNK_BITS;
  const chunks = Math.ceil(count / CHUNK_ROWS);
  const memoryOf = sharedArray(Uint32Array, chunks);
  const starts = sharedArray(Uint32Array, chunks);
  const ends = sharedArray(Uint32Array, count);
  memoryOf.set(former.memoryOf.subarray(0, kept));
  starts.set(former.starts.subarray(0, kept));
  ends.set(former.ends.subarray(0, first));
  // memories are used in the order of their rows
  const own = kept === 0 ? 0 : memoryOf[kept - 1]! + 1;
  const sizes: number[] = [];
  for (let chunk = kept; chunk < chunks; chunk++) {
    const from = (chunk << CHUNK_BITS) - first;
    const bytes = lengths.subarray(from, from + CHUNK_ROWS).reduce((sum, one) => sum + one, 0);
    if (sizes.length === 0 || sizes.at(-1)! + bytes > mostBytes) sizes.push(0);
    let end = sizes.at(-1)!;
    memoryOf[chunk] = own + sizes.length - 1;
    starts[chunk] = end;
    sizes[sizes.length - 1] = end + bytes;
    for (let i = from; i < Math.min(from + CHUNK_ROWS, lengths.length); i++) {
      end += lengths[i]!;
      ends[first + i] = end;
    }
  }
  const memory = sizes.map((size) => new SharedArrayBuffer(size + SPARE_BYTES));
  return {
    memories: [...former.memories.slice(0, own), ...memory.map((one) => new Uint8Array(one))],
    words: [...former.words.slice(0, own), ...memory.map((one) => new DataView(one))],
    ...{ memoryOf, starts, ends },
  };
}

/** Puts the records of blocks in their rows; gives the memory of each block back. */
export function placeRecords(
  blocks: readonly PointBlock[],
  length: Uint32Array,
  rowOf: Uint32Array,
): Records {
  const lengths = new Uint32Array(rowOf.length);
  for (let i = 0; i < rowOf.length; i++) lengths[rowOf[i]!] = length[i]!;
  const records = allocateRecords(lengths);
  release(length, lengths);
  let next = 0;
  for (const { count, records: bytes } of blocks) {
    putRecords(records, rowOf.subarray(next, next + count), bytes);
    next += count;
    release(bytes);
  }
  return records;
}

/** Puts records, which stand end to end, in the given rows. */
export function putRecords(records: Records, rows: Uint32Array, bytes: Uint8Array): void {
  const { memoryOf, words } = records;
  const source = viewOf(bytes);
  let from = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const to = from + recordLength(records, row);
    const target = words[memoryOf[row >>> CHUNK_BITS]!]!;
    copyWords(source, from, to, target, recordStart(records, row));
    from = to;
  }
}

/**
 * Copies bytes `from` to `to - 1`, 8 at least, in words, in half the time of a view of them and
 * `set`; the last word may overlap the one before. The words may be floats, since no stored record
 * has the bytes of a NaN.
 */
function copyWords(source: DataView, from: number, to: number, target: DataView, at: number): void {
  const move = at - from;
  for (let byte = from; byte < to - 8; byte += 8) {
    target.setFloat64(byte + move, source.getFloat64(byte, true), true);
  }
  target.setFloat64(to - 8 + move, source.getFloat64(to - 8, true), true);
}

/** The records of rows `from` to `to - 1`, cut only where a memory ends. */
export function stretchOf(records: Records, from: Row, to: Row): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let first = from; first < to; ) {
    const memory = memoryOf(records, first);
    let next = first;
    do next = Math.min(((next >>> CHUNK_BITS) + 1) << CHUNK_BITS, to);
    while (next < to && memoryOf(records, next) === memory);
    pieces.push(memory.subarray(recordStart(records, first), records.ends[next - 1]));
    first = next;
  }
  return pieces;
}

export function recordAt(records: Records, row: Row): Uint8Array {
  return memoryOf(records, row).subarray(recordStart(records, row), records.ends[row]);
}

export function recordLength(records: Records, row: Row): number {
  return records.ends[row]! - recordStart(records, row);
}

export function recordStart({ starts, ends }: Records, row: Row): number {
  return (row & (CHUNK_ROWS - 1)) === 0 ? starts[row >>> CHUNK_BITS]! : ends[row - 1]!;
}

function memoryOf({ memories, memoryOf }: Records, row: Row): Uint8Array {
  return memories[memoryOf[row >>> CHUNK_BITS]!]!;
}

export interface Hash {
  readonly low: number;
  readonly high: number;
}

export function hashBytes(bytes: Uint8Array): Hash {
  const digest = hash('sha256', bytes, 'buffer');
  return { low: digest.readUInt32LE(0), high: digest.readUInt32LE(4) };
}

/** Brings high bits down: the low bits of a product depend on the low bits of its factors alone. */
export function rotated(bits: number): number {
  return (bits << 15) | (bits >>> 17);
}

/** Values of {@link thinningOf}. */
export const THINNING_VALUES: number = 1 << 16;

/** A hash of 32 bits, by which points are thinned out. Ids below 2^32 have distinct ones. */
export function hashId(id: number): number {
  let hash = (id >>> 0) ^ Math.imul(Math.floor(id / 2 ** 32), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The upper half of the {@link hashId} of each row; some 5 ns a row. */
export function thinningOf(ids: Float64Array): Uint16Array {
  const halves = sharedArray(Uint16Array, ids.length);
  for (let row = 0; row < ids.length; row++) halves[row] = hashId(ids[row]!) >>> 16;
  return halves;
}
