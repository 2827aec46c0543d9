import type { Dataset } from '../index/dataset.js';
import { type Delta, type DeltaMatches, deltaRecord } from '../index/delta.js';
import type { Order, Row } from '../index/order.js';
import { type RowSet, rowsWith } from '../index/postings.js';
import { type FetchedPage, fetchPage } from '../index/record-page.js';
import { recordLength } from '../index/records.js';
import { PROCESSED } from '../model/units.js';
import { hasRow } from '../query/common/attribute-rows.js';
import { bitOf } from '../query/common/marks.js';

/** What tiles have of points, by row. Row `dataset.count + i` is row `i` of the delta. */
export class Facts {
  readonly #dataset: Dataset;
  readonly #delta: Delta | undefined;
  readonly #processed: RowSet;

  constructor(dataset: Dataset, accepted: DeltaMatches | undefined) {
    this.#dataset = dataset;
    this.#delta = accepted?.delta;
    this.#processed = rowsWith(dataset.attributes.isProcessed.postings, 1);
  }

  ids(rows: Int32Array): Float64Array {
    return this.#keys(rows, this.#dataset.byId, this.#delta?.id);
  }

  createdAt(rows: Int32Array): Float64Array {
    return this.#keys(rows, this.#dataset.byCreatedAt, this.#delta?.createdAt);
  }

  modifiedAt(rows: Int32Array): Float64Array {
    return this.#keys(rows, this.#dataset.byModifiedAt, this.#delta?.modifiedAt);
  }

  /** Longitude and latitude of each row in turn. */
  coords(rows: Int32Array): Float64Array {
    const { coords, count } = this.#dataset;
    const found = new Float64Array(2 * rows.length);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      const isDelta = row >= count;
      const from = isDelta ? this.#delta!.coords : coords;
      const at = isDelta ? row - count : row;
      found[2 * i] = from[2 * at]!;
      found[2 * i + 1] = from[2 * at + 1]!;
    }
    return found;
  }

  isProcessed(row: Row): boolean {
    const { count } = this.#dataset;
    if (row < count) return hasRow(this.#processed, row);
    return (this.#delta!.flags[row - count]! & PROCESSED) > 0;
  }

  /** The number of the row's status, where that is frequent; else -1. */
  frequentStatus(row: Row): number {
    const { attributes, count } = this.#dataset;
    if (row >= count) return -1;
    const { bitmaps } = attributes.status.postings;
    for (let i = 0; i < bitmaps.length; i++) if (bitOf(bitmaps[i]!, row) === 1) return i;
    return -1;
  }

  records(rows: Int32Array): FetchedPage {
    return fetchPage(this.#dataset, this.#delta, rows, rows.length);
  }

  recordBytes(row: Row): number {
    const { count, records } = this.#dataset;
    if (row < count) return recordLength(records, row);
    return deltaRecord(this.#delta!, row - count).length;
  }

  /** Two loops, each of which waits for memory once for many rows, not once a row. */
  #keys(rows: Int32Array, { ranks, keys }: Order, column?: Float64Array): Float64Array {
    const { count } = this.#dataset;
    const places = new Int32Array(rows.length);
    for (let i = 0; i < rows.length; i++) places[i] = ranks[rows[i]!] ?? -1;
    const found = new Float64Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const place = places[i]!;
      found[i] = place < 0 ? column![rows[i]! - count]! : keys[place]!;
    }
    return found;
  }
}
