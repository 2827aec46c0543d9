import { type StoredRecord, showing } from '../../formats/record-layout.js';
import type { Dataset } from '../../index/dataset.js';
import type { Delta } from '../../index/delta.js';
import {
  copyPage,
  fetchedRecord,
  fetchPage,
  hashRecords,
  longestRecord,
  type PageRoom,
} from '../../index/record-page.js';
import { type Hash, hashBytes } from '../../index/records.js';
import type { Budget } from '../../model/budget.js';
import type { RecordKey } from '../../model/point.js';
import type { QueryWork } from '../../model/query.js';
import { EXPORT_PATH } from '../request/addresses.js';
import { EXPORTED } from '../request/list-parameters.js';
import type { Offer } from '../request/negotiation.js';
import type { Pair } from '../request/query-string.js';

export interface Page {
  /** The name of its subject where absent. */
  readonly title?: string;
  /** What a list says around its records; undefined where one record stands alone. */
  readonly list: ListFacts | undefined;
  readonly records: PageRecords;
  /** The keys that records shall have, where not all; `records` have all of them. */
  readonly keys?: readonly RecordKey[] | undefined;
  /** Links to other addresses, in ASCII. */
  readonly related?: readonly Link[];
  /** Values to choose from in filters, by parameter. */
  readonly offered?: () => Offered;
  /** Whether the page would show more to the user of a token. */
  readonly needsToken?: boolean;
  /** What finding the records took; undefined where nothing was searched. */
  readonly work?: QueryWork | undefined;
}

export type Offered = Readonly<Record<string, readonly string[]>>;

export interface Link {
  readonly rel: string;
  readonly type: string;
  readonly href: string;
}

export interface ListFacts {
  readonly count: number;
  /** A function, since some formats have no links. */
  links(): PageLinks;
  /** The address that was asked: scheme, authority and path, and the parameters. */
  readonly base: string;
  readonly pairs: readonly Pair[];
  /** The number of this page, from 1, and of the last one. */
  readonly page: number;
  readonly pageCount: number;
}

/** The records of a page, each as JSON in UTF-8. */
export interface PageRecords {
  readonly count: number;
  /** Bytes of all records with a comma between each two. */
  readonly size: number;
  longest(): number;
  /** Tells these records from all others of the snapshot; call it before another page is made. */
  hash(): Hash;
  /** The JSON of each record; of points only these keys. */
  json(keys?: readonly RecordKey[]): readonly string[];
  /** Point `index`, which stays valid and must not be written to; throws for other records. */
  stored(index: number): StoredRecord;
  /** Copies all records to `target` from `at` on, with the commas; returns where they end. */
  copy(target: Uint8Array, at: number): number;
}

/** Memory for bodies, used again where possible. */
export interface BodyMemory {
  /** Uninitialized memory. */
  take(bytes: number): Buffer<ArrayBuffer>;
  /** Gives back what {@link take} returned, when nothing will read it any more. */
  give(buffer: Buffer<ArrayBuffer>): void;
}

export const FRESH_MEMORY: BodyMemory = { take: Buffer.allocUnsafeSlow, give: () => {} };

export interface Exchange {
  readonly target: string;
  /** Names the snapshot that the page is of. */
  readonly snapshot: string;
  /** Headers of JSON answers of this address. */
  readonly headers: Readonly<Record<string, string>>;
  readonly memory: BodyMemory;
  readonly budget: Budget;
}

/** A representation of pages. A new one is a file in this folder, named by its addresses. */
export interface Format extends Offer {
  /** In entity tags and metrics: letters and digits. */
  readonly name: string;
  /** Where it is another than the media type. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the entity tag is made of the body, not of what the body was made from. */
  readonly isNamedByBody?: boolean;
  /** Whether it is part of an answer, without a head and entity tag. */
  readonly isPart?: boolean;
  /** In memory of the exchange; charges its budget. Absent where there are no pages. */
  encode?(page: Page, exchange: Exchange): Buffer<ArrayBuffer>;
}

