import { TextNumbers } from '../formats/attributes.js';
import type { AttributeColumns } from '../formats/block.js';
import { release, sharedArray } from '../model/memory.js';
import { IMAGE, PROCESSED } from '../model/units.js';
import type { Row } from './order.js';
import {
  type Attributes,
  buildPostings,
  type Kept,
  NOBODY,
  numbersOf,
  type Postings,
  type RowValues,
  sortTexts,
} from './postings.js';

// the numbers of false and true
const FLAGS = Uint32Array.of(0, 1);

export class AttributeCollector {
  readonly #count: number;
  readonly #statusTexts = new TextNumbers();
  readonly #tagTexts = new TextNumbers();
  readonly #userNumbers = new Map<number, number>([[NOBODY, 0]]);
  readonly #status: Uint32Array;
  readonly #user: Uint32Array;
  readonly #flags: Uint8Array;
  readonly #tags = new Tagged();
  #before: Readonly<Record<keyof Attributes, Kept>> | undefined;

  constructor(count: number) {
    this.#count = count;
    this.#status = new Uint32Array(count);
    this.#user = new Uint32Array(count);
    this.#flags = new Uint8Array(count);
  }

  /** Adds the points of a block: their rows are `first` and up, or `rowOf[first]` and up. */
  addColumns(columns: AttributeColumns, first: number, rowOf?: Uint32Array): void {
    const { flags, createdBy, tagCounts } = columns;
    const statuses = columns.statusTexts.map((text) => this.#statusTexts.addText(text));
    const tags = columns.tagTexts.map((text) => this.#tagTexts.addText(text));
    let tag = 0;
    for (let i = 0; i < flags.length; i++) {
      const row = rowOf === undefined ? first + i : rowOf[first + i]!;
      this.#status[row] = statuses[columns.status[i]!]!;
      this.#user[row] = this.#numberOfUser(createdBy[i]!);
      this.#flags[row] = flags[i]!;
      for (const end = tag + tagCounts[i]!; tag < end; tag++) {
        this.#tags.add(row, tags[columns.tags[tag]!]!);
      }
    }
  }

  /** Continues attributes whose rows below `kept` stay: row 0 of the collector is row `kept`. */
  continueFrom({ status, tags, createdBy, isProcessed, hasImage }: Attributes, kept: Row): void {
    const stay = (postings: Postings, numbers: Uint32Array): Kept => ({ postings, kept, numbers });
    const users = Uint32Array.from(createdBy.users, (user) => this.#numberOfUser(user));
    this.#before = {
      status: stay(status.postings, numbersOf(status.texts, this.#statusTexts)),
      tags: stay(tags.postings, numbersOf(tags.texts, this.#tagTexts)),
      createdBy: stay(createdBy.postings, users),
      isProcessed: stay(isProcessed, FLAGS),
      hasImage: stay(hasImage, FLAGS),
    };
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
    const byRow = (values: RowValues['values']): RowValues => {
      return { rows: undefined, values, length: count };
    };
    const flag = (bit: number): RowValues =>
      byRow(this.#flags.map((flags) => ((flags & bit) === 0 ? 0 : 1)));
    const status = sortTexts(this.#statusTexts.keys());
    renumber(this.#status, count, status.places);
    this.#tags.sort(count);
    const tags = sortTexts(this.#tagTexts.keys());
    renumber(this.#tags.values, this.#tags.length, tags.places);
    const users = sharedArray(Float64Array, this.#userNumbers.size);
    users.set([...this.#userNumbers.keys()]);
    users.sort();
    const places = new Uint32Array(users.length);
    for (const [place, user] of users.entries()) places[this.#userNumbers.get(user)!] = place;
    renumber(this.#user, count, places);
    const build = (key: keyof Attributes, now: Uint32Array, values: RowValues): Postings => {
      const before = this.#before?.[key];
      const numbers = before?.numbers.map((number) => now[number]!);
      return buildPostings(count, now.length, values, before && { ...before, numbers: numbers! });
    };
    const attributes = {
      status: {
        texts: status.texts,
        postings: build('status', status.places, byRow(this.#status)),
      },
      tags: { texts: tags.texts, postings: build('tags', tags.places, this.#tags) },
      createdBy: { users, postings: build('createdBy', places, byRow(this.#user)) },
      isProcessed: build('isProcessed', FLAGS, flag(PROCESSED)),
      hasImage: build('hasImage', FLAGS, flag(IMAGE)),
    };
    release(this.#status, this.#user, this.#flags, this.#tags.rows, this.#tags.values);
    return attributes;
  }
}

/** Collects the attributes of blocks, whose points are rows `rowOf`; releases their memory. */
export function collectAttributes(
  blocks: readonly AttributeColumns[],
  rowOf: Uint32Array,
): Attributes {
  const collector = new AttributeCollector(rowOf.length);
  let first = 0;
  for (const columns of blocks) {
    const { status, flags, createdBy, tagCounts, tags } = columns;
    collector.addColumns(columns, first, rowOf);
    first += flags.length;
    release(status, flags, createdBy, tagCounts, tags);
  }
  return collector.finish();
}

function renumber(numbers: Uint32Array, length: number, places: Uint32Array): void {
  for (let i = 0; i < length; i++) numbers[i] = places[numbers[i]!]!;
}

class Tagged implements RowValues {
  rows: Int32Array = new Int32Array(4_096);
  values: Uint32Array = new Uint32Array(4_096);
  length = 0;
  #isSorted = true;
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
    this.#isSorted &&= this.length === 0 || this.rows[this.length - 1]! <= row;
    this.rows[this.length] = row;
    this.values[this.length++] = tag;
  }
  /** Sorts by row, of which there are `count`: a counting sort. */
  sort(count: number): void {
    if (this.#isSorted) return;
    const { rows, values, length } = this;
    const next = new Uint32Array(count + 1);
    for (let i = 0; i < length; i++) next[rows[i]! + 1]!++;
    for (let row = 0; row < count; row++) next[row + 1]! += next[row]!;
    [this.rows, this.values] = [new Int32Array(length), new Uint32Array(length)];
    for (let i = 0; i < length; i++) {
      const to = next[rows[i]!]!++;
      this.rows[to] = rows[i]!;
      this.values[to] = values[i]!;
    }
  }
}
