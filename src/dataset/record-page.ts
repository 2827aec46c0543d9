import { MAX_RECORD_BYTES } from '../snapshot/block.js';
import type { Records } from './records.js';
import type { Row } from './row.js';
import type { Tail } from './tail.js';

const CACHE_LINE = 64;
const COMMA = 0x2c;
/** Bytes that are copied at a time. */
const STRIDE = 32;

/** Room for the longest record, and for a page of ordinary ones. */
const STAGE_BYTES = MAX_RECORD_BYTES + 64 * 1024;

/** Where records are: row `i` of a page is in chunk `rows[i] >>> chunkBits`. */
type Chunks = Pick<Records, 'chunkBits' | 'chunks' | 'words'>;

/** The records of a page, found and on their way to the processor. */
export interface FetchedPage {
  readonly records: Chunks;
  readonly rows: ArrayLike<Row>;
  readonly count: number;
  /** Start and end of each record in turn, counted from the start of its chunk. */
  readonly places: Int32Array;
  /** Bytes of all records with commas between them. */
  readonly size: number;
}

/**
 * Finds the records of `count` rows and gets them into the processor's cache. Offsets and records
 * have a loop each, whose loads depend neither on each other nor on a branch: they wait for memory
 * together, where copies would wait one by one. A page of scattered records takes half the time
 * then; bench/page-copy.ts shows it.
 */
export function fetchPage(records: Records, rows: ArrayLike<Row>, count: number): FetchedPage {
  const { chunkBits, ends } = records;
  const placeMask = (1 << chunkBits) - 1;
  const places = new Int32Array(2 * count);
  let size = Math.max(0, count - 1);
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const start = (row & placeMask) === 0 ? 0 : ends[row - 1]!;
    const end = ends[row]!;
    places[2 * i] = start;
    places[2 * i + 1] = end;
    size += end - start;
  }
  const page = { records, rows, count, places, size };
  fetchRuns(page);
  return page;
}

/** The same for a page with rows of a tail: row `total + i` is row `i` of it. */
export function fetchMixedPage(
  { chunks, chunkBits, words, ends }: Records,
  total: number,
  tail: Tail,
  rows: ArrayLike<Row>,
  count: number,
): FetchedPage {
  const placeMask = (1 << chunkBits) - 1;
  const places = new Int32Array(2 * count);
  // the records of the tail are one more chunk
  const tailChunk = chunks.length * 2 ** chunkBits;
  const mixed = new Uint32Array(count);
  let size = Math.max(0, count - 1);
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const isTail = row >= total;
    const at = isTail ? row - total : row;
    const from = isTail ? tail.ends : ends;
    const start = at === 0 || (!isTail && (row & placeMask) === 0) ? 0 : from[at - 1]!;
    mixed[i] = isTail ? tailChunk : row;
    places[2 * i] = start;
    places[2 * i + 1] = from[at]!;
    size += from[at]! - start;
  }
  const both = { chunkBits, chunks: [...chunks, tail.bytes], words: [...words, tail.words] };
  const page = { records: both, rows: mixed, count, places, size };
  fetchRuns(page);
  return page;
}

function fetchRuns(page: FetchedPage): void {
  const { records, rows, count, places } = page;
  for (let from = 0; from < count; ) {
    const to = endOfRun(page, from);
    fetchLines(records.chunks[rows[from]! >>> records.chunkBits]!, places, from, to);
    from = to;
  }
}

/** The end of the records from `from` on that lie in one chunk. */
function endOfRun({ records: { chunkBits }, rows, count }: FetchedPage, from: number): number {
  const chunk = rows[from]! >>> chunkBits;
  let to = from + 1;
  while (to < count && rows[to]! >>> chunkBits === chunk) to++;
  return to;
}

/**
 * Reads a byte of the first five cache lines and of the last of records `from` to `to - 1` of the
 * page.
 */
