// not 'msgpackr': its streams take longer to load than a small file
import { Unpackr } from 'msgpackr/unpack';
import { type Notification, readNotification } from '../../model/notification.js';
import type { Problem } from '../../model/point.js';
import { type InputError, show } from '../../model/quote.js';
import { parseTimestamp } from '../../model/timestamp.js';
import { IMAGE, isObject, isWhole, type JsonObject, PROCESSED } from '../../model/units.js';
import {
  type AttributeColumns,
  type ColumnBlock,
  MAX_BLOCK_POINTS,
  MAX_RECORD_BYTES,
} from '../block.js';
import { isStored, LEAST_RECORD_BYTES, renderedLength } from '../record-layout.js';
import type { Watermark } from '../snapshot.js';
import type { Labels } from './encode.js';
import {
  FORMAT_VERSION,
  type Footer,
  MAX_FRAME_NOTIFICATIONS,
  MAX_RECORDS_SIZE,
} from './format.js';

/** Makes an error with the file and the frame's place in it. */
type Fail = (reason: string) => InputError;

interface Columns {
  readonly block: ColumnBlock;
  readonly recordsSize: number;
  readonly recordsCrc: number;
}

// 64-bit integers that are inexact as numbers are out of every field's range
const unpackr = new Unpackr({ useRecords: false, int64AsType: 'number' });

/** Decodes a map, whose byte fields are views of `object`. */
export function decodeMap(object: Buffer, fail: Fail): JsonObject {
  const value = decode(object, fail);
  if (!isObject(value)) throw fail('expected a MessagePack map');
  return value;
}

/** Decodes and checks the records of a block, a view of `object`. */
export function decodeRecords(
  object: Buffer,
  size: number,
  lengths: Uint32Array,
  fail: Fail,
): Buffer {
  const records = decode(object, fail);
  if (!(records instanceof Buffer) || records.length !== size) {
    throw fail(`expected one bin object with ${size} bytes of records`);
  }
  let start = 0;
  for (let i = 0; i < lengths.length; i++) {
    const end = start + lengths[i]!;
    if (!isStored(records, start, end)) {
      throw fail(`record ${i} of the block is none where the columns say it is`);
    }
    const json = renderedLength(records, end - start, start);
    if (json > MAX_RECORD_BYTES) {
      throw fail(
        `record ${i} of the block has ${json} bytes as JSON, of ${MAX_RECORD_BYTES} allowed`,
      );
    }
    start = end;
  }
  return records;
}

function decode(object: Buffer, fail: Fail): unknown {
  try {
    return unpackr.unpack(object);
  } catch (error) {
    throw fail(`no MessagePack object: ${(error as Error).message}`);
  }
}

/** Checks a header, its version first: all else may differ in another version. */
export function readHeader(fields: JsonObject, fail: Fail): Labels {
  if (fields['type'] !== 'header') throw fail('expected the header');
  const version = wholeNumber(fields, 'version', fail);
  if (version !== FORMAT_VERSION) {
    throw fail(
      `format version ${version}, but this program reads version ${FORMAT_VERSION}; pack ` +
        `the points again with this program's own pack command`,
    );
  }
  const origin = fields['origin'];
  if (typeof origin !== 'string') throw fail('origin must be text');
  const time = fields['created_at'];
  const createdAt = typeof time === 'string' ? parseTimestamp(time) : 'must be text';
  if (typeof createdAt === 'string') throw fail(`created_at ${createdAt}`);
  return {
    count: wholeNumber(fields, 'count', fail),
    origin,
    createdAt: createdAt.micros / 1000,
    watermark: readWatermark(fields, fail),
  };
}

function readWatermark(fields: JsonObject, fail: Fail): Watermark | undefined {
  if (!('journal_through' in fields)) return undefined;
  const { journal = '' } = fields;
  if (typeof journal !== 'string') throw fail('journal must be text');
  return { journal, sequence: wholeNumber(fields, 'journal_through', fail) };
}

export function readFooter(fields: JsonObject, fail: Fail): Footer {
  if (fields['type'] !== 'footer') throw fail('expected the footer');
  return {
    blocks: wholeNumber(fields, 'blocks', fail),
    points: wholeNumber(fields, 'points', fail),
    notifications: wholeNumber(fields, 'notifications', fail),
    crc: wholeNumber(fields, 'crc', fail),
  };
}

/** Checks the columns of block `index` and copies them to the memory of `take`. */
export function readColumns(
  fields: JsonObject,
  index: number,
  fail: Fail,
  take: (count: number) => ColumnBlock,
): Columns {
  if (fields['index'] !== index) {
    throw fail(`expected block ${index}, got block ${show(fields['index'])}`);
  }
  const count = wholeNumber(fields, 'count', fail);
  if (count < 1 || count > MAX_BLOCK_POINTS) {
    throw fail(`a block has 1 to ${MAX_BLOCK_POINTS} points, got ${count}`);
  }
  const recordsSize = wholeNumber(fields, 'records_size', fail);
  if (recordsSize > MAX_RECORDS_SIZE) {
    throw fail(`records_size must be at most ${MAX_RECORDS_SIZE}, got ${recordsSize}`);
  }
  const block = take(count);
  for (const [key, { buffer, byteLength }] of [
    ['id', block.id],
    ['lat', block.lat],
    ['lon', block.lon],
    ['created_at', block.createdAt],
    ['modified_at', block.modifiedAt],
    ['length', block.length],
  ] as const) {
    new Uint8Array(buffer).set(binOf(fields, key, byteLength, fail));
  }
  checkColumns(block, recordsSize, fail);
  const recordsCrc = wholeNumber(fields, 'records_crc', fail);
  const attributes = readAttributes(fields, count, fail);
  return { block: { ...block, attributes }, recordsSize, recordsCrc };
}

