import type { PointBlock } from '../block.js';
import { BucketFile } from './bucket-file.js';
import { allocateColumns } from './decode.js';

/** What a block will hold: its points, and the bytes of their records. */
export interface BlockSize {
  readonly count: number;
  readonly size: number;
}

/** Columns of a point in a bucket, then the bytes of its record and its place in the block. */
const HEAD_NUMBERS = 7;
const HEAD_BYTES = HEAD_NUMBERS * 8;

/**
 * Takes points in one order and gives them back in another, block by block, by way of a file: a
 * block has a bucket there, in which its points lie as they came.
 */
export class BlockSpool {
  readonly #sizes: readonly BlockSize[];
  readonly #buckets: BucketFile;
  readonly #head = new Float64Array(HEAD_NUMBERS);
  readonly #headBytes = Buffer.from(this.#head.buffer);

  /** The file is open for reading and writing, and empty; it stays the caller's to close. */
  constructor(fd: number, sizes: readonly BlockSize[]) {
    this.#sizes = sizes;
    this.#buckets = new BucketFile(
      fd,
      sizes.map(({ count, size }) => count * HEAD_BYTES + size),
    );
  }

  /**
   * Adds points: number `i` of them belongs to block `blockOf[i]` and is number `placeOf[i]` there.
   */
  add(points: PointBlock, blockOf: Uint32Array, placeOf: Uint32Array): void {
    const { id, lat, lon, createdAt, modifiedAt, length } = points;
    const head = this.#head;
    const records = asBuffer(points.records);
    let start = 0;
    for (let i = 0; i < points.count; i++) {
      const end = start + length[i]!;
      head[0] = id[i]!;
      head[1] = lat[i]!;
      head[2] = lon[i]!;
      head[3] = createdAt[i]!;
      head[4] = modifiedAt[i]!;
      head[5] = length[i]!;
      head[6] = placeOf[i]!;
      this.#buckets.put(blockOf[i]!, this.#headBytes, 0, HEAD_BYTES);
      this.#buckets.put(blockOf[i]!, records, start, end);
      start = end;
    }
  }

  /** All blocks in turn, once all points have been added. */
  *blocks(): Generator<PointBlock> {
    let next = 0;
    for (const bytes of this.#buckets.contents()) yield this.#unpack(bytes, this.#sizes[next++]!);
  }

  #unpack(bytes: Buffer, { count, size }: BlockSize): PointBlock {
    const block = { ...allocateColumns(count), records: Buffer.allocUnsafeSlow(size) };
    const head = this.#head;
    const starts = new Uint32Array(count);
    for (let at = 0; at < bytes.length; ) {
      at += bytes.copy(this.#headBytes, 0, at, at + HEAD_BYTES);
      const place = head[6]!;
      block.id[place] = head[0]!;
      block.lat[place] = head[1]!;
      block.lon[place] = head[2]!;
      block.createdAt[place] = head[3]!;
      block.modifiedAt[place] = head[4]!;
      block.length[place] = head[5]!;
      starts[place] = at;
      at += head[5]!;
    }
    let end = 0;
    for (let place = 0; place < count; place++) {
      const start = starts[place]!;
      end += bytes.copy(block.records, end, start, start + block.length[place]!);
    }
    return block;
  }
}

/** A view: its `copy` is several times faster than `subarray` and `set`. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
