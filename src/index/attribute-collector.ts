import { TextNumbers } from '../formats/attributes.js';
import type { AttributeColumns } from '../formats/block.js';
import { release } from '../model/memory.js';
import { IMAGE, PROCESSED } from '../model/units.js';
import type { Row } from './order.js';
import {
  type Attributes,
  buildPostings,
  NOBODY,
  numbersOf,
  type RowValues,
  sortTexts,
  type TextAttribute,
} from './postings.js';

/** Attributes whose rows below `kept` stay: row 0 of the collector is row `kept`. */
interface Former {
  readonly attributes: Attributes;
  readonly kept: Row;
}

export class AttributeCollector {
  readonly #count: number;
  readonly #texts = {
    status: new TextNumbers(),
    tags: new TextNumbers(),
    createdBy: new TextNumbers(),
    isProcessed: new TextNumbers(),
    hasImage: new TextNumbers(),
  };
  /** The number of the text of each user that was met: making the text takes longer. */
  readonly #users = new Map<number, number>();
  readonly #status: Uint32Array;
  readonly #user: Uint32Array;
  readonly #flags: Uint8Array;
  readonly #tags = new Tagged();
  readonly #former: Former | undefined;

  constructor(count: number, former?: Former) {
    this.#count = count;
    this.#former = former;
    this.#users.set(NOBODY, this.#texts.createdBy.addText(''));
    for (const texts of [this.#texts.isProcessed, this.#texts.hasImage]) {
      texts.addText('false');
      texts.addText('true');
    }
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
    const build = (key: keyof Attributes, values: RowValues): TextAttribute => {
      const former = this.#former?.attributes[key];
      // before the texts are sorted: they come to those that were collected
      const stay = former && numbersOf(former.texts, this.#texts[key]);
      const { texts, places } = sortTexts(this.#texts[key].keys());
      const { values: numbers, length } = values;
      for (let i = 0; i < length; i++) numbers[i] = places[numbers[i]!]!;
      const before = former && {
        postings: former.postings,
        kept: this.#former!.kept,
        numbers: stay!.map((number) => places[number]!),
      };
      return { texts, postings: buildPostings(count, places.length, values, before) };
    };
    const byRow = (values: RowValues['values']): RowValues => {
      return { rows: undefined, values, length: count };
    };
    const flag = (bit: number): RowValues =>
      byRow(this.#flags.map((flags) => ((flags & bit) === 0 ? 0 : 1)));
    const attributes = {
      status: build('status', byRow(this.#status)),
      tags: build('tags', this.#tags),
      createdBy: build('createdBy', byRow(this.#user)),
      isProcessed: build('isProcessed', flag(PROCESSED)),
      hasImage: build('hasImage', flag(IMAGE)),
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
