import { sharedArray } from '../common-array.js';
import { IMAGE, PROCESSED } from '../model/point-flags.js';
import type { AttributeColumns } from '../snapshot/block.js';
import { RecordAttributes } from '../snapshot/record-attributes.js';
import { TextNumbers } from '../snapshot/text-numbers.js';
import {
  buildFlagPostings,
  buildPostings,
  type Postings,
  type RowValues,
  wordsOf,
} from './postings.js';
import type { Records } from './records.js';
import type { Row } from './row.js';
import { sortTexts, type Texts } from './texts.js';

/** Rows by a text that they have. */
export interface TextAttribute {
  readonly texts: Texts;
  /** Rows by the number of the text. */
  readonly postings: Postings;
}

/** What stands for "no user" among the users. */
export const NOBODY = -1;

/**
 * What filters may ask of points besides place and times, by value: an inverted index, in shared
 * memory. A value takes 4 bytes for each row that has it, and a bit for every row at most.
 */
export interface Attributes {
  readonly status: TextAttribute;
  readonly tags: TextAttribute;
  readonly createdBy: {
    /** Ascending, the first is {@link NOBODY}. */
    readonly users: Float64Array;
    readonly postings: Postings;
  };
  /** Rows by 0 for false and 1 for true. */
  readonly isProcessed: Postings;
  readonly hasImage: Postings;
}

/**
 * Reads the attributes out of the records of all rows. A record in another than its rendered form
 * has none.
 */
export function buildAttributes(records: Records, count: number): Attributes {
  const { chunkBits, chunks, ends } = records;
  const collector = new AttributeCollector(count);
  for (const [number, chunk] of chunks.entries()) {
    const first = number << chunkBits;
    const last = Math.min(first + (1 << chunkBits), count);
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let row = first; row < last; row++) {
      const end = ends[row]!;
      collector.add(bytes, start, end, row);
      start = end;
    }
  }
  return collector.finish();
}

/** Numbers the values of all rows, out of their records or of columns that a file has. */
export class AttributeCollector {
  readonly #count: number;
  readonly #record = new RecordAttributes();
  readonly #statusTexts = new TextNumbers();
  readonly #tagTexts = new TextNumbers();
  readonly #userNumbers = new Map<number, number>([[NOBODY, 0]]);
  readonly #status: Uint32Array;
  readonly #user: Uint32Array;
  /** A bit for each row. */
  readonly #isProcessed: Int32Array;
  readonly #hasImage: Int32Array;
  readonly #tags = new Tagged();

  constructor(count: number) {
    this.#count = count;
    this.#status = new Uint32Array(count);
    this.#user = new Uint32Array(count);
    this.#isProcessed = sharedArray(Int32Array, wordsOf(count));
    this.#hasImage = sharedArray(Int32Array, wordsOf(count));
  }

  /** Takes the record in bytes `from` to `to - 1`; rows come in ascending order. */
  add(bytes: Buffer, from: number, to: number, row: Row): void {
    const record = this.#record;
    const isRead = record.read(bytes, from, to);
    const { statusFrom, statusTo } = record;
    this.#status[row] = this.#statusTexts.add(
      bytes,
      isRead ? statusFrom : 0,
      isRead ? statusTo : 0,
    );
    this.#user[row] = this.#numberOfUser(isRead ? record.createdBy : NOBODY);
    if (!isRead) return;
    this.#isProcessed[row >>> 5]! |= +record.isProcessed << (row & 31);
    this.#hasImage[row >>> 5]! |= +record.hasImage << (row & 31);
    const { tagCount, tagBounds } = record;
    for (let tag = 0; tag < tagCount; tag++) {
      const text = this.#tagTexts.add(bytes, tagBounds[2 * tag]!, tagBounds[2 * tag + 1]!);
      this.#tags.add(row, text);
    }
  }

  /** Takes the points of a block, whose first is row `first`. */
  addColumns(columns: AttributeColumns, first: Row): void {
    const { flags, createdBy, tagCounts } = columns;
    const statuses = columns.statusTexts.map((text) => this.#statusTexts.addText(text));
    const tags = columns.tagTexts.map((text) => this.#tagTexts.addText(text));
    let tag = 0;
    for (let i = 0; i < flags.length; i++) {
      const row = first + i;
      this.#status[row] = statuses[columns.status[i]!]!;
      this.#user[row] = this.#numberOfUser(createdBy[i]!);
      const flag = flags[i]!;
      this.#isProcessed[row >>> 5]! |= +((flag & PROCESSED) > 0) << (row & 31);
      this.#hasImage[row >>> 5]! |= +((flag & IMAGE) > 0) << (row & 31);
      for (const end = tag + tagCounts[i]!; tag < end; tag++) {
        this.#tags.add(row, tags[columns.tags[tag]!]!);
      }
    }
  }

  #numberOfUser(user: number): number {
    // most points have no user: number 0 saves a look into the map
    if (user === NOBODY) return 0;
    let number = this.#userNumbers.get(user);
    if (number === undefined) {
      number = this.#userNumbers.size;
      this.#userNumbers.set(user, number);
    }
    return number;
  }

  finish(): Attributes {
    const count = this.#count;
    const byRow = (values: Uint32Array): RowValues => ({ rows: undefined, values, length: count });
    const status = sortTexts(this.#statusTexts.keys());
    renumber(this.#status, count, status.places);
    const tags = sortTexts(this.#tagTexts.keys());
    renumber(this.#tags.values, this.#tags.length, tags.places);
    const users = sharedArray(Float64Array, this.#userNumbers.size);
    users.set([...this.#userNumbers.keys()]);
    users.sort();
    const places = new Uint32Array(users.length);
    for (const [place, user] of users.entries()) places[this.#userNumbers.get(user)!] = place;
    renumber(this.#user, count, places);
    return {
      status: {
        texts: status.texts,
        postings: buildPostings(count, status.places.length, byRow(this.#status)),
      },
      tags: {
        texts: tags.texts,
        postings: buildPostings(count, tags.places.length, this.#tags),
      },
      createdBy: { users, postings: buildPostings(count, users.length, byRow(this.#user)) },
      isProcessed: buildFlagPostings(count, this.#isProcessed),
      hasImage: buildFlagPostings(count, this.#hasImage),
    };
  }
}

function renumber(numbers: Uint32Array, length: number, places: Uint32Array): void {
  for (let i = 0; i < length; i++) numbers[i] = places[numbers[i]!]!;
}

/** Rows and their tags, each tag once a row. */
class Tagged implements RowValues {
  rows: Int32Array = new Int32Array(4_096);
  values: Uint32Array = new Uint32Array(4_096);
  length = 0;
  /** The last row that had each tag. */
  readonly #last: Row[] = [];

  add(row: Row, tag: number): void {
    if (this.#last[tag] === row) return;
    this.#last[tag] = row;
    if (this.length === this.rows.length) {
      const [rows, values] = [new Int32Array(2 * this.length), new Uint32Array(2 * this.length)];
      rows.set(this.rows);
      values.set(this.values);
      this.rows = rows;
      this.values = values;
    }
    this.rows[this.length] = row;
    this.values[this.length++] = tag;
  }
}
