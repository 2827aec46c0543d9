import { TextNumbers } from '../formats/attributes.js';
import type { AttributeColumns } from '../formats/block.js';
import { release } from '../model/memory.js';
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
  type TextAttribute,
} from './postings.js';

type TextKey = 'status' | 'tags' | 'createdBy';

// the numbers of false and true
const FLAGS = Uint32Array.of(0, 1);

export class AttributeCollector {
  readonly #count: number;
  readonly #texts = {
    status: new TextNumbers(),
    tags: new TextNumbers(),
    createdBy: new TextNumbers(),
  };
  /** The number of the text of each user that was met: making the text takes longer. */
  readonly #users = new Map<number, number>();
  readonly #status: Uint32Array;
  readonly #user: Uint32Array;
  readonly #flags: Uint8Array;
  readonly #tags = new Tagged();
  #before: Readonly<Record<keyof Attributes, Kept>> | undefined;

  constructor(count: number) {
    this.#count = count;
    this.#users.set(NOBODY, this.#texts.createdBy.addText(''));
    this.#status = new Uint32Array(count);
    this.#user = new Uint32Array(count);
    this.#flags = new Uint8Array(count);
  }

  /** Adds the points of a block: their rows are `first` and up, or `rowOf[first]` and up. */
  addColumns(columns: AttributeColumns, first: number, rowOf?: Uint32Array): void {
    const { flags, createdBy, tagCounts } = columns;
    const statuses = columns.statusTexts.map((text) => this.#texts.status.addText(text));
    const tags = columns.tagTexts.map((text) => this.#texts.tags.addText(text));
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
  continueFrom(before: Attributes, kept: Row): void {
    const stay = (key: TextKey): Kept => {
      const { texts, postings } = before[key];
      return { postings, kept, numbers: numbersOf(texts, this.#texts[key]) };
    };
    this.#before = {
      status: stay('status'),
      tags: stay('tags'),
      createdBy: stay('createdBy'),
      isProcessed: { postings: before.isProcessed, kept, numbers: FLAGS },
      hasImage: { postings: before.hasImage, kept, numbers: FLAGS },
    };
  }

  #numberOfUser(user: number): number {
    // most points have no user: number 0 saves a look into the map
    if (user === NOBODY) return 0;
    let number = this.#users.get(user);
    if (number === undefined) {
      number = this.#texts.createdBy.addText(String(user));
      this.#users.set(user, number);
    }
    return number;
  }

  finish(): Attributes {
    const count = this.#count;
    const build = (key: keyof Attributes, now: Uint32Array, values: RowValues): Postings => {
      const before = this.#before?.[key];
      const numbers = before?.numbers.map((number) => now[number]!);
      return buildPostings(count, now.length, values, before && { ...before, numbers: numbers! });
    };
    const buildText = (key: TextKey, values: RowValues): TextAttribute => {
      const { texts, places } = sortTexts(this.#texts[key].keys());
      const { values: numbers, length } = values;
      for (let i = 0; i < length; i++) numbers[i] = places[numbers[i]!]!;
      return { texts, postings: build(key, places, values) };
    };
    const byRow = (values: RowValues['values']): RowValues => {
      return { rows: undefined, values, length: count };
    };
    const flag = (bit: number): RowValues =>
      byRow(this.#flags.map((flags) => ((flags & bit) === 0 ? 0 : 1)));
    this.#tags.sort(count);
    const attributes = {
      status: buildText('status', byRow(this.#status)),
      tags: buildText('tags', this.#tags),
      createdBy: buildText('createdBy', byRow(this.#user)),
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
