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

  /** Adds a point with its rendered JSON; returns the block before it when that is full. */
  add({ id, lat, lon, createdAt, modifiedAt }: Point, bytes: Uint8Array): PointBlock | undefined {
    const times = { createdAt: createdAt.micros, modifiedAt: modifiedAt.micros };
    return this.addRendered({ id, lat: Number(lat), lon: Number(lon), ...times, bytes });
  }

  /** The same for a point whose bytes say all of it. */
  addRendered(point: RenderedPoint): PointBlock | undefined {
    const { length } = point.bytes;
    const isFull = this.#count === MAX_BLOCK_POINTS || this.#size + length > BLOCK_BYTES;
    const block = isFull ? this.take() : undefined;
    if (this.#count === this.#columns.count) this.#growColumns();
    if (this.#size + length > this.#records.length) this.#growRecords(length);
    this.#records.set(point.bytes, this.#size);
    const columns = this.#columns;
    const i = this.#count++;
    columns.id[i] = point.id;
    columns.lat[i] = point.lat;
    columns.lon[i] = point.lon;
    columns.createdAt[i] = point.createdAt;
    columns.modifiedAt[i] = point.modifiedAt;
    columns.length[i] = length;
    this.#size += length;
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
