import type { Point } from '../../model/point.js';
import {
  allocateColumns,
  blockOf,
  COLUMN_NAMES,
  MAX_BLOCK_POINTS,
  type PointBlock,
} from '../block.js';
import type { RenderedPoint } from './canonical.js';

/** Records of a block; the next one that does not fit begins another. */
const BLOCK_BYTES = 16 * 1024 * 1024;

/** Points and bytes that a builder has room for at first: most of the small files fit. */
const FIRST_POINTS = 1_024;
const FIRST_BYTES = 256 * 1024;

/** Collects points into blocks, in memory that grows with the largest block so far. */
export class BlockBuilder {
  #columns = allocateColumns(FIRST_POINTS);
  #records = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #count = 0;
  #size = 0;

  /** Adds a point; returns the block before it when that is full. */
  add(point: Point, json: string, bytes: number): PointBlock | undefined {
    const block = this.#reserve(bytes);
    const { id, lat, lon, createdAt, modifiedAt } = point;
    this.#records.write(json, this.#size);
    this.#push(id, Number(lat), Number(lon), createdAt.micros, modifiedAt.micros, bytes);
    return block;
  }

  /** Makes room for a record of so many bytes; returns the block before it when that is full. */
  #reserve(bytes: number): PointBlock | undefined {
    const isFull = this.#count === MAX_BLOCK_POINTS || this.#size + bytes > BLOCK_BYTES;
    const block = isFull ? this.take() : undefined;
    if (this.#count === this.#columns.count) this.#growColumns();
    if (this.#size + bytes > this.#records.length) this.#growRecords(bytes);
    return block;
  }

  #growColumns(): void {
    const before = this.#columns;
    this.#columns = allocateColumns(Math.min(2 * this.#count, MAX_BLOCK_POINTS));
    for (const name of COLUMN_NAMES) this.#columns[name].set(before[name]);
  }

  #growRecords(bytes: number): void {
    let size = this.#records.length;
    while (size < this.#size + bytes) size = Math.min(4 * size, BLOCK_BYTES);
    const records = Buffer.allocUnsafeSlow(size);
    this.#records.copy(records, 0, 0, this.#size);
    this.#records = records;
  }

  #push(
    id: number,
    lat: number,
    lon: number,
    createdAt: number,
    modifiedAt: number,
    bytes: number,
  ): void {
    const i = this.#count;
    const columns = this.#columns;
    columns.id[i] = id;
    columns.lat[i] = lat;
    columns.lon[i] = lon;
    columns.createdAt[i] = createdAt;
    columns.modifiedAt[i] = modifiedAt;
    columns.length[i] = bytes;
    this.#count = i + 1;
    this.#size += bytes;
  }

  /** Adds a point whose bytes are its rendered JSON; else as {@link add}. */
  addRendered({
    id,
    lat,
    lon,
    createdAt,
    modifiedAt,
    bytes,
  }: RenderedPoint): PointBlock | undefined {
    const block = this.#reserve(bytes.length);
    this.#records.set(bytes, this.#size);
    this.#push(id, lat, lon, createdAt, modifiedAt, bytes.length);
    return block;
  }

  /** What has been collected since the last block; undefined when that is nothing. */
  take(): PointBlock | undefined {
    const count = this.#count;
    if (count === 0) return undefined;
    const columns = blockOf(count, (name) => this.#columns[name].slice(0, count));
    const records = new Uint8Array(this.#records.subarray(0, this.#size));
    this.#count = 0;
    this.#size = 0;
    return { ...columns, records };
  }
}
