import type { Dataset } from '../../index/dataset.js';
import type { Delta } from '../../index/delta.js';
import {
  type FetchedPage,
  fetchedRecord,
  fetchMixedPage,
  fetchPage,
  longestRecord,
  type PageCopier,
} from '../../index/record-page.js';
import { type Hash, hashBytes, hashRows } from '../../index/records.js';
import type { PageRecords } from './representation.js';

const COMMA = 0x2c;

export interface FoundRows {
  readonly rows: ArrayLike<number>;
  readonly length: number;
  /** Has the rows from the dataset's `count` on. */
  readonly delta: Delta | undefined;
}

export class PointRecords implements PageRecords {
  readonly count: number;
  readonly size: number;
  readonly #dataset: Dataset;
  readonly #found: FoundRows;
  readonly #page: FetchedPage;
  readonly #copier: PageCopier;

  constructor(dataset: Dataset, found: FoundRows, copier: PageCopier) {
    const { records, count: total } = dataset;
    const { rows, length, delta } = found;
    const page =
      delta === undefined
        ? fetchPage(records, rows, length)
        : fetchMixedPage(records, total, delta, rows, length);
    this.count = page.count;
    this.size = page.size;
    this.#dataset = dataset;
    this.#found = found;
    this.#page = page;
    this.#copier = copier;
  }

  hash(): Hash {
    const { rows, length, delta } = this.#found;
    return hashRows(this.#dataset, delta, rows, length);
  }

  longest(): number {
    return longestRecord(this.#page);
  }

  at(index: number): Uint8Array {
    return fetchedRecord(this.#page, index);
  }

  copy(target: Uint8Array, at: number): number {
    return this.#copier.copy(this.#page, target, at);
  }
}

export class SingleRecords implements PageRecords {
  readonly count: number;
  readonly size: number;
  readonly #records: readonly Uint8Array[];

  constructor(records: readonly Uint8Array[]) {
    this.count = records.length;
    this.size = records.reduce((sum, { length }) => sum + length, Math.max(0, records.length - 1));
    this.#records = records;
  }

  hash(): Hash {
    return hashBytes(this.#records);
  }

  longest(): number {
    return this.#records.reduce((most, { length }) => Math.max(most, length), 0);
  }

  at(index: number): Uint8Array {
    return this.#records[index]!;
  }

  copy(target: Uint8Array, at: number): number {
    let end = at;
    for (const [index, record] of this.#records.entries()) {
      if (index > 0) target[end++] = COMMA;
      target.set(record, end);
      end += record.length;
    }
    return end;
  }
}
