import { crc32 } from 'node:zlib';
import type { Notification } from '../../model/notification.js';
import { attributesOf } from '../attributes.js';
import { MAX_BLOCK_POINTS, type PointBlock } from '../block.js';
import { MAGIC, type Watermark } from '../snapshot.js';
import { writeAll } from '../system-files.js';
import {
  binMark,
  columnsObject,
  footerObject,
  headerObject,
  type Labels,
  notificationObject,
  notificationsObject,
  uint32,
  wellFormed,
} from './encode.js';
import { MAX_FRAME_NOTIFICATIONS, MAX_NOTIFICATIONS_BYTES, MAX_RECORDS_SIZE } from './format.js';

// with room for the map around them
const MAX_ITEMS_BYTES = MAX_NOTIFICATIONS_BYTES - 64;

export interface NativeTotals {
  readonly points: number;
  readonly blocks: number;
  readonly notifications: number;
  readonly bytes: number;
}

/**
 * Writes a native snapshot from front to back into an empty file that is open for writing: blocks,
 * then notifications, then `finish`. Holds one block at a time. File system errors pass through as
 * they are; the descriptor stays the caller's to close.
 */
export class NativeWriter {
  readonly #fd: number;
  readonly #labels: Labels;
  /** The CRC-32 of every frame so far, in order. */
  readonly #crcs: number[] = [];
  #position = 0;
  #blocks = 0;
  #points = 0;
  #notifications = 0;
  #state: 'blocks' | 'notifications' | 'finished' = 'blocks';

  /**
   * `origin` tells people where the points come from; it is cut at 1,000 characters. The posts of
   * `watermark` are among the points, or were left out on purpose.
   */
  constructor(fd: number, origin: string, watermark?: Watermark | undefined) {
    this.#fd = fd;
    this.#labels = { origin: wellFormed(origin.slice(0, 1000)), watermark };
    this.#put(MAGIC);
    // holds the place until the count and the time are known
    this.#frame(headerObject(0, this.#labels, 0));
  }

  /** Throws a RangeError where the block is none of the format. */
  write(block: PointBlock): void {
    if (this.#state !== 'blocks') throw new Error('blocks come before notifications and the end');
    const { count, length, records } = block;
    if (count > MAX_BLOCK_POINTS || records.length > MAX_RECORDS_SIZE) {
      throw new RangeError(
        `a block has at most ${MAX_BLOCK_POINTS} points and ${MAX_RECORDS_SIZE} bytes, got ` +
          `${count} and ${records.length}`,
      );
    }
    const bytes = length.reduce((sum, one) => sum + one, 0);
    if (bytes !== records.length) {
      throw new RangeError(
        `the block's lengths add up to ${bytes} bytes, its records have ${records.length}`,
      );
    }
    const mark = binMark(records.length);
    const attributes = attributesOf(records, length);
    this.#frame(columnsObject(block, this.#blocks, attributes, crc32(records, crc32(mark))));
    this.#frame(mark, records);
    this.#blocks += 1;
    this.#points += count;
  }

  writeNotifications(items: readonly Notification[]): void {
    if (this.#state === 'finished') throw new Error('the snapshot is finished');
    let pending: Uint8Array[] = [];
    let bytes = 0;
    for (const item of items) {
      const object = notificationObject(item);
      if (object.length > MAX_ITEMS_BYTES) {
        throw new RangeError(`notification ${item.id} is too long: ${object.length} bytes`);
      }
      if (pending.length === MAX_FRAME_NOTIFICATIONS || bytes + object.length > MAX_ITEMS_BYTES) {
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
    this.#crcs[0] = this.#putFrame([headerObject(this.#points, this.#labels, createdAt)]);
    this.#position = end;
    this.#frame(
      footerObject({
        blocks: this.#blocks,
        points: this.#points,
        notifications: this.#notifications,
        crc: crc32(Uint32Array.from(this.#crcs)),
      }),
    );
    return {
      points: this.#points,
      blocks: this.#blocks,
      notifications: this.#notifications,
      bytes: this.#position,
    };
  }

  #notificationsFrame(items: readonly Uint8Array[]): void {
    this.#state = 'notifications';
    this.#frame(notificationsObject(items));
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
    writeAll(this.#fd, bytes, this.#position);
    this.#position += bytes.length;
  }
}
