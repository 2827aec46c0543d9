import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { InputError } from '../../model/quote.js';
import { MAGIC } from '../snapshot.js';
import { unreadable } from '../system-files.js';
import { FRAME_OVERHEAD, UINT32_BYTES, UINT32_MARK } from './format.js';

/** Where a frame lies in its file; `length` is that of its object. */
export interface FramePlace {
  readonly position: number;
  readonly length: number;
  readonly crc: number;
}

/** A frame whose checksum is right. */
export interface Frame extends FramePlace {
  /** The whole frame; it may be overwritten when the next one is read. */
  readonly bytes: Buffer;
  readonly object: Buffer;
}

/** No length that the file claims is trusted: memory is only taken for what is there. */
export class FrameFile {
  readonly path: string;
  readonly size: number;
  readonly #fd: number;
  #open = true;
  #scratch = Buffer.alloc(0);

  /** `fd` is open for reading; `path` names the file in errors. */
  constructor(path: string, fd: number) {
    this.path = path;
    this.size = fstatSync(fd).size;
    this.#fd = fd;
  }

  /** Throws an InputError when there is no such file, or it is none that can be read. */
  static open(path: string): FrameFile {
    try {
      // before it is opened: opening a pipe would wait for its other end
      const stats = statSync(path);
      if (stats.isDirectory()) throw new Error('it is a folder');
      if (!stats.isFile()) throw new Error('it is no regular file');
      return new FrameFile(path, openSync(path, 'r'));
    } catch (error) {
      throw unreadable(path, error);
    }
  }

  /** Exactly `length` bytes from `position`, in memory that is reused. */
  read(position: number, length: number): Buffer {
    if (this.#scratch.length < length) this.#scratch = Buffer.allocUnsafeSlow(length);
    const into = this.#scratch.subarray(0, length);
    if (position + length > this.size) {
      throw this.broken(position, 'the file ends too early: it is cut short or damaged');
    }
    let done = 0;
    while (done < length) {
      const got = this.#readSome(into, done, length - done, position + done);
      if (got === 0)
        throw this.broken(position + done, 'the file became shorter while it was read');
      done += got;
    }
    return into;
  }

  /** The frame must end by `end`, its object have at most `limit` bytes. */
  place(position: number, end: number, limit: number): FramePlace {
    if (position + FRAME_OVERHEAD > end) throw this.broken(position, 'a frame is cut short');
    const length = this.#uint32(position);
    if (length > limit || position + FRAME_OVERHEAD + length > end) {
      const room = Math.min(limit, end - position - FRAME_OVERHEAD);
      throw this.broken(position, `a frame claims ${length} bytes where at most ${room} can be`);
    }
    return { position, length, crc: this.#uint32(position + UINT32_BYTES + length) };
  }

  frame(place: FramePlace): Frame {
    const bytes = this.read(place.position, place.length + FRAME_OVERHEAD);
    const object = bytes.subarray(UINT32_BYTES, UINT32_BYTES + place.length);
    const length = uint32At(bytes, 0);
    const crc = uint32At(bytes, UINT32_BYTES + place.length);
    const computed = crc32(object);
    if (computed !== place.crc || length !== place.length || crc !== place.crc) {
      throw this.broken(
        place.position,
        `the checksum is ${hex(computed)}, expected ${hex(place.crc)}: the file is damaged ` +
          'or changed while it was read',
      );
    }
    return { ...place, bytes, object };
  }

  broken(position: number, reason: string): InputError {
    return new InputError(`${this.path}: broken at byte ${position}: ${reason}`);
  }

  close(): void {
    if (this.#open) closeSync(this.#fd);
    this.#open = false;
    this.#scratch = Buffer.alloc(0);
  }

  #uint32(position: number): number {
    const value = uint32At(this.read(position, UINT32_BYTES), 0);
    if (value === undefined) throw this.broken(position, 'expected a uint32 between two frames');
    return value;
  }

  #readSome(into: Uint8Array, offset: number, length: number, position: number): number {
    if (!this.#open) throw new Error('the snapshot is closed');
    try {
      return readSync(this.#fd, into, offset, length, position);
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }
}

export function frameBytes(place: FramePlace): number {
  return place.length + FRAME_OVERHEAD;
}

export function failAt(file: FrameFile, place: FramePlace): (reason: string) => InputError {
  return (reason) => file.broken(place.position, reason);
}

function uint32At(bytes: Buffer, offset: number): number | undefined {
  return bytes[offset] === UINT32_MARK ? bytes.readUInt32BE(offset + 1) : undefined;
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}

/** Whether a file begins as native ones do. Throws an InputError where it cannot be read. */
export function isNative(path: string): boolean {
  const file = FrameFile.open(path);
  try {
    return beginsNative(file);
  } finally {
    file.close();
  }
}

export function beginsNative(file: FrameFile): boolean {
  return file.size >= MAGIC.length && file.read(0, MAGIC.length).equals(MAGIC);
}
