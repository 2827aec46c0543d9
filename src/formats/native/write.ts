import { crc32 } from 'node:zlib';
import type { Notification } from '../../model/notification.js';
import { attributesOf } from '../attributes.js';
import { MAX_BLOCK_POINTS, type PointBlock } from '../block.js';
import { MAGIC } from '../snapshot.js';
import {
  binMark,
  columnsObject,
  footerObject,
  headerObject,
  type Labels,
  notificationsObject,
  uint32,
} from './encode.js';
import { MAX_FRAME_NOTIFICATIONS, MAX_NOTIFICATIONS_BYTES, MAX_RECORDS_SIZE } from './format.js';

export interface NativeTotals {
  readonly points: number;
  readonly blocks: number;
  readonly notifications: number;
  readonly bytes: number;
}

/** Makes the bytes of a native snapshot, in order: its blocks, then `finish`. */
export class NativeWriter {
  readonly #put: (bytes: Uint8Array) => void;
  readonly #crcs: number[] = [];
  #bytes = 0;
  #blocks = 0;
  #points = 0;

  /** Gives all bytes to `put`. Throws a RangeError where no timestamp can say `createdAt`. */
  constructor(put: (bytes: Uint8Array) => void, labels: Labels) {
    this.#put = (bytes) => {
      this.#bytes += bytes.length;
      put(bytes);
    };
    this.#put(MAGIC);
    this.#frame([headerObject(labels)]);
  }

  /** Throws a RangeError where a block is too large or its lengths do not add up. */
  write(block: PointBlock): void {
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
    const object = [binMark(records.length), records];
    const crc = crcOf(object);
    this.#frame([columnsObject(block, this.#blocks, attributesOf(records, length), crc)]);
    this.#frame(object, crc);
    this.#blocks += 1;
    this.#points += count;
  }

  finish(notifications: readonly Notification[] = []): NativeTotals {
    this.#writeNotifications(notifications);
    const [blocks, points] = [this.#blocks, this.#points];
    const totals = { points, blocks, notifications: notifications.length };
    this.#frame([footerObject({ ...totals, crc: crc32(Uint32Array.from(this.#crcs)) })]);
    return { ...totals, bytes: this.#bytes };
  }

  /** Writes one frame, or frames of both halves where that is too large. */
  #writeNotifications(items: readonly Notification[]): void {
    if (items.length === 0) return;
    const object = items.length > MAX_FRAME_NOTIFICATIONS ? undefined : notificationsObject(items);
    if (object !== undefined && object.length <= MAX_NOTIFICATIONS_BYTES) this.#frame([object]);
    else if (items.length === 1) throw new RangeError(`notification ${items[0]!.id} is too long`);
    else {
      this.#writeNotifications(items.slice(0, items.length / 2));
      this.#writeNotifications(items.slice(items.length / 2));
    }
  }

  #frame(object: readonly Uint8Array[], crc: number = crcOf(object)): void {
    this.#put(uint32(object.reduce((sum, { length }) => sum + length, 0)));
    for (const part of object) this.#put(part);
    this.#put(uint32(crc));
    this.#crcs.push(crc);
  }
}

function crcOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((crc, part) => crc32(part, crc), 0);
}
