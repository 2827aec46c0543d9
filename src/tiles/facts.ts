import type { Dataset } from '../dataset/dataset.js';
import { recordBytes } from '../dataset/records.js';
import type { Row } from '../dataset/row.js';
import { type TailMatches, tailRecord } from '../dataset/tail.js';
import type { Microseconds } from '../model/units.js';
import type { LayerWriter, Value } from './layer.js';

/** The rows of a dataset and of a tail, whose row `i` is row `dataset.count + i`. */
export class Points {
  readonly #dataset: Dataset;
  readonly #accepted: TailMatches | undefined;

  constructor(dataset: Dataset, accepted: TailMatches | undefined) {
    this.#dataset = dataset;
    this.#accepted = accepted;
  }

  id(row: Row): number {
    const { count, byId } = this.#dataset;
    return row < count ? byId.keys[byId.ranks[row]!]! : this.#accepted!.tail.id[row - count]!;
  }

  createdAt(row: Row): Microseconds {
    const { count, byCreatedAt } = this.#dataset;
    if (row >= count) return this.#accepted!.tail.createdAt[row - count]!;
    return byCreatedAt.keys[byCreatedAt.ranks[row]!]!;
  }

  modifiedAt(row: Row): Microseconds {
    const { count, byModifiedAt } = this.#dataset;
    if (row >= count) return this.#accepted!.tail.modifiedAt[row - count]!;
    return byModifiedAt.keys[byModifiedAt.ranks[row]!]!;
  }

  /** The point's JSON, as `renderPoint` makes it. */
  record(row: Row): Buffer {
    const { count, records } = this.#dataset;
    const bytes =
      row < count ? recordBytes(records, row) : tailRecord(this.#accepted!.tail, row - count);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }
}

const STATUS = Buffer.from(',"status":"');
const IS_PROCESSED = Buffer.from(',"is_processed":');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const TRUE = 0x74;

/** Properties of every single point. */
const ALWAYS: ReadonlySet<string> = new Set(['id', 'status', 'is_processed', 'created_at']);

/** Writes the properties of a point: the usual ones, then those of `fields` that it has. */
export function writeProperties(
  layer: LayerWriter,
  points: Points,
  row: Row,
  id: number,
  fields: readonly string[],
): void {
  const record = points.record(row);
  layer.property('id', id);
  layer.property('status', statusOf(record));
  layer.property('is_processed', isProcessed(record));
  layer.property('created_at', Math.floor(points.createdAt(row) / 1e6));
  const others = fields.filter((field) => !ALWAYS.has(field));
  if (others.length === 0) return;
  const values = JSON.parse(record.toString()) as Readonly<Record<string, Value | string[]>>;
  for (const field of others) {
    const value = values[field];
    if (value === undefined) continue;
    if (field === 'modified_at') layer.property(field, Math.floor(points.modifiedAt(row) / 1e6));
    // properties are no lists
    else layer.property(field, Array.isArray(value) ? JSON.stringify(value) : value);
  }
}

function statusOf(record: Buffer): string {
  const start = record.indexOf(STATUS) + STATUS.length;
  let end = start;
  while (record[end] !== QUOTE) end += record[end] === BACKSLASH ? 2 : 1;
  return JSON.parse(record.toString('utf8', start - 1, end + 1)) as string;
}

/** The words are nowhere else in a record, since quotes within text have a backslash before them. */
function isProcessed(record: Buffer): boolean {
  return record[record.indexOf(IS_PROCESSED) + IS_PROCESSED.length] === TRUE;
}
