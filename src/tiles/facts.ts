import type { Dataset } from '../dataset/dataset.js';
import {
  createMemberPlaces,
  findMembers,
  memberOf,
  valueStart,
} from '../dataset/record-members.js';
import { recordBytes } from '../dataset/records.js';
import type { Row } from '../dataset/row.js';
import { type Tail, type TailMatches, tailRecord } from '../dataset/tail.js';
import type { RecordKey } from '../model/point.js';
import type { Degrees, Microseconds } from '../model/units.js';
import type { LayerWriter, Value } from './layer.js';

/** Properties of every point, in this order. */
const ALWAYS: readonly RecordKey[] = ['id', 'status', 'is_processed', 'created_at'];
/** A second in {@link Microseconds}. */
const SECOND: Microseconds = 1e6;

/** Nanoseconds that a point takes to be written. */
export const SINGLE = 1_000;

/** Writes the properties of points: the usual ones, then those of `fields` that a point has. */
export class PropertyWriter {
  readonly #dataset: Dataset;
  readonly #tail: Tail | undefined;
  readonly #others: readonly RecordKey[];
  readonly #places = createMemberPlaces();

  constructor(
    dataset: Dataset,
    accepted: TailMatches | undefined,
    fields: readonly RecordKey[] | undefined,
  ) {
    this.#dataset = dataset;
    this.#tail = accepted?.tail;
    this.#others = (fields ?? []).filter((key) => !ALWAYS.includes(key));
  }

  /** The id of a row; row `i` of the tail is row `dataset.count + i`. */
  id(row: Row): number {
    const { count, byId } = this.#dataset;
    return row < count ? byId.keys[byId.ranks[row]!]! : this.#tail!.id[row - count]!;
  }

  lon(row: Row): Degrees {
    const { count, coords } = this.#dataset;
    return row < count ? coords[2 * row]! : this.#tail!.coords[2 * (row - count)]!;
  }

  lat(row: Row): Degrees {
    const { count, coords } = this.#dataset;
    return row < count ? coords[2 * row + 1]! : this.#tail!.coords[2 * (row - count) + 1]!;
  }

  /** Writes the properties of a row whose id is `id`. */
  write(layer: LayerWriter, row: Row, id: number): void {
    const record = this.#record(row);
    findMembers(record, this.#places);
    layer.property('id', id);
    layer.property('status', this.#value(record, 'status')!);
    layer.property('is_processed', this.#value(record, 'is_processed')!);
    layer.property('created_at', Math.floor(this.#createdAt(row) / SECOND));
    for (const key of this.#others) {
      const value =
        key === 'modified_at'
          ? Math.floor(this.#modifiedAt(row) / SECOND)
          : this.#value(record, key);
      if (value !== undefined) layer.property(key, value);
    }
  }

  /** The value of a member that {@link findMembers} found; a list as its JSON. */
  #value(record: Buffer, key: RecordKey): Value | undefined {
    const member = memberOf(key);
    const end = this.#places[2 * member + 1]!;
    if (end === 0) return undefined;
    const json = record.toString('utf8', valueStart(this.#places, member), end);
    return key === 'tags' ? json : (JSON.parse(json) as Value);
  }

  #record(row: Row): Buffer {
    const { count, records } = this.#dataset;
    const { buffer, byteOffset, length } =
      row < count ? recordBytes(records, row) : tailRecord(this.#tail!, row - count);
    return Buffer.from(buffer, byteOffset, length);
  }

  #createdAt(row: Row): Microseconds {
    const { count, byCreatedAt } = this.#dataset;
    if (row >= count) return this.#tail!.createdAt[row - count]!;
    return byCreatedAt.keys[byCreatedAt.ranks[row]!]!;
  }

  #modifiedAt(row: Row): Microseconds {
    const { count, byModifiedAt } = this.#dataset;
    if (row >= count) return this.#tail!.modifiedAt[row - count]!;
    return byModifiedAt.keys[byModifiedAt.ranks[row]!]!;
  }
}
