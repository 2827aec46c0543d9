import { MAX_RECORD_BYTES } from '../formats/block.js';
import type { DatasetParts } from './dataset.js';
import { type Delta, endBefore } from './delta.js';
import type { Row } from './order.js';
import { CHUNK_BITS, type Records, recordStart } from './records.js';

const CACHE_LINE = 64;
const COMMA = 0x2c;
/** Bytes that are copied at a time. */
const STRIDE = 32;

/** Room for the longest record, and for a page of ordinary ones. */
const STAGE_BYTES = MAX_RECORD_BYTES + 64 * 1024;

/** The records of a page, found and on their way to the processor. */
export interface FetchedPage extends Pick<Records, 'memories' | 'words'> {
  readonly count: number;
  /** Start and end of each record in turn, in its memory. */
  readonly places: Int32Array;
  readonly memoryOf: Int32Array;
  /** Bytes of all records with commas between them. */
  readonly size: number;
}

/**
 * Memory for the places of a page's records, each page's in its turn: to make some for every page
 * and to have it collected takes a twentieth of a small page's time.
 */
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
 * Finds the records of `count` rows, of which those behind the dataset's own are the delta's, and
 * gets them into the processor's cache. Offsets and records have a loop each, whose loads depend
 * neither on each other nor on a branch: they wait for memory together, where copies would wait one
 * by one. A page of scattered records takes half the time then.
 */
export function fetchPage(
  { records, count: total }: Pick<DatasetParts, 'records' | 'count'>,
  delta: Delta | undefined,
  rows: ArrayLike<Row>,
  count: number,
  room: PageRoom = new PageRoom(),
): FetchedPage {
  const { ends } = records;
  // the records of the delta are one more memory
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
    size += end - start;
  }
  const page = { memories, words, count, places, memoryOf, size };
  for (let from = 0; from < count; ) {
    const to = endOfRun(page, from);
    fetchLines(memories[memoryOf[from]!]!, places, from, to);
    from = to;
  }
  return page;
}

/** The end of the records from `from` on that lie in one memory. */
function endOfRun({ memoryOf, count }: FetchedPage, from: number): number {
  let to = from + 1;
  while (to < count && memoryOf[to] === memoryOf[from]) to++;
  return to;
}

/** Reads a byte of the first five cache lines and of the last of each record. */
function fetchLines(memory: Uint8Array, places: Int32Array, from: number, to: number): void {
  let mixed = 0;
  for (let i = from; i < to; i++) {
    const at = places[2 * i]!;
    // nine records of ten have no more lines, and behind the last record there is room
    mixed ^= memory[at]! ^ memory[at + CACHE_LINE]! ^ memory[at + 2 * CACHE_LINE]!;
    mixed ^=
      memory[at + 3 * CACHE_LINE]! ^ memory[at + 4 * CACHE_LINE]! ^ memory[places[2 * i + 1]!]!;
  }
  // never true of bytes; without a use of `mixed` the compiler would leave the loads out
  if (mixed > 255) throw new Error('Expected bytes.');
}

export function fetchedRecord(page: FetchedPage, index: number): Uint8Array {
  return memoryOf(page, index).subarray(page.places[2 * index], page.places[2 * index + 1]);
}

export function longestRecord({ places, count }: FetchedPage): number {
  let longest = 0;
  for (let i = 0; i < count; i++) longest = Math.max(longest, places[2 * i + 1]! - places[2 * i]!);
  return longest;
}

export interface PageCopier {
  /** Of the pages that are copied, one at a time. */
  readonly room: PageRoom;
  /** Copies a page to `target` at `at`; returns where the page ends. */
  copy(page: FetchedPage, target: Uint8Array, at: number): number;
}

/**
 * Makes a copier, which puts a comma between records. It puts pages together in memory of its own,
 * the stage, and copies them to their targets in one piece: the memory of a target is cold, and
 * records that are copied in words go beyond their ends.
 */
export function createPageCopier(): PageCopier {
  const stage = new Uint8Array(STAGE_BYTES);
  const stageWords = new DataView(stage.buffer);

  /**
   * Copies records `from` to `to - 1` of the page, all of one memory, a comma before each but the
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
    room: new PageRoom(),
    copy(page, target, at) {
      const { count, places } = page;
      let position = at;
      for (let from = 0; from < count; ) {
        const to = endOfRun(page, from);
        position = copyRun(wordsOf(page, from), places, from, to, target, position);
        from = to;
      }
      return position;
    },
  };
}

/** The memory that has a record of a page, at the places that the page says. */
export function memoryOf({ memories, memoryOf }: FetchedPage, index: number): Uint8Array {
  return memories[memoryOf[index]!]!;
}

/** The same memory, to be read in words. */
export function wordsOf({ words, memoryOf }: FetchedPage, index: number): DataView {
  return words[memoryOf[index]!]!;
}
