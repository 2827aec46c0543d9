import { type Records, STAGE_BYTES } from './records.js';
import type { Row } from './row.js';

const CACHE_LINE = 64;
const COMMA = 0x2c;

/** The records of a page, found; valid until the next page is fetched. */
export interface FetchedPage {
  readonly records: Records;
  readonly rows: ArrayLike<Row>;
  readonly count: number;
  /** Bytes of all records with commas between them. */
  readonly size: number;
}

/** Start and end of each record of the page that was fetched last, in its chunk. */
let starts = new Int32Array(0);
let ends = new Int32Array(0);

/**
 * Finds the records of `count` rows and gets them into the processor's cache. Each kind of memory has a loop of its own,
 * of loads that do not depend on each other and no branch to mispredict: so they wait for memory together,
 * where the copies that follow would wait one by one. A page of scattered records takes a third of the time so;
 * bench/page-copy.ts shows it.
 */
export function fetchPage(records: Records, rows: ArrayLike<Row>, count: number): FetchedPage {
  if (starts.length < count) {
    starts = new Int32Array(count);
    ends = new Int32Array(count);
  }
  const { chunks, chunkBits, ends: recordEnds } = records;
  const placeMask = (1 << chunkBits) - 1;
  let size = Math.max(0, count - 1);
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const start = (row & placeMask) === 0 ? 0 : recordEnds[row - 1]!;
    const end = recordEnds[row]!;
    starts[i] = start;
    ends[i] = end;
    size += end - start;
  }
  const page = { records, rows, count, size };
  for (let from = 0; from < count; ) {
    const to = endOfRun(page, from);
    fetchLines(chunks[rows[from]! >>> chunkBits]!, from, to);
    from = to;
  }
  return page;
}

/** Copies a page to `target` at `at`, commas between its records; returns where it ends. */
export function copyPage(page: FetchedPage, target: Uint8Array, at: number): number {
  const { records, rows, count } = page;
  let position = at;
  for (let from = 0; from < count; ) {
    const to = endOfRun(page, from);
    const chunk = records.chunks[rows[from]! >>> records.chunkBits]!;
    position = copyRun(chunk, from, to, target, position);
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

/** Reads a byte of the cache lines of records `from` to `to - 1` of the page. */
function fetchLines(chunk: Uint8Array, from: number, to: number): void {
  let mixed = 0;
  for (let i = from; i < to; i++) {
    const at = starts[i]!;
    // nine records of ten have no more lines, and behind the last record there is the stage
    mixed ^= chunk[at]! ^ chunk[at + CACHE_LINE]! ^ chunk[at + 2 * CACHE_LINE]!;
    mixed ^= chunk[at + 3 * CACHE_LINE]! ^ chunk[at + 4 * CACHE_LINE]! ^ chunk[ends[i]!]!;
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
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  const stage = chunk.length - STAGE_BYTES;
  let position = at;
  let end = stage;
  for (let i = from; i < to; i++) {
    const start = starts[i]!;
    const length = ends[i]! - start;
    if (end + length >= chunk.length) {
      target.set(chunk.subarray(stage, end), position);
      position += end - stage;
      end = stage;
      if (length >= STAGE_BYTES) {
        if (i > 0) target[position++] = COMMA;
        target.set(chunk.subarray(start, start + length), position);
        position += length;
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
