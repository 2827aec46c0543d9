import { crc32 } from 'node:zlib';
import { release } from '../../model/memory.js';
import { InputError } from '../../model/quote.js';
import { InputFile } from '../input-file.js';
import { MAGIC } from '../snapshot.js';
import { FRAME_OVERHEAD, UINT32_BYTES, UINT32_MARK } from './format.js';

/** The place of a frame in its file, and the length of its object. */
export interface FramePlace {
  readonly position: number;
  readonly length: number;
  readonly crc: number;
  /** Behind the frame. */
  readonly end: number;
}

export interface Frame extends FramePlace {
  /** The whole frame, until the next one is read. */
  readonly bytes: Buffer;
  readonly object: Buffer;
}

/** Takes no memory for a length that the file claims, but for bytes that are there. */
export class FrameFile extends InputFile {
  #scratch = Buffer.allocUnsafeSlow(0);

  isNative(): boolean {
    return this.size >= MAGIC.length && this.read(0, MAGIC.length).equals(MAGIC);
  }

  /** Reads exactly `length` bytes, in memory that the next read reuses. */
  read(position: number, length: number): Buffer {
    if (this.#scratch.length < length) {
      release(this.#scratch);
      this.#scratch = Buffer.allocUnsafeSlow(length);
    }
    if (position + length > this.size) {
      throw this.broken(position, 'the file ends too early: it is cut short or damaged');
    }
    const into = this.#scratch.subarray(0, length);
    const done = this.readInto(into, position);
    if (done === length) return into;
    throw this.broken(position + done, 'the file became shorter while it was read');
  }

  /** The frame must end by `end`, its object have at most `limit` bytes. */
  place(position: number, end: number, limit: number): FramePlace {
    if (position + FRAME_OVERHEAD > end) throw this.broken(position, 'a frame is cut short');
    const length = this.#uint32(position);
    const room = Math.min(limit, end - position - FRAME_OVERHEAD);
    if (length > room) {
      throw this.broken(position, `a frame claims ${length} bytes where at most ${room} can be`);
    }
    const crc = this.#uint32(position + UINT32_BYTES + length);
    return { position, length, crc, end: position + length + FRAME_OVERHEAD };
  }

  frame(place: FramePlace): Frame {
    const bytes = this.read(place.position, place.length + FRAME_OVERHEAD);
    const object = bytes.subarray(UINT32_BYTES, -UINT32_BYTES);
    const computed = crc32(object);
    if (computed !== place.crc) {
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

  #uint32(position: number): number {
    const bytes = this.read(position, UINT32_BYTES);
    if (bytes[0] === UINT32_MARK) return bytes.readUInt32BE(1);
    throw this.broken(position, 'expected a uint32 between two frames');
  }
}

export function failAt(file: FrameFile, place: FramePlace): (reason: string) => InputError {
  return (reason) => file.broken(place.position, reason);
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}
