import type { Point } from '../../model/point.js';
import { MAX_BLOCK_POINTS, type PointBlock } from '../block.js';
import type { RenderedPoint } from './canonical.js';

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

  /** The block before, where a record of so many bytes has no room in it. */
  #reserve(bytes: number): PointBlock | undefined {
    const isFull = this.#count === MAX_BLOCK_POINTS || this.#size + bytes > BLOCK_BYTES;
    return isFull ? this.take() : undefined;
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
