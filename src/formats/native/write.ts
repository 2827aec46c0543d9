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
  notificationObject,
  notificationsObject,
  uint32,
} from './encode.js';
import { MAX_FRAME_NOTIFICATIONS, MAX_NOTIFICATIONS_BYTES, MAX_RECORDS_SIZE } from './format.js';

// leaves room for the map around the items
const MAX_ITEMS_BYTES = MAX_NOTIFICATIONS_BYTES - 64;

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
    let pending: Uint8Array[] = [];
    let bytes = 0;
    const flush = (): void => {
      if (pending.length > 0) this.#frame([notificationsObject(pending)]);
      pending = [];
      bytes = 0;
    };
    for (const item of notifications) {
      const object = notificationObject(item);
      if (object.length > MAX_ITEMS_BYTES) {
        throw new RangeError(`notification ${item.id} is too long: ${object.length} bytes`);
      }
      const isFull = pending.length === MAX_FRAME_NOTIFICATIONS;
      if (isFull || bytes + object.length > MAX_ITEMS_BYTES) flush();
      pending.push(object);
      bytes += object.length;
    }
    flush();
    const [blocks, points] = [this.#blocks, this.#points];
    const totals = { points, blocks, notifications: notifications.length };
    this.#frame([footerObject({ ...totals, crc: crc32(Uint32Array.from(this.#crcs)) })]);
    return { ...totals, bytes: this.#bytes };
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
