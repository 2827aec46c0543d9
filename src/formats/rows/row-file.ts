import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fstatSync,
  openSync,
  type ReadStream,
  read,
  readSync,
  statSync,
} from 'node:fs';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { InputError } from '../../model/quote.js';
import type { Progress } from '../snapshot.js';
import { unreadable } from '../system-files.js';

const CHUNK_BYTES = 256 * 1024;

const readFrom = promisify(read);

/** A file that is read once from front to back, gunzipped where it is gzipped. */
export class RowFile {
  readonly path: string;
  /** Bytes of the file, and its time of modification in milliseconds since the epoch. */
  readonly size: number;
  readonly modifiedAt: number;
  readonly gzipped: boolean;
  readonly #fd: number;
  #stream: ReadStream | undefined;
  #open = true;
  #digest: string | undefined;

  /** Throws an InputError when there is no such file, or it is none that can be read. */
  constructor(path: string) {
    this.path = path;
    let fd: number | undefined;
    try {
      // before it is opened: opening a pipe would wait for its other end
      const stats = statSync(path);
      if (stats.isDirectory()) throw new Error('it is a folder');
      if (!stats.isFile()) throw new Error('it is no regular file');
      fd = openSync(path, 'r');
      const { size, mtimeMs } = fstatSync(fd);
      const start = new Uint8Array(2);
      readSync(fd, start, 0, 2, 0);
      this.#fd = fd;
      this.size = size;
      this.modifiedAt = Math.floor(mtimeMs);
      this.gzipped = start[0] === 0x1f && start[1] === 0x8b;
    } catch (error) {
      if (fd !== undefined) closeSync(fd);
      throw unreadable(path, error);
    }
  }

  /** Throws an InputError where the file cannot be read on, or its gzip data is damaged. */
  async *chunks(onProgress?: Progress): AsyncGenerator<Uint8Array> {
    if (!this.gzipped) {
      yield* this.#raw(onProgress);
      return;
    }
    const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
    // what goes wrong reaches the loop below through gunzip
    pipeline(this.#raw(onProgress), gunzip, () => {});
    try {
      for await (const chunk of gunzip) yield chunk;
    } catch (error) {
      throw this.#damaged(error, gunzip.bytesWritten);
    }
    if (gunzip.bytesWritten !== this.size) {
      throw new InputError(
        `${this.path}: the gzip data ends at byte ${gunzip.bytesWritten} of ${this.size}; ` +
          'what follows is no gzip data',
      );
    }
  }

  /** Reads the file for its digest; then {@link readAt} reads any part of it. */
  async hash(): Promise<void> {
    if (!this.#open || this.#digest !== undefined) throw new Error('a snapshot is read only once');
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let at = 0; at < this.size; ) {
      const bytes = await this.#read(chunk, at);
      hash.update(chunk.subarray(0, bytes));
      at += bytes;
    }
    this.#digest = hash.digest('hex');
  }

  /** Bytes of the file as it is on disk. Throws an InputError where they cannot be read. */
  async readAt(position: number, length: number): Promise<Buffer<ArrayBuffer>> {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; ) at += await this.#read(bytes.subarray(at), position + at);
    return bytes;
  }

  /** Reads a part of what is wanted, of at least one byte; returns how many there are. */
  async #read(into: Buffer, position: number): Promise<number> {
    try {
      const { bytesRead } = await readFrom(this.#fd, into, 0, into.length, position);
      if (bytesRead === 0) throw new Error(`it ends at byte ${position} of ${this.size}`);
      return bytesRead;
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  /** SHA-256 of the file's bytes, in hexadecimal. Throws if they have not been read to the end. */
  digest(): string {
    if (this.#digest === undefined) throw new Error('the snapshot has not been read to its end');
    return this.#digest;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    // a stream closes its file itself, once no read is under way
    if (this.#stream === undefined) closeSync(this.#fd);
    else this.#stream.destroy();
  }

  async *#raw(onProgress: Progress | undefined): AsyncGenerator<Uint8Array> {
    if (!this.#open || this.#stream !== undefined) throw new Error('a snapshot is read only once');
    const hash = createHash('sha256');
    const stream = createReadStream(this.path, {
      fd: this.#fd,
      start: 0,
      highWaterMark: CHUNK_BYTES,
    });
    this.#stream = stream;
    let bytes = 0;
    try {
      for await (const chunk of stream) {
        hash.update(chunk);
        bytes += chunk.length;
        onProgress?.(bytes, this.size);
        yield chunk;
      }
    } catch (error) {
      throw this.#open ? unreadable(this.path, error) : new Error('the snapshot is closed');
    }
    this.#digest = hash.digest('hex');
  }

  #damaged(error: unknown, position: number): unknown {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !code.startsWith('Z_')) return error;
    const behind = position === 0 ? '' : ` behind byte ${position}`;
    let reason = `is damaged${behind} (${message})`;
    if (code === 'Z_BUF_ERROR') reason = `is cut short at byte ${position}`;
    // the file begins with the right header: what this one is missed in comes behind whole gzip
    // data
    if (message === 'incorrect header check') reason = `is followed by something else${behind}`;
    return new InputError(`${this.path}: the gzip data ${reason}`, { cause: error });
  }
}
