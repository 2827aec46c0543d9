import { writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr';
import { MAX_BLOCK_POINTS, type PointBlock } from '../block.js';
import type { Notification } from '../snapshot.js';
import {
  BIN32_MARK,
  type ColumnsObject,
  FORMAT_VERSION,
  MAGIC,
  MAX_FRAME_NOTIFICATIONS,
  MAX_NOTIFICATIONS_BYTES,
  MAX_RECORDS_SIZE,
  requireLittleEndian,
  UINT32_BYTES,
  UINT32_MARK,
} from './format.js';

/** What a finished file holds. */
export interface NativeTotals {
  readonly points: number;
  readonly blocks: number;
  readonly notifications: number;
  readonly bytes: number;
}

const packr = new Packr({ useRecords: false, variableMapSize: true });

/**
 * Writes a native snapshot from front to back into an empty file that is open for writing: blocks,
 * then notifications, then `finish`. Holds one block at a time. File system errors pass through as
 * they are; the descriptor stays the caller's to close.
 */
export class NativeWriter {
  readonly #fd: number;
  readonly #origin: string;
  /** The CRC-32 of every frame so far, in order. */
  readonly #crcs: number[] = [];
  #position = 0;
  #blocks = 0;
  #points = 0;
  #notifications = 0;
  #state: 'blocks' | 'notifications' | 'finished' = 'blocks';

  /** `origin` tells people where the points come from; it is cut at 1,000 characters. */
  constructor(fd: number, origin: string) {
    requireLittleEndian();
    this.#fd = fd;
    this.#origin = wellFormed(origin.slice(0, 1000));
    this.#put(MAGIC);
    // holds the place until the count and the time are known
    this.#frame(headerObject(0, this.#origin, 0));
  }

  /**
   * Adds points. A block with more bytes of records than the format allows is written as several.
   * Throws a RangeError when the block contradicts itself.
   */
  write(block: PointBlock): void {
    if (this.#state !== 'blocks') throw new Error('blocks come before notifications and the end');
    if (block.count > MAX_BLOCK_POINTS) {
      throw new RangeError(`a block has at most ${MAX_BLOCK_POINTS} points, got ${block.count}`);
    }
    let from = 0;
    let start = 0;
    let end = 0;
    for (let i = 0; i < block.count; i++) {
      const length = block.length[i]!;
      if (end + length - start > MAX_RECORDS_SIZE) {
        this.#block(block, from, i, block.records.subarray(start, end));
        from = i;
        start = end;
      }
      end += length;
    }
    if (end !== block.records.length) {
      throw new RangeError(
        `the block's lengths add up to ${end} bytes, its records have ${block.records.length}`,
      );
    }
    if (block.count > from) this.#block(block, from, block.count, block.records.subarray(start));
  }

  /** Adds notifications; may be called more than once. */
  writeNotifications(items: readonly Notification[]): void {
    if (this.#state === 'finished') throw new Error('the snapshot is finished');
    let pending: Uint8Array[] = [];
    let bytes = 0;
    for (const item of items) {
      const object = packr.pack(notificationObject(item));
      if (object.length > MAX_NOTIFICATIONS_BYTES / 2) {
        throw new RangeError(`notification ${item.id} is too long: ${object.length} bytes`);
      }
      if (
        pending.length === MAX_FRAME_NOTIFICATIONS ||
        bytes + object.length > MAX_NOTIFICATIONS_BYTES / 2
      ) {
        this.#notificationsFrame(pending);
        pending = [];
        bytes = 0;
      }
      pending.push(object);
      bytes += object.length;
    }
    if (pending.length > 0) this.#notificationsFrame(pending);
  }

  /** Ends the file; `createdAt` is when the export was made, in milliseconds since the epoch. */
  finish(createdAt: number): NativeTotals {
    if (this.#state === 'finished') throw new Error('the snapshot is finished');
    this.#state = 'finished';
    const end = this.#position;
    this.#position = MAGIC.length;
    this.#crcs[0] = this.#putFrame([headerObject(this.#points, this.#origin, createdAt)]);
    this.#position = end;
    this.#frame(
      map({
        type: packr.pack('footer'),
        blocks: uint32(this.#blocks),
        points: uint32(this.#points),
        notifications: uint32(this.#notifications),
        crc: uint32(crc32(Uint32Array.from(this.#crcs))),
      }),
    );
    return {
      points: this.#points,
      blocks: this.#blocks,
      notifications: this.#notifications,
      bytes: this.#position,
    };
  }

  #block(block: PointBlock, from: number, to: number, records: Uint8Array): void {
    const mark = Buffer.alloc(5);
    mark[0] = BIN32_MARK;
    mark.writeUInt32BE(records.length, 1);
    const columns: ColumnsObject = {
      type: 'columns',
      index: this.#blocks,
      count: to - from,
      id: bytesOf(block.id.subarray(from, to)),
      lat: bytesOf(block.lat.subarray(from, to)),
      lon: bytesOf(block.lon.subarray(from, to)),
      created_at: bytesOf(block.createdAt.subarray(from, to)),
      modified_at: bytesOf(block.modifiedAt.subarray(from, to)),
      length: bytesOf(block.length.subarray(from, to)),
      records_size: records.length,
      records_crc: crc32(records, crc32(mark)),
    };
    this.#frame(packr.pack(columns));
    this.#frame(mark, records);
    this.#blocks += 1;
    this.#points += to - from;
  }

  #notificationsFrame(items: readonly Uint8Array[]): void {
    this.#state = 'notifications';
    const array = Buffer.alloc(5);
    array[0] = 0xdd;
    array.writeUInt32BE(items.length, 1);
    this.#frame(
      map({ type: packr.pack('notifications'), items: Buffer.concat([array, ...items]) }),
    );
    this.#notifications += items.length;
  }

  #frame(...object: Uint8Array[]): void {
    this.#crcs.push(this.#putFrame(object));
  }

  #putFrame(object: readonly Uint8Array[]): number {
    let length = 0;
    let crc = 0;
    for (const part of object) {
      length += part.length;
      crc = crc32(part, crc);
    }
    this.#put(uint32(length));
    for (const part of object) this.#put(part);
    this.#put(uint32(crc));
    return crc;
  }

  #put(bytes: Uint8Array): void {
    let done = 0;
    while (done < bytes.length) {
      const written = writeSync(this.#fd, bytes, done, bytes.length - done, this.#position);
      done += written;
      this.#position += written;
    }
  }
}

/** The same size for every count and time. */
function headerObject(count: number, origin: string, createdAt: number): Uint8Array {
  const time = new Date(createdAt).toISOString();
  if (!Number.isSafeInteger(Date.parse(time) * 1000)) {
    throw new RangeError(`an export is made between the years 1684 and 2255, not at ${time}`);
  }
  return map({
    type: packr.pack('header'),
    version: packr.pack(FORMAT_VERSION),
    count: uint32(count),
    origin: packr.pack(origin),
    created_at: packr.pack(time),
  });
}

function notificationObject({ id, user, seen, comment }: Notification): object {
  return {
    id: integer(id),
    user: integer(user),
    seen,
    comment: {
      id: integer(comment.id),
      user: integer(comment.user),
      created_at: comment.created_at,
      comment: wellFormed(comment.comment),
      map_data_point: integer(comment.map_data_point),
    },
  };
}

/** The packer writes a number above 32 bits as a float, a bigint as the integer it is. */
function integer(value: number): number | bigint {
  return value > 0xffff_ffff ? BigInt(value) : value;
}

/** A map of up to 15 values that are encoded already: a packer would choose a number's width itself. */
function map(entries: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(0x80 + Object.keys(entries).length)];
  for (const key in entries) parts.push(packr.pack(key), entries[key]!);
  return Buffer.concat(parts);
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(UINT32_BYTES);
  bytes[0] = UINT32_MARK;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

function bytesOf(column: Float64Array | Uint32Array): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength);
}

/** A lone surrogate has no UTF-8, and readers in other languages refuse text that is none. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
