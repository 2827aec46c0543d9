import { type Records, STAGE_BYTES } from './records.js';
import type { Row } from './row.js';

const CACHE_LINE = 64;
const COMMA = 0x2c;

/** The records of a page, found and on their way to the processor. */
export interface FetchedPage {
  readonly records: Records;
  readonly rows: ArrayLike<Row>;
  readonly count: number;
  /** Start and end of each record in turn, counted from the start of its chunk. */
  readonly places: Int32Array;
  /** Bytes of all records with commas between them. */
  readonly size: number;
}

/**
 * Finds the records of `count` rows and gets them into the processor's cache. Each kind of memory has a loop of its own,
 * of loads that do not depend on each other and no branch to mispredict: so they wait for memory together,
 * where the copies that follow would wait one by one. A page of scattered records takes half the time so;
 * bench/page-copy.ts shows it.
 */
export function fetchPage(records: Records, rows: ArrayLike<Row>, count: number): FetchedPage {
  const { chunks, chunkBits, ends } = records;
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
  for (let from = 0; from < count; ) {
    const to = endOfRun(page, from);
    fetchLines(chunks[rows[from]! >>> chunkBits]!, places, from, to);
    from = to;
  }
  return page;
}

/** Copies a page to `target` at `at`, commas between its records; returns where it ends. */
export function copyPage(page: FetchedPage, target: Uint8Array, at: number): number {
  const { records, rows, count, places } = page;
  let position = at;
  for (let from = 0; from < count; ) {
    const to = endOfRun(page, from);
    const chunk = records.chunks[rows[from]! >>> records.chunkBits]!;
    position =
      to === from + 1
        ? copyOne(chunk, places, from, target, position)
        : copyRun(chunk, places, from, to, target, position);
    from = to;
  }
  return position;
}

/** The end of the records from `from` on that lie in one chunk. */
function endOfRun({ records: { chunkBits }, rows, count }: FetchedPage, from: number): number {
  const chunk = rows[from]! >>> chunkBits;
  let to = from + 1;
  while (to < count && rows[to]! >>> chunkBits === chunk) to++;
  return to;
}

/** Reads a byte of the first five cache lines and of the last of records `from` to `to - 1` of the page. */
function fetchLines(chunk: Uint8Array, places: Int32Array, from: number, to: number): void {
  let mixed = 0;
  for (let i = from; i < to; i++) {
    const at = places[2 * i]!;
    // nine records of ten have no more lines, and behind the last record there is the stage
    mixed ^= chunk[at]! ^ chunk[at + CACHE_LINE]! ^ chunk[at + 2 * CACHE_LINE]!;
    mixed ^= chunk[at + 3 * CACHE_LINE]! ^ chunk[at + 4 * CACHE_LINE]! ^ chunk[places[2 * i + 1]!]!;
  }
  // never so with bytes, which a compiler does not know: it would leave out loads that nobody uses
  if (mixed > 255) throw new Error('Expected bytes.');
}

/**
 * Copies records `from` to `to - 1` of the page, all of one chunk, a comma before each but the page's first; returns
 * where they end. They are put together in the chunk itself: to copy within an array no view must be made,
 * which costs as much as the copy.
 */
function copyRun(
  chunk: Uint8Array,
  places: Int32Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  const stage = chunk.length - STAGE_BYTES;
  let position = at;
  let end = stage;
  for (let i = from; i < to; i++) {
    const start = places[2 * i]!;
    const length = places[2 * i + 1]! - start;
    if (end + length >= chunk.length) {
      target.set(chunk.subarray(stage, end), position);
      position += end - stage;
      end = stage;
      if (length >= STAGE_BYTES) {
        position = copyOne(chunk, places, i, target, position);
        continue;
      }
    }
    if (i > 0) chunk[end++] = COMMA;
    chunk.copyWithin(end, start, start + length);
    end += length;
  }
  target.set(chunk.subarray(stage, end), position);
  return position + end - stage;
}

/** Copies record `i` of the page without a stop. */
function copyOne(
  chunk: Uint8Array,
  places: Int32Array,
  i: number,
  target: Uint8Array,
  at: number,
): number {
  const bytes = chunk.subarray(places[2 * i], places[2 * i + 1]);
  if (i > 0) target[at] = COMMA;
  const start = i > 0 ? at + 1 : at;
  target.set(bytes, start);
  return start + bytes.length;
}
