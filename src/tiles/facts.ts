import type { Dataset } from '../dataset/dataset.js';
import { rowsWith } from '../dataset/postings.js';
import { recordBytes } from '../dataset/records.js';
import type { Row } from '../dataset/row.js';
import { type Tail, type TailMatches, tailRecord } from '../dataset/tail.js';
import type { RecordKey } from '../model/point.js';
import type { Degrees, Microseconds } from '../model/units.js';
import { hasRow } from '../query/common/attribute-rows.js';
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

  constructor(dataset: Dataset, accepted: TailMatches | undefined) {
    this.#dataset = dataset;
    this.#count = dataset.count;
    this.#tail = accepted?.tail;
    this.#frequent = dataset.attributes.status.postings.bitmaps;
  }

  id(row: Row): number {
    const { byId } = this.#dataset;
    if (row >= this.#count) return this.#tail!.id[row - this.#count]!;
    return byId.keys[byId.ranks[row]!]!;
  }

  lon(row: Row): Degrees {
    if (row >= this.#count) return this.#tail!.coords[2 * (row - this.#count)]!;
    return this.#dataset.coords[2 * row]!;
  }

  lat(row: Row): Degrees {
    if (row >= this.#count) return this.#tail!.coords[2 * (row - this.#count) + 1]!;
    return this.#dataset.coords[2 * row + 1]!;
  }

  createdAt(row: Row): Microseconds {
    const { byCreatedAt } = this.#dataset;
    if (row >= this.#count) return this.#tail!.createdAt[row - this.#count]!;
    return byCreatedAt.keys[byCreatedAt.ranks[row]!]!;
  }

  modifiedAt(row: Row): Microseconds {
    const { byModifiedAt } = this.#dataset;
    if (row >= this.#count) return this.#tail!.modifiedAt[row - this.#count]!;
    return byModifiedAt.keys[byModifiedAt.ranks[row]!]!;
  }

  /** Read from the record where few rows have it, which takes some 2 µs, else known by a bit. */
  status(row: Row): string {
    const place = row < this.#count ? this.#frequent.findIndex((bits) => isSet(bits, row)) : -1;
    const known = this.#statuses[place];
    if (known !== undefined) return known;
    const status = this.record(row).status as string;
    if (place >= 0) this.#statuses[place] = status;
    return status;
  }

  isProcessed(row: Row): boolean {
    if (row >= this.#count) return this.record(row).is_processed as boolean;
    return hasRow(rowsWith(this.#dataset.attributes.isProcessed, 1), row);
  }

  /** The point's record. */
  record(row: Row): Readonly<Partial<Record<RecordKey, Value | readonly string[]>>> {
    const { records } = this.#dataset;
    const { buffer, byteOffset, length } =
      row < this.#count ? recordBytes(records, row) : tailRecord(this.#tail!, row - this.#count);
    return JSON.parse(Buffer.from(buffer, byteOffset, length).toString());
  }
}

function isSet(bits: Int32Array, row: Row): boolean {
  return ((bits[row >>> 5]! >>> (row & 31)) & 1) === 1;
}