export function readNotifications(fields: JsonObject, fail: Fail): readonly Notification[] {
  const items: unknown = fields['items'];
  if (!Array.isArray(items) || items.length > MAX_FRAME_NOTIFICATIONS) {
    throw fail(`items must be a list of at most ${MAX_FRAME_NOTIFICATIONS} notifications`);
  }
  return items.map((item: unknown, index) => {
    const result = readNotification(item);
    if ('id' in result) return result;
    const [{ field, reason }] = result as readonly [Problem];
    throw fail(`notification ${index} of the frame: ${field} ${reason}`);
  });
}

/**
 * The bytes of a column, a view of the decoded object. Without `size` a multiple of 4 bytes.
 * msgpackr's own type for arrays is refused: it is no `bin`.
 */
function binOf(fields: JsonObject, key: string, size: number | undefined, fail: Fail): Buffer {
  const bytes = fields[key];
  const isWanted = (length: number): boolean =>
    size === undefined ? length % 4 === 0 : length === size;
  if (bytes instanceof Buffer && isWanted(bytes.length)) return bytes;
  throw fail(`${key} must be a bin of ${size ?? 'a multiple of 4'} bytes`);
}

function checkColumns(block: ColumnBlock, recordsSize: number, fail: Fail): void {
  const { id, lat, lon, createdAt, modifiedAt, length } = block;
  const wrong = (i: number, what: string): InputError => fail(`point ${i} of the block: ${what}`);
  let total = 0;
  for (let i = 0; i < block.count; i++) {
    if (!isWhole(id[i], 1)) {
      throw wrong(i, `id must be a whole number from 1 to 2^53 - 1, got ${id[i]}`);
    }
    // not `> 90`, so that NaN fails
    if (!(Math.abs(lat[i]!) <= 90)) throw wrong(i, `lat must lie within ±90, got ${lat[i]}`);
    if (!(Math.abs(lon[i]!) <= 180)) throw wrong(i, `lon must lie within ±180, got ${lon[i]}`);
    if (!Number.isSafeInteger(createdAt[i]) || !Number.isSafeInteger(modifiedAt[i])) {
      throw wrong(i, 'created_at and modified_at must be whole microseconds below 2^53');
    }
    const bytes = length[i]!;
    if (bytes < LEAST_RECORD_BYTES || bytes > MAX_RECORD_BYTES) {
      const range = `${LEAST_RECORD_BYTES} to ${MAX_RECORD_BYTES}`;
      throw wrong(i, `length must be ${range} bytes, got ${bytes}`);
    }
    total += bytes;
  }
  if (total !== recordsSize) {
    throw fail(`the column length adds up to ${total}, records_size is ${recordsSize}`);
  }
}

function wholeNumber(fields: JsonObject, key: string, fail: Fail): number {
  const value = fields[key];
  if (isWhole(value, 0)) return value;
  throw fail(`${key} must be a whole number from 0 to 2^53 - 1, got ${show(value)}`);
}

/** Checks the attributes of a block and copies them to aligned memory. */
function readAttributes(fields: JsonObject, count: number, fail: Fail): AttributeColumns {
  const copy = (key: string, size?: number): ArrayBuffer =>
    Uint8Array.from(binOf(fields, key, size, fail)).buffer;
  const attributes: AttributeColumns = {
    statusTexts: textsOf(fields, 'statuses', fail),
    status: new Uint32Array(copy('status', 4 * count)),
    flags: new Uint8Array(copy('flags', count)),
    createdBy: new Float64Array(copy('created_by', 8 * count)),
    tagTexts: textsOf(fields, 'tag_texts', fail),
    tagCounts: new Uint32Array(copy('tag_counts', 4 * count)),
    tags: new Uint32Array(copy('tags')),
  };
  checkAttributes(attributes, count, fail);
  return attributes;
}

function checkAttributes(
  { statusTexts, status, flags, createdBy, tagTexts, tagCounts, tags }: AttributeColumns,
  count: number,
  fail: Fail,
): void {
  const wrong = (i: number, what: string): InputError => fail(`point ${i} of the block: ${what}`);
  let total = 0;
  for (let i = 0; i < count; i++) {
    if (status[i]! >= statusTexts.length) {
      throw wrong(i, `status must be below ${statusTexts.length}, got ${status[i]}`);
    }
    if (flags[i]! > PROCESSED + IMAGE) throw wrong(i, `flags must be 0 to 3, got ${flags[i]}`);
    if (!isWhole(createdBy[i], -1)) {
      throw wrong(i, `created_by must be -1 or a whole number, got ${createdBy[i]}`);
    }
    total += tagCounts[i]!;
  }
  if (total !== tags.length) {
    throw fail(`the column tag_counts adds up to ${total}, and tags has ${tags.length}`);
  }
  for (const tag of tags) {
    if (tag >= tagTexts.length) throw fail(`tags must be below ${tagTexts.length}, got ${tag}`);
  }
}

function textsOf(fields: JsonObject, key: string, fail: Fail): readonly string[] {
  const texts: unknown = fields[key];
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  throw fail(`${key} must be a list of texts`);
}
