import type { Point } from '../../model/point.js';
import { MAX_BLOCK_POINTS, type PointBlock } from '../block.js';

/** Records of a block; the next one that does not fit begins another. */
const BLOCK_BYTES = 16 * 1024 * 1024;

/** Collects points into blocks. */
export class BlockBuilder {
  readonly #id = new Float64Array(MAX_BLOCK_POINTS);
  readonly #lat = new Float64Array(MAX_BLOCK_POINTS);
  readonly #lon = new Float64Array(MAX_BLOCK_POINTS);
  readonly #createdAt = new Float64Array(MAX_BLOCK_POINTS);
  readonly #modifiedAt = new Float64Array(MAX_BLOCK_POINTS);
  readonly #length = new Uint32Array(MAX_BLOCK_POINTS);
  readonly #records = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #count = 0;
  #size = 0;

  /**
   * Adds a point and its rendered JSON, whose bytes the caller has counted. Returns the block before
   * it when that is full.
   */
  add(point: Point, json: string, bytes: number): PointBlock | undefined {
    const isFull = this.#count === MAX_BLOCK_POINTS || this.#size + bytes > BLOCK_BYTES;
    const block = isFull ? this.take() : undefined;
    const i = this.#count;
    this.#id[i] = point.id;
    this.#lat[i] = Number(point.lat);
    this.#lon[i] = Number(point.lon);
    this.#createdAt[i] = point.createdAt.micros;
    this.#modifiedAt[i] = point.modifiedAt.micros;
    this.#length[i] = bytes;
    this.#records.write(json, this.#size);
    this.#count = i + 1;
    this.#size += bytes;
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
