import { Packr } from 'msgpackr';
import type { Notification } from '../../model/notification.js';
import { integer } from '../../model/units.js';
import type { AttributeColumns, PointBlock } from '../block.js';
import type { Watermark } from '../snapshot.js';
import {
  ARRAY32_MARK,
  BIN32_MARK,
  FORMAT_VERSION,
  type Footer,
  UINT32_BYTES,
  UINT32_MARK,
} from './format.js';

const packr = new Packr({ useRecords: false, variableMapSize: true });

export interface Labels {
  /** Where the points come from, for people; cut at 1,000 characters. */
  readonly origin: string;
  readonly count: number;
  /** When the export was made, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** The posts that are among the points, or were left out on purpose. */
  readonly watermark?: Watermark | undefined;
}

/** Throws a RangeError where no timestamp can say the time. */
export function headerObject({ origin, count, createdAt, watermark }: Labels): Uint8Array {
  const time = new Date(createdAt).toISOString();
  if (!Number.isSafeInteger(Date.parse(time) * 1000)) {
    throw new RangeError(`an export is made between the years 1684 and 2255, not at ${time}`);
  }
  return map({
    type: packr.pack('header'),
    version: packr.pack(FORMAT_VERSION),
    count: uint32(count),
    // lone surrogates have no UTF-8: readers in other languages refuse them
    origin: packr.pack(origin.slice(0, 1000).toWellFormed()),
    created_at: packr.pack(time),
    ...(watermark && {
      journal: packr.pack(watermark.journal),
      journal_through: packr.pack(integer(watermark.sequence)),
    }),
  });
}

/** The columns of block `index`, whose records have the CRC-32 `crc`. */
export function columnsObject(
  block: PointBlock,
  index: number,
  attributes: AttributeColumns,
  crc: number,
): Uint8Array {
  return packr.pack({
    type: 'columns',
    index,
    count: block.count,
    id: bytesOf(block.id),
    lat: bytesOf(block.lat),
    lon: bytesOf(block.lon),
    created_at: bytesOf(block.createdAt),
    modified_at: bytesOf(block.modifiedAt),
    length: bytesOf(block.length),
    statuses: attributes.statusTexts,
    status: bytesOf(attributes.status),
    flags: bytesOf(attributes.flags),
    created_by: bytesOf(attributes.createdBy),
    tag_texts: attributes.tagTexts,
    tag_counts: bytesOf(attributes.tagCounts),
    tags: bytesOf(attributes.tags),
    records_size: block.records.length,
    records_crc: crc,
  });
}

export function binMark(size: number): Uint8Array {
  return mark(BIN32_MARK, size);
}

export function notificationsObject(notifications: readonly Notification[]): Uint8Array {
  const items = notifications.map(notificationObject);
  const list = Buffer.concat([mark(ARRAY32_MARK, items.length), ...items]);
  return map({ type: packr.pack('notifications'), items: list });
}

function notificationObject({ id, user, seen, comment }: Notification): Uint8Array {
  return packr.pack({
    id: integer(id),
    user: integer(user),
    seen,
    comment: {
      id: integer(comment.id),
      user: integer(comment.user),
      created_at: comment.created_at,
      comment: comment.comment.toWellFormed(),
      map_data_point: integer(comment.map_data_point),
    },
  });
}

/** A footer, which always has the same size. */
export function footerObject(totals: Footer): Uint8Array {
  return map({
    type: packr.pack('footer'),
    blocks: uint32(totals.blocks),
    points: uint32(totals.points),
    notifications: uint32(totals.notifications),
    crc: uint32(totals.crc),
  });
}

/** A map of encoded values: the packer would choose the width of a number itself. */
function map(entries: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(0x80 + Object.keys(entries).length)];
  for (const key in entries) parts.push(packr.pack(key), entries[key]!);
  return Buffer.concat(parts);
}

/** A number in five bytes, whatever its value. */
export function uint32(value: number): Uint8Array {
  return mark(UINT32_MARK, value);
}

function mark(first: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(UINT32_BYTES);
  bytes[0] = first;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

function bytesOf(column: Float64Array | Uint32Array | Uint8Array): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength);
}