function fetchLines(chunk: Uint8Array, places: Int32Array, from: number, to: number): void {
  let mixed = 0;
  for (let i = from; i < to; i++) {
    const at = places[2 * i]!;
    // nine records of ten have no more lines, and behind the last record there is room
    mixed ^= chunk[at]! ^ chunk[at + CACHE_LINE]! ^ chunk[at + 2 * CACHE_LINE]!;
    mixed ^= chunk[at + 3 * CACHE_LINE]! ^ chunk[at + 4 * CACHE_LINE]! ^ chunk[places[2 * i + 1]!]!;
  }
  // never true of bytes; without a use of `mixed` the compiler would leave the loads out
  if (mixed > 255) throw new Error('Expected bytes.');
}

/** The bytes of record `index` of a page. */
export function fetchedRecord(page: FetchedPage, index: number): Uint8Array {
  return memoryOf(page, index).subarray(page.places[2 * index], page.places[2 * index + 1]);
}

/** Bytes of the longest record of a page. */
export function longestRecord({ places, count }: FetchedPage): number {
  let longest = 0;
  for (let i = 0; i < count; i++) longest = Math.max(longest, places[2 * i + 1]! - places[2 * i]!);
  return longest;
}

/** Copies pages. */
export interface PageCopier {
  /** Copies a page to `target` at `at`, commas between its records; returns where the page ends. */
  copy(page: FetchedPage, target: Uint8Array, at: number): number;
}

/**
 * Makes a copier with memory of its own, the stage. Pages are put together in the stage and go to
 * their targets in one piece: a target is cold, since its memory is that of a page that was sent a
 * while ago, and records that are copied in words go beyond their ends.
 */
export function createPageCopier(): PageCopier {
  const stage = new Uint8Array(STAGE_BYTES);
  const stageWords = new DataView(stage.buffer);

  /**
   * Copies records `from` to `to - 1` of the page, all of one chunk, a comma before each but the
   * page's first; returns where they end. Records are copied by words of eight bytes: `set` and
   * `copyWithin` go byte by byte where memory is shared, and need a view of each record. The last
   * words of a record bring bytes of the next record with them, which the next copy overwrites.
   */
  function copyRun(
    words: DataView,
    places: Int32Array,
    from: number,
    to: number,
    target: Uint8Array,
    at: number,
  ): number {
    let position = at;
    let end = 0;
    for (let i = from; i < to; i++) {
      const recordAt = places[2 * i]!;
      const recordEnd = places[2 * i + 1]!;
      if (end + 1 + recordEnd - recordAt + STRIDE > STAGE_BYTES) {
        position = unload(end, target, position);
        end = 0;
      }
      if (i > 0) stage[end++] = COMMA;
      const move = end - recordAt;
      // words are read as floats, since integers of 64 bits are objects; no UTF-8 text has the
      // bytes of a NaN. The farthest word goes first, so that one check of bounds stands for four
      for (let word = recordAt; word < recordEnd; word += STRIDE) {
        const fourth = words.getFloat64(word + 24, true);
        const third = words.getFloat64(word + 16, true);
        const second = words.getFloat64(word + 8, true);
        const first = words.getFloat64(word, true);
        stageWords.setFloat64(word + move + 24, fourth, true);
        stageWords.setFloat64(word + move + 16, third, true);
        stageWords.setFloat64(word + move + 8, second, true);
        stageWords.setFloat64(word + move, first, true);
      }
      end = recordEnd + move;
    }
    return unload(end, target, position);
  }

  /** Copies the first `end` bytes of the stage; returns where they end in `target`. */
  function unload(end: number, target: Uint8Array, at: number): number {
    target.set(stage.subarray(0, end), at);
    return at + end;
  }

  return {
    copy(page, target, at) {
      const { records, rows, count, places } = page;
      let position = at;
      for (let from = 0; from < count; ) {
        const to = endOfRun(page, from);
        const words = records.words[rows[from]! >>> records.chunkBits]!;
        position = copyRun(words, places, from, to, target, position);
        from = to;
      }
      return position;
    },
  };
}

/** The memory that has a record of a page, at the places that the page says. */
export function memoryOf({ records, rows }: FetchedPage, index: number): Uint8Array {
  return records.chunks[rows[index]! >>> records.chunkBits]!;
}

/** The same memory, to be read in words. */
export function wordsOf({ records, rows }: FetchedPage, index: number): DataView {
  return records.words[rows[index]! >>> records.chunkBits]!;
}
