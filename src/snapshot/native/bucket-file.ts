import { readSync } from 'node:fs';
import { writeAll } from '../write-all.js';

/** Memory of all buckets together, in which bytes wait to be written in large pieces. */
const BUFFER_BYTES = 32 * 1024 * 1024;

/**
 * A file in parts of known sizes, the buckets, which are all filled at once, a little at a time.
 * Each is read in one go, when everything has been put in.
 */
export class BucketFile {
  readonly #fd: number;
  readonly #sizes: readonly number[];
  readonly #buffer: Buffer;
  /** Bytes of the buffer that each bucket has. */
  readonly #share: number;
  /** How many of them wait. */
  readonly #waiting: Uint32Array;
  /** Where the next bytes of each bucket go in the file. */
  readonly #position: Float64Array;
  #read = Buffer.alloc(0);

  /** The file is open for reading and writing, and empty; it stays the caller's to close. */
  constructor(fd: number, sizes: readonly number[], bufferBytes: number = BUFFER_BYTES) {
    this.#fd = fd;
    this.#sizes = sizes;
    this.#buffer = Buffer.allocUnsafeSlow(bufferBytes);
    this.#share = Math.floor(bufferBytes / sizes.length);
    this.#waiting = new Uint32Array(sizes.length);
    this.#position = new Float64Array(sizes.length);
    for (let i = 1; i < sizes.length; i++) {
      this.#position[i] = this.#position[i - 1]! + sizes[i - 1]!;
    }
  }

  /** Puts bytes `from` to `to - 1` of a buffer into a bucket, behind those that are in it. */
  put(bucket: number, bytes: Buffer, from: number, to: number): void {
    if (this.#waiting[bucket]! + to - from > this.#share) this.#flush(bucket);
    if (to - from > this.#share) {
      this.#write(bucket, bytes.subarray(from, to));
      return;
    }
    const at = bucket * this.#share + this.#waiting[bucket]!;
    this.#waiting[bucket]! += bytes.copy(this.#buffer, at, from, to);
  }

  /** The bytes of each bucket in turn, once all are full; valid until the next are asked for. */
  *contents(): Generator<Buffer> {
    let position = 0;
    for (const [bucket, size] of this.#sizes.entries()) {
      this.#flush(bucket);
      if (this.#read.length < size) this.#read = Buffer.allocUnsafeSlow(size);
      const bytes = this.#read.subarray(0, size);
      for (let done = 0; done < size; ) {
        const got = readSync(this.#fd, bytes, done, size - done, position + done);
        if (got === 0) throw new Error(`Bucket ${bucket} is not full.`);
        done += got;
      }
      position += size;
      yield bytes;
    }
  }

  #flush(bucket: number): void {
    const at = bucket * this.#share;
    this.#write(bucket, this.#buffer.subarray(at, at + this.#waiting[bucket]!));
    this.#waiting[bucket] = 0;
  }

  #write(bucket: number, bytes: Uint8Array): void {
    writeAll(this.#fd, bytes, this.#position[bucket]!);
    this.#position[bucket]! += bytes.length;
  }
}
