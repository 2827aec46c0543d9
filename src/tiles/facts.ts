import type { Dataset } from '../dataset/dataset.js';
import type { Order } from '../dataset/order.js';
import { type RowSet, rowsWith } from '../dataset/postings.js';
import {
  createMemberPlaces,
  findMembers,
  type MemberPlaces,
  memberOf,
  valueStart,
} from '../dataset/record-members.js';
import { recordBytes } from '../dataset/records.js';
import type { Row } from '../dataset/row.js';
import { type Tail, type TailMatches, tailRecord } from '../dataset/tail.js';
import type { RecordKey } from '../model/point.js';
import { PROCESSED } from '../model/point-flags.js';
import type { Degrees, Microseconds } from '../model/units.js';
import { hasRow } from '../query/common/attribute-rows.js';
import { bitOf } from '../query/common/marks.js';
import type { Value } from './layer.js';

/** What a tile says of points, by their rows. Row `i` of the tail is row `dataset.count + i`. */
export class Facts {
  readonly #dataset: Dataset;
  readonly #count: number;
  readonly #tail: Tail | undefined;
  /** Bitmaps of the statuses that many rows have. */
  readonly #frequent: readonly Int32Array[];
  /** The statuses of these, as far as a row was seen. */
  readonly #statuses: string[] = [];
  readonly #processed: RowSet;
  #record: Buffer = Buffer.alloc(0);
  readonly #places: MemberPlaces = createMemberPlaces();

  constructor(dataset: Dataset, accepted: TailMatches | undefined) {
    this.#dataset = dataset;
    this.#count = dataset.count;
    this.#tail = accepted?.tail;
    this.#frequent = dataset.attributes.status.postings.bitmaps;
    this.#processed = rowsWith(dataset.attributes.isProcessed, 1);
  }

  /** The ids of rows. */
  ids(rows: Int32Array): Float64Array {
    return this.#keys(rows, this.#dataset.byId, this.#tail?.id);
  }

  /** When points were created, in {@link Microseconds}. */
  createdAt(rows: Int32Array): Float64Array {
    return this.#keys(rows, this.#dataset.byCreatedAt, this.#tail?.createdAt);
  }

  lon(row: Row): Degrees {
    if (row >= this.#count) return this.#tail!.coords[2 * (row - this.#count)]!;
    return this.#dataset.coords[2 * row]!;
  }

  lat(row: Row): Degrees {
    if (row >= this.#count) return this.#tail!.coords[2 * (row - this.#count) + 1]!;
    return this.#dataset.coords[2 * row + 1]!;
  }

  modifiedAt(row: Row): Microseconds {
    const { byModifiedAt } = this.#dataset;
    if (row >= this.#count) return this.#tail!.modifiedAt[row - this.#count]!;
    return byModifiedAt.keys[byModifiedAt.ranks[row]!]!;
  }

  /** Read from the record where few rows have it, which takes some 2 µs, else known by a bit. */
  status(row: Row): string {
    const place =
      row < this.#count ? this.#frequent.findIndex((bits) => bitOf(bits, row) === 1) : -1;
    const known = this.#statuses[place];
    if (known !== undefined) return known;
    const status = this.record(row).status as string;
    if (place >= 0) this.#statuses[place] = status;
    return status;
  }

  isProcessed(row: Row): boolean {
    if (row < this.#count) return hasRow(this.#processed, row);
    return (this.#tail!.attributes.flags[row - this.#count]! & PROCESSED) > 0;
  }

  /** Loops of their own wait for memory once for many rows, not once a row. */
  #keys(rows: Int32Array, { ranks, keys }: Order, column?: Float64Array): Float64Array {
    const count = this.#count;
    const places = new Int32Array(rows.length);
    for (let i = 0; i < rows.length; i++) places[i] = ranks[rows[i]!] ?? -1;
    const found = new Float64Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const place = places[i]!;
      found[i] = place < 0 ? column![rows[i]! - count]! : keys[place]!;
    }
    return found;
  }

  /** The point's record. */
  record(row: Row): Readonly<Partial<Record<RecordKey, Value>>> {
    return JSON.parse(this.#bytes(row).toString());
  }

  /** Looks for the members of a point's record, for {@link member}. */
  look(row: Row): void {
    this.#record = this.#bytes(row);
    findMembers(this.#record, this.#places);
  }

  /** The value of a key in the record that was looked at: a list as its JSON. */
  member(key: RecordKey): Value | undefined {
    const member = memberOf(key);
    const end = this.#places[2 * member + 1]!;
    if (end === 0) return undefined;
    const json = this.#record.toString('utf8', valueStart(this.#places, member), end);
    if (key === 'tags') return json;
    const isPlain = json.startsWith('"') && !json.includes('\\');
    return isPlain ? json.slice(1, -1) : (JSON.parse(json) as Value);
  }

  #bytes(row: Row): Buffer {
    const { records } = this.#dataset;
    const { buffer, byteOffset, length } =
      row < this.#count ? recordBytes(records, row) : tailRecord(this.#tail!, row - this.#count);
    return Buffer.from(buffer, byteOffset, length);
  }
}
