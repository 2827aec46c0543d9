import { type Point, textsOf } from '../model/point.js';
import type { Degrees, Microseconds } from '../model/units.js';
import { UnstoredRecord } from './record-layout.js';

/** A run of points in the order of their file, column by column. */
export interface ColumnBlock {
  readonly count: number;
  readonly id: Float64Array;
  /** {@link Degrees}. */
  readonly lat: Float64Array;
  readonly lon: Float64Array;
  /** {@link Microseconds} since the epoch. */
  readonly createdAt: Float64Array;
  readonly modifiedAt: Float64Array;
  /** The bytes of each stored record. */
  readonly length: Uint32Array;
  /** Undefined where the file has no columns of them. */
  readonly attributes?: AttributeColumns | undefined;
}

/** What filters ask for besides place and times; points have numbers of the block's texts. */
export interface AttributeColumns {
  readonly statusTexts: readonly string[];
  readonly status: Uint32Array;
  readonly flags: Uint8Array;
  /** -1 where there is no user. */
  readonly createdBy: Float64Array;
  readonly tagTexts: readonly string[];
  readonly tagCounts: Uint32Array;
  /** The tags of all points, one after the other. */
  readonly tags: Uint32Array;
}

/** A block with the stored records of its points end to end. */
export interface PointBlock extends ColumnBlock {
  readonly records: Uint8Array;
}

export const COLUMN_NAMES = ['id', 'lat', 'lon', 'createdAt', 'modifiedAt', 'length'] as const;

type ColumnName = (typeof COLUMN_NAMES)[number];

export function blockOf(
  count: number,
  columnOf: (name: ColumnName) => Float64Array | Uint32Array,
): ColumnBlock {
  const columns = Object.fromEntries(COLUMN_NAMES.map((name) => [name, columnOf(name)]));
  return { count, ...columns } as unknown as ColumnBlock;
}

/** The memory of a block, to transfer to another thread. */
export function memoryOfBlock({ records, ...columns }: PointBlock): ArrayBuffer[] {
  const all = [records, ...COLUMN_NAMES.map((name) => columns[name])];
  return all.map(({ buffer }) => buffer as ArrayBuffer);
}

export function allocateColumns(count: number): ColumnBlock {
  return blockOf(count, (name) =>
    name === 'length' ? new Uint32Array(count) : new Float64Array(count),
  );
}

export const MAX_BLOCK_POINTS = 65_536;

/** The most bytes of a record as JSON: 4,096 of the longest, stored, fit a gibibyte. */
export const MAX_RECORD_BYTES = 262_142;

export interface PointColumns {
  readonly id: number;
  readonly lat: number;
  readonly lon: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly record: UnstoredRecord;
}

export function columnsOf(point: Point): PointColumns {
  // named one by one: a spread costs a tenth of a record
  return {
    id: point.id,
    lat: Number(point.lat),
    lon: Number(point.lon),
    createdAt: point.createdAt.micros,
    modifiedAt: point.modifiedAt.micros,
    record: new UnstoredRecord(textsOf(point)),
  };
}

const BLOCK_BYTES = 16 * 1024 * 1024;

export class BlockBuilder {
  readonly #full: PointBlock[] = [];
  readonly #columns = allocateColumns(MAX_BLOCK_POINTS);
  readonly #records = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #count = 0;
  #size = 0;

  add(point: PointColumns): void {
    const { length } = point.record;
    if (this.#count === MAX_BLOCK_POINTS || this.#size + length > BLOCK_BYTES) this.#end();
    point.record.storeAt(this.#records, this.#size);
    const columns = this.#columns;
    const i = this.#count++;
    columns.id[i] = point.id;
    columns.lat[i] = point.lat;
    columns.lon[i] = point.lon;
    columns.createdAt[i] = point.createdAt;
    columns.modifiedAt[i] = point.modifiedAt;
    columns.length[i] = length;
    this.#size += length;
  }

  get hasFull(): boolean {
    return this.#full.length > 0;
  }

  /** The points that were added since the last call. */
  take(): PointBlock[] {
    if (this.#count > 0) this.#end();
    return this.#full.splice(0);
  }

  #end(): void {
    const count = this.#count;
    const columns = blockOf(count, (name) => this.#columns[name].slice(0, count));
    const records = new Uint8Array(this.#records.subarray(0, this.#size));
    this.#count = 0;
    this.#size = 0;
    this.#full.push({ ...columns, records });
  }
}
