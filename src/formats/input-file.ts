import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { InputError } from '../model/quote.js';
import { marksOf, unreadable } from './system-files.js';

export class InputFile {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** {@link marksOf} the file as it was opened. */
  readonly marks: string;
  readonly #fd: number;
  #isOpen = true;

  /** Throws an InputError where there is no such file or it cannot be read. */
  constructor(path: string) {
    this.path = path;
    this.#fd = openFile(path);
    const stats = fstatSync(this.#fd);
    this.size = stats.size;
    this.modifiedAt = Math.floor(stats.mtimeMs);
    this.marks = marksOf(stats);
  }

  /** Reads from `position` on; returns the number of bytes. Throws an InputError. */
  readInto(memory: Uint8Array, position: number): number {
    if (!this.#isOpen) throw new Error('the snapshot is closed');
    let done = 0;
    try {
      for (let got = -1; got !== 0 && done < memory.length; done += got) {
        got = readSync(this.#fd, memory, done, memory.length - done, position + done);
      }
    } catch (error) {
      throw unreadable(this.path, error);
    }
    return done;
  }

  /** Throws an InputError where the file has changed since it was opened. */
  requireUnchanged(): void {
    const { size, mtimeMs } = fstatSync(this.#fd);
    if (size === this.size && Math.floor(mtimeMs) === this.modifiedAt) return;
    throw new InputError(`${this.path}: it changed while it was read`);
  }

  /** May be called again. */
  close(): void {
    if (this.#isOpen) closeSync(this.#fd);
    this.#isOpen = false;
  }
}

function openFile(path: string): number {
  try {
    // before opening: to open a pipe would wait for its other end
    const stats = statSync(path);
    if (stats.isDirectory()) throw new Error('it is a folder');
    if (!stats.isFile()) throw new Error('it is no regular file');
    return openSync(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
}
