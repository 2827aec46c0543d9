import type { Point } from '../../model/point.js';
import { MAX_BLOCK_POINTS, type PointBlock } from '../block.js';
import type { RenderedPoint } from './canonical.js';

/** Records of a block; the next one that does not fit begins another. */
const BLOCK_BYTES = 16 * 1024 * 1024;

/** Points and bytes that a builder has room for at first: most of the small files fit. */
const FIRST_POINTS = 1_024;
const FIRST_BYTES = 256 * 1024;

/** Collects points into blocks, in memory that grows with the largest block so far. */
export class BlockBuilder {
  #id = new Float64Array(FIRST_POINTS);
  #lat = new Float64Array(FIRST_POINTS);
  #lon = new Float64Array(FIRST_POINTS);
  #createdAt = new Float64Array(FIRST_POINTS);
  #modifiedAt = new Float64Array(FIRST_POINTS);
  #length = new Uint32Array(FIRST_POINTS);
  #records = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #count = 0;
  #size = 0;

  /**
   * Adds a point and its rendered JSON, whose bytes the caller has counted. Returns the block
   * before it when that is full.
   */
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
    if (this.#count === this.#id.length) this.#growColumns();
    if (this.#size + bytes > this.#records.length) this.#growRecords(bytes);
    return block;
  }

  #growColumns(): void {
    const points = Math.min(2 * this.#count, MAX_BLOCK_POINTS);
    this.#id = grown(this.#id, new Float64Array(points));
    this.#lat = grown(this.#lat, new Float64Array(points));
    this.#lon = grown(this.#lon, new Float64Array(points));
    this.#createdAt = grown(this.#createdAt, new Float64Array(points));
    this.#modifiedAt = grown(this.#modifiedAt, new Float64Array(points));
    this.#length = grown(this.#length, new Uint32Array(points));
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
    this.#id[i] = id;
    this.#lat[i] = lat;
    this.#lon[i] = lon;
    this.#createdAt[i] = createdAt;
    this.#modifiedAt[i] = modifiedAt;
    this.#length[i] = bytes;
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
    const block: PointBlock = {
      count,
      id: this.#id.slice(0, count),
      lat: this.#lat.slice(0, count),
      lon: this.#lon.slice(0, count),
      createdAt: this.#createdAt.slice(0, count),
      modifiedAt: this.#modifiedAt.slice(0, count),
      length: this.#length.slice(0, count),
      records: new Uint8Array(this.#records.subarray(0, this.#size)),
    };
    this.#count = 0;
    this.#size = 0;
    return block;
  }
}

/** The larger array, with what the smaller one holds at its beginning. */
function grown<T extends Float64Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
