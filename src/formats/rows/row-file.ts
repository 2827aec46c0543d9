import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { InputError } from '../../model/quote.js';
import { InputFile } from '../input-file.js';
import type { Progress } from '../snapshot.js';
import { unreadable } from '../system-files.js';

const CHUNK_BYTES = 256 * 1024;

/** A file that is read once from front to back, and gunzipped. */
export class RowFile extends InputFile {
  #digest: string | undefined;

  get gzipped(): boolean {
    const start = new Uint8Array(2);
    this.readInto(start, 0);
    return start[0] === 0x1f && start[1] === 0x8b;
  }

  /** Throws an InputError where the file cannot be read or its gzip data is damaged. */
  async *chunks(onProgress?: Progress): AsyncGenerator<Uint8Array> {
    if (!this.gzipped) {
      yield* this.#raw(onProgress);
      return;
    }
    const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
    // errors reach the loop below through gunzip
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

  /** Reads the file for its digest alone. */
  async hash(): Promise<void> {
    for await (const _ of this.#raw());
  }

  /** Reads bytes of the file as it is on disk. Throws an InputError. */
  readAt(position: number, length: number): Buffer<ArrayBuffer> {
    const bytes = Buffer.alloc(length);
    const end = position + this.readInto(bytes, position);
    if (end === position + length) return bytes;
    throw unreadable(this.path, new Error(`it ends at byte ${end} of ${this.size}`));
  }

  /** SHA-256 of the file in hexadecimal. Throws where it has not been read to its end. */
  digest(): string {
    if (this.#digest === undefined) throw new Error('the snapshot has not been read to its end');
    return this.#digest;
  }

  async *#raw(onProgress?: Progress): AsyncGenerator<Uint8Array> {
    if (this.#digest !== undefined) throw new Error('a snapshot is read only once');
    const hash = createHash('sha256');
    for (let bytes = 0; ; ) {
      const memory = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const chunk = memory.subarray(0, this.readInto(memory, bytes));
      if (chunk.length === 0) break;
      hash.update(chunk);
      bytes += chunk.length;
      onProgress?.(bytes, this.size);
      yield chunk;
      // lets signals and threads have their turn
      await turn();
    }
    this.#digest = hash.digest('hex');
  }

  #damaged(error: unknown, position: number): unknown {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !code.startsWith('Z_')) return error;
    const behind = position === 0 ? '' : ` behind byte ${position}`;
    let reason = `is damaged${behind} (${message})`;
    if (code === 'Z_BUF_ERROR') reason = `is cut short at byte ${position}`;
    // the header of the file is right: a second one is missing behind whole gzip data
    if (message === 'incorrect header check') reason = `is followed by something else${behind}`;
    return new InputError(`${this.path}: the gzip data ${reason}`, { cause: error });
  }
}
