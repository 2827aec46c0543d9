import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { InputError } from '../../model/quote.js';
import { unreadable } from '../system-files.js';
import type { Fail } from './decode.js';
import {
  BIN8_MARK,
  BIN16_MARK,
  BIN32_MARK,
  FRAME_OVERHEAD,
  UINT32_BYTES,
  UINT32_MARK,
} from './format.js';

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
      if (!statSync(path).isFile()) throw new Error('it is no regular file');
      return new FrameFile(path, openSync(path, 'r'));
    } catch (error) {
      throw unreadable(path, error);
    }
  }

  /** Exactly `length` bytes from `position`, in memory that is reused. */
  read(position: number, length: number): Buffer {
    const into = this.#reserve(length).subarray(0, length);
    this.readInto(position, into);
    return into;
  }

  /** Fills `target` with the bytes from `position`. */
  readInto(position: number, target: Uint8Array): void {
    const { length } = target;
    if (position + length > this.size) {
      throw this.broken(position, 'the file ends too early: it is cut short or damaged');
    }
    let done = 0;
    while (done < length) {
      const got = this.#readSome(target, done, length - done, position + done);
      if (got === 0)
        throw this.broken(position + done, 'the file became shorter while it was read');
      done += got;
    }
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
    this.#requireIntact(place, { length, computed: crc32(object), crc });
    return { ...place, bytes, object };
  }

  /**
   * Reads a frame and checks it: `headSize` bytes of its object, which are returned, and the others
   * straight into `pieces`. Each of these has been filled when the next is asked for.
   */
  frameInto(place: FramePlace, headSize: number, pieces: Iterable<Uint8Array>): Buffer {
    // a copy: more is read before it is returned
    const start = Buffer.from(this.read(place.position, UINT32_BYTES + headSize));
    const head = start.subarray(UINT32_BYTES);
    let computed = crc32(head);
    let position = place.position + start.length;
    for (const piece of pieces) {
      this.readInto(position, piece);
      computed = crc32(piece, computed);
      position += piece.length;
    }
    const crc = uint32At(this.read(position, UINT32_BYTES), 0);
    this.#requireIntact(place, { length: uint32At(start, 0), computed, crc });
    return head;
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

  #requireIntact(
    place: FramePlace,
    found: { readonly length: number | undefined; computed: number; crc: number | undefined },
  ): void {
    const { length, computed, crc } = found;
    if (computed === place.crc && length === place.length && crc === place.crc) return;
    throw this.broken(
      place.position,
      `the checksum is ${hex(computed)}, expected ${hex(place.crc)}: the file is damaged or changed while it was read`,
    );
  }

  #readSome(into: Uint8Array, offset: number, length: number, position: number): number {
    if (!this.#open) throw new Error('the snapshot is closed');
    try {
      return readSync(this.#fd, into, offset, length, position);
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  #reserve(length: number): Buffer {
    if (this.#scratch.length < length) this.#scratch = Buffer.allocUnsafeSlow(length);
    return this.#scratch;
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

/** What a `bin` has before its bytes, by the width of its length. */
const BIN_HEAD_BYTES: readonly number[] = [2, 3, 5];

/** Of records, read and checked at a time. */
const STEP_BYTES = 256 * 1024;

const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Checks that `length` bytes can be a `bin` of `size` bytes, before memory is taken for it. */
export function checkBinSize(length: number, size: number, fail: Fail): void {
  if (!BIN_HEAD_BYTES.includes(length - size)) throw notOneBin(size, fail);
}

/** Checks the bytes that stand before those of a `bin`, as many as {@link checkBinSize} allows. */
export function checkBinHead(head: Buffer, size: number, fail: Fail): void {
  const claimed =
    head[0] === BIN8_MARK && head.length === 2
      ? head[1]
      : head[0] === BIN16_MARK && head.length === 3
        ? head.readUInt16BE(1)
        : head[0] === BIN32_MARK && head.length === 5
          ? head.readUInt32BE(1)
          : undefined;
  if (claimed !== size) throw notOneBin(size, fail);
}

/**
 * Goes through the memory of a block's records in steps, for each to be filled before the next is
 * asked for: it is checked then, while it is in the processor's cache. No piece cuts a record in
 * two. `onWrong` hears of each record that is not where the columns say.
 */
export function* recordSteps(
  pieces: readonly Uint8Array[],
  length: Uint32Array,
  onWrong: (record: number) => void,
): Generator<Uint8Array> {
  let record = 0;
  for (const piece of pieces) {
    let from = 0;
    for (let start = 0; start < piece.length; start += STEP_BYTES) {
      const end = Math.min(start + STEP_BYTES, piece.length);
      yield piece.subarray(start, end);
      for (let to = from + length[record]!; to <= end; to += length[record]!) {
        if (piece[from] !== BRACE_OPEN || piece[to - 1] !== BRACE_CLOSE) onWrong(record);
        from = to;
        record++;
      }
    }
    if (from !== piece.length) onWrong(record);
  }
}

function notOneBin(size: number, fail: Fail): InputError {
  return fail(`expected one bin object with ${size} bytes of records`);
}