/** Absolute URLs of the neighbouring pages. */
export interface PageLinks {
  readonly next: string | null;
  readonly previous: string | null;
}

/** Links carry every parameter, sorted by name, with `page` replaced; page 1 goes without. */
export function pagedList(
  base: string,
  pairs: readonly Pair[],
  count: number,
  page: number,
  pageCount: number,
): ListFacts {
  const links = (): PageLinks => ({
    next: page < pageCount ? pageLink(base, pairs, page + 1) : null,
    previous: page > 1 ? pageLink(base, pairs, page - 1) : null,
  });
  return { count, links, base, pairs, page, pageCount };
}

export function pageLink(base: string, pairs: readonly Pair[], page: number): string {
  const others = pairs.filter(({ name }) => name !== 'page');
  return selfLink(base, page > 1 ? [...others, { name: 'page', value: String(page) }] : others);
}

/** The address with these parameters in their order. */
export function withQuery(base: string, pairs: readonly Pair[]): string {
  if (pairs.length === 0) return base;
  return `${base}?${pairs.map(({ name, value }) => `${encode(name)}=${encode(value)}`).join('&')}`;
}

/** The link to the very page, with every parameter sorted by name. */
export function selfLink(base: string, pairs: readonly Pair[]): string {
  return withQuery(
    base,
    pairs.toSorted((a, b) => compareCodePoints(a.name, b.name)),
  );
}

/** The link to all matches as one file, with the parameters that an export heeds. */
export function exportLink(prefix: string, format: string, pairs: readonly Pair[]): string {
  const heeded = pairs.filter(({ name }) => EXPORTED.has(name));
  return selfLink(prefix + EXPORT_PATH.replace(':format', format), heeded);
}

function compareCodePoints(a: string, b: string): number {
  if (ASCII.test(a + b)) return a < b ? -1 : Number(a > b);
  // UTF-16 sorts surrogates below U+E000, bytes of UTF-8 above
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const ASCII = /^[\0-\x7f]*$/;
const UNSAFE = /[^\w.~-]/;
/** What forms encode otherwise than `encodeURIComponent`. */
const OTHERWISE = /%20|[!'()*]/;

/** Form-encodes; only letters, digits and `_ . - ~` stay as they are. */
function encode(text: string): string {
  if (!UNSAFE.test(text)) return text;
  const encoded = encodeURIComponent(text);
  if (!OTHERWISE.test(encoded)) return encoded;
  return encoded.replaceAll(/%20|[!'()*]/g, (one) =>
    one === '%20' ? '+' : `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

interface FoundRows {
  readonly rows: ArrayLike<number>;
  readonly length: number;
  /** Has the rows from the dataset's `count` on. */
  readonly delta: Delta | undefined;
}

/** The records of these rows, valid until the next page in the same room. */
export function pointRecords(
  dataset: Dataset,
  { rows, length, delta }: FoundRows,
  room: PageRoom,
): PageRecords {
  const page = fetchPage(dataset, delta, rows, length, room);
  return {
    count: page.count,
    size: page.size,
    hash: () => hashRecords(page),
    longest: () => longestRecord(page),
    json(keys) {
      const show = showing(keys);
      return Array.from({ length }, (_, i) => show(fetchedRecord(page, i)).toString());
    },
    stored: (index) => fetchedRecord(page, index),
    copy: (target, at) => copyPage(page, target, at),
  };
}

/** Records that are no points, as JSON. */
export function jsonRecords(texts: readonly string[]): PageRecords {
  const bytes = Buffer.from(texts.join());
  return {
    count: texts.length,
    size: bytes.length,
    hash: () => hashBytes(bytes),
    longest: () => Math.max(...texts.map((text) => Buffer.byteLength(text))),
    json: () => texts,
    stored() {
      throw new Error('Expected points.');
    },
    copy: (target, at) => at + bytes.copy(target, at),
  };
}
