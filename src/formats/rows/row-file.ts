import { createHash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InputError } from '../../model/quote.js';
import type { Progress } from '../snapshot.js';
import { unreadable } from '../system-files.js';

const CHUNK_BYTES = 256 * 1024;

/** A file that is read once from front to back, gunzipped where it is gzipped. */
export class RowFile {
  readonly path: string;
  /** Bytes of the file, and its time of modification in milliseconds since the epoch. */
  readonly size: number;
  readonly modifiedAt: number;
  readonly gzipped: boolean;
  readonly #handle: FileHandle;
  #digest: string | undefined;

  /** Throws an InputError when there is no such file, or it is none that can be read. */
  static async open(path: string): Promise<RowFile> {
    let handle: FileHandle | undefined;
    try {
      // before it is opened: opening a pipe would wait for its other end
      const stats = await stat(path);
      if (stats.isDirectory()) throw new Error('it is a folder');
      if (!stats.isFile()) throw new Error('it is no regular file');
      handle = await open(path);
      const { size, mtimeMs } = await handle.stat();
      const { buffer } = await handle.read(new Uint8Array(2), 0, 2, 0);
      return new RowFile(path, handle, { size, mtimeMs, start: buffer });
    } catch (error) {
      await handle?.close();
      throw unreadable(path, error);
    }
  }

  private constructor(
    path: string,
    handle: FileHandle,
    { size, mtimeMs, start }: { size: number; mtimeMs: number; start: Uint8Array },
  ) {
    this.path = path;
    this.size = size;
    this.modifiedAt = Math.floor(mtimeMs);
    this.gzipped = start[0] === 0x1f && start[1] === 0x8b;
    this.#handle = handle;
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
    for await (const _ of this.#raw());
  }

  /** Bytes of the file as it is on disk. Throws an InputError where they cannot be read. */
  async readAt(position: number, length: number): Promise<Buffer<ArrayBuffer>> {
    const bytes = Buffer.alloc(length);
    try {
      for (let at = 0; at < length; ) {
        const { bytesRead } = await this.#handle.read(bytes, at, length - at, position + at);
        if (bytesRead === 0) throw new Error(`it ends at byte ${position + at} of ${this.size}`);
        at += bytesRead;
      }
    } catch (error) {
      throw unreadable(this.path, error);
    }
    return bytes;
  }

  /** SHA-256 of the file's bytes, in hexadecimal. Throws if they have not been read to the end. */
  digest(): string {
    if (this.#digest === undefined) throw new Error('the snapshot has not been read to its end');
    return this.#digest;
  }

  /** Closes the file once no read is under way; it may be closed already. */
  close(): void {
    void this.#handle.close().catch(() => {});
  }

  async *#raw(onProgress?: Progress): AsyncGenerator<Uint8Array> {
    if (this.#digest !== undefined) throw new Error('a snapshot is read only once');
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const options = { start: 0, autoClose: false, highWaterMark: CHUNK_BYTES };
      for await (const chunk of this.#handle.createReadStream(options)) {
        hash.update(chunk);
        bytes += chunk.length;
        onProgress?.(bytes, this.size);
        yield chunk;
      }
    } catch (error) {
      throw unreadable(this.path, error);
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
