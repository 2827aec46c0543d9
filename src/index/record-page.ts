import {
  createProjection,
  headBytes,
  LONG,
  renderedLength,
  timeBytes,
} from '../formats/record-layout.js';
import type { DatasetParts } from './dataset.js';
import type { Delta } from './delta.js';
import type { Row } from './order.js';
import { endBefore } from './postings.js';
import { CHUNK_BITS, type Hash, type Records, recordStart, rotated } from './records.js';
import { RENDERED, RENDERED_BYTES, renderRecord } from './render-record.js';

const CACHE_LINE = 64;
const COMMA = 0x2c;

/** The records of a page, found and in the processor's cache. */
export interface FetchedPage extends Pick<Records, 'memories' | 'words'> {
  readonly count: number;
  /** Start and end of each record in its memory, in turn. */
  readonly places: Int32Array;
  readonly memoryOf: Int32Array;
  /** Bytes of all records as JSON, with commas between them. */
  readonly size: number;
}

/** Memory that all pages use in turn: new memory takes a twentieth of a small page's time. */
export class PageRoom {
  places: Int32Array = new Int32Array(0);
  memoryOf: Int32Array = new Int32Array(0);

  grow(count: number): void {
    if (count <= this.memoryOf.length) return;
    this.places = new Int32Array(2 * count);
    this.memoryOf = new Int32Array(count);
  }
}

/**
 * Finds the records of `count` rows, where rows behind the dataset's own are the delta's, and reads
 * them into the processor's cache. Loads in a loop of their own, which depend neither on each other
 * nor on a branch, wait for memory together: half the time for a page of scattered records.
 */
export function fetchPage(
  { records, count: total }: Pick<DatasetParts, 'records' | 'count'>,
  delta: Delta | undefined,
  rows: ArrayLike<Row>,
  count: number,
  room: PageRoom = new PageRoom(),
): FetchedPage {
  const { ends } = records;
  const memories = delta === undefined ? records.memories : [...records.memories, delta.bytes];
  const words = delta === undefined ? records.words : [...records.words, delta.words];
  room.grow(count);
  const { places, memoryOf } = room;
  let size = Math.max(0, count - 1);
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const at = row - total;
    const start = at < 0 ? recordStart(records, row) : endBefore(delta!.ends, at);
    const end = at < 0 ? ends[row]! : delta!.ends[at]!;
    places[2 * i] = start;
    places[2 * i + 1] = end;
    memoryOf[i] = at < 0 ? records.memoryOf[row >>> CHUNK_BITS]! : records.memories.length;
  }
  for (let from = 0; from < count; ) {
    const to = endOfRun(memoryOf, count, from);
    fetchLines(memories[memoryOf[from]!]!, places, from, to);
    from = to;
  }
  for (let i = 0; i < count; i++) {
    const place = places[2 * i]!;
    size += renderedLength(memories[memoryOf[i]!]!, places[2 * i + 1]! - place, place);
  }
  return { memories, words, count, places, memoryOf, size };
}

/** The end of the records from `from` on that lie in the same memory. */
function endOfRun(memoryOf: Int32Array, count: number, from: number): number {
  let to = from + 1;
  while (to < count && memoryOf[to] === memoryOf[from]) to++;
  return to;
}

/** Reads a byte of the first three cache lines of each record and of its last one. */
function fetchLines(memory: Uint8Array, places: Int32Array, from: number, to: number): void {
  let mixed = 0;
  for (let i = from; i < to; i++) {
    const at = places[2 * i]!;
    // nine records of ten have no more lines; behind the last record are SPARE_BYTES
    mixed ^= memory[at]! ^ memory[at + CACHE_LINE]! ^ memory[at + 2 * CACHE_LINE]!;
    mixed ^= memory[places[2 * i + 1]!]!;
  }
  // never true; without a use of `mixed` the compiler would leave the loads out
  if (mixed > 255) throw new Error('Expected bytes.');
}

export function fetchedRecord(page: FetchedPage, index: number): Uint8Array {
  return memoryOf(page, index).subarray(page.places[2 * index], page.places[2 * index + 1]);
}

/**
 * Hashes id and time of creation of each record, which tell pages of one snapshot and one journal
 * apart. They are taken from the records, since these are in the processor's cache.
 */
export function hashRecords({ memories, words, memoryOf, places, count }: FetchedPage): Hash {
  let low = count;
  let high = ~count;
  for (let i = 0; i < count; i++) {
    const own = words[memoryOf[i]!]!;
    const flags = memories[memoryOf[i]!]![places[2 * i]!]!;
    // bytes behind a short id are hashed, too: they belong to the same record
    const id = hashWords(own, places[2 * i]! + headBytes(flags));
    const created = places[2 * i + 1]! - timeBytes(flags);
    const time = (hashWords(own, created) + Math.imul(hashWords(own, created + 16), ODD)) | 0;
    low = (Math.imul(rotated(low ^ id), 0x9e3779b1) + time) | 0;
    high = (Math.imul(rotated(high ^ time), 0x5f356495) + id) | 0;
  }
  return { low: low >>> 0, high: high >>> 0 };
}

/** Makes swapped halves of a time differ. */
const ODD = 0x27d4eb2d;

/** Hashes 16 bytes; no product waits for another. */
function hashWords(words: DataView, at: number): number {
  return (
    (Math.imul(words.getInt32(at + 12, true), 0x85ebca6b) +
      Math.imul(words.getInt32(at + 8, true), 0xc2b2ae35) +
      Math.imul(words.getInt32(at + 4, true), 0x165667b1) +
      words.getInt32(at, true)) |
    0
  );
}

/** The bytes of the longest record as JSON. */
export function longestRecord(page: FetchedPage): number {
  const { places, count } = page;
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const place = places[2 * i]!;
    const bytes = renderedLength(memoryOf(page, i), places[2 * i + 1]! - place, place);
    longest = Math.max(longest, bytes);
  }
  return longest;
}

/** For records with a long text, whose copying takes most of the time in any case. */
const renderLong = createProjection();

/** Writes a page's records as JSON to `target` from `at` on; returns where they end. */
export function copyPage(
  page: FetchedPage,
  target: Uint8Array,
  at: number,
  separator: number = COMMA,
): number {
  const { memories, words, memoryOf, count, places } = page;
  let moved = at;
  let end = 0;
  for (let i = 0; i < count; i++) {
    const record = places[2 * i]!;
    const memory = memories[memoryOf[i]!]!;
    const isLong = (memory[record]! & LONG) !== 0;
    if (i > 0) RENDERED[end++] = separator;
    if (isLong || end > RENDERED_BYTES) {
      moved = moveRendered(end, target, moved);
      end = 0;
    }
    if (isLong) moved = renderLong(fetchedRecord(page, i), target, moved);
    else end = renderRecord(memory, words[memoryOf[i]!]!, record, end);
  }
  return moveRendered(end, target, moved);
}

function moveRendered(bytes: number, target: Uint8Array, at: number): number {
  target.set(RENDERED.subarray(0, bytes), at);
  return at + bytes;
}

export function memoryOf({ memories, memoryOf }: FetchedPage, index: number): Uint8Array {
  return memories[memoryOf[index]!]!;
}
