import {
  type FetchedPage,
  fetchedRecord,
  longestRecord,
  type PageCopier,
} from '../../dataset/record-page.js';
import type { PageRecords } from './format.js';

const COMMA = 0x2c;

/** Records of points, copied from where the dataset keeps them. */
export class PointRecords implements PageRecords {
  readonly count: number;
  readonly size: number;
  readonly #page: FetchedPage;
  readonly #copier: PageCopier;

  constructor(page: FetchedPage, copier: PageCopier) {
    this.count = page.count;
    this.size = page.size;
    this.#page = page;
    this.#copier = copier;
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

/** Records that are at hand one by one. */
export class SingleRecords implements PageRecords {
  readonly count: number;
  readonly size: number;
  readonly #records: readonly Uint8Array[];

  constructor(records: readonly Uint8Array[]) {
    this.count = records.length;
    this.size = records.reduce((sum, { length }) => sum + length, Math.max(0, records.length - 1));
    this.#records = records;
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
