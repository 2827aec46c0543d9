import { copyBytes } from '../model/memory.js';
import {
  type Point,
  RECORD_KEYS,
  type RecordKey,
  type RecordTexts,
  textsOf,
} from '../model/point.js';
import { CANONICAL_BYTES } from '../model/timestamp.js';

/**
 * A record stored as its values alone, some 160 bytes where its JSON has 280: in memory, in packed
 * files and between threads. It is the JSON of docs/snapshot-format.md without names, quotes of
 * texts and brackets of tags, behind a head with the length of each value:
 *
 *     flags              the bits below
 *     id, lat            digits of the id, and 32 × the bytes of `lat` beyond 10
 *     created_by, lon    likewise, 0 digits where there is no user
 *     status, comment, image, tags   2 bytes of 7 bits each, the low ones first, or 3 if `LONG`
 *
 * Bytes of a head are below 128, so that no eight bytes of a record are those of a NaN, which a
 * copy as a float may change; those of UTF-8 text never are.
 */
export type StoredRecord = Uint8Array;

export const PROCESSED = 1;
/** `modified_at` is `created_at`, and is not stored. */
export const SAME_TIMES = 2;
/** A text or the tags are too long for two bytes of a head. */
export const LONG = 4;
const IMAGE = 8;
const USER = 16;
const TAGS = 32;
const ALL_FLAGS = 63;

/** The bytes of a head before the lengths of texts. */
const FIXED_BYTES = 3;
const TEXTS = 4;
export const BITS = 7;
const LOW_BITS = 127;
/** The bytes of a head where no text is long. */
export const SHORT_HEAD_BYTES: number = FIXED_BYTES + 2 * TEXTS;
/** The most bytes of a text whose length takes two bytes of a head. */
export const MOST_SHORT: number = 2 ** (2 * BITS) - 1;
/** The digits of a number and the extra bytes of a coordinate share a byte of a head. */
export const DIGITS_BITS = 5;
export const DIGITS = 31;
export const LEAST_DEGREES: number = '0.00000000'.length;
const MOST_DIGITS = 16;

export function headBytes(flags: number): number {
  return FIXED_BYTES + TEXTS * (flags & LONG ? 3 : 2);
}

/** The bytes of both times, with which a record ends. */
export function timeBytes(flags: number): number {
  // half of all records are of either kind: a branch would be mispredicted
  return (2 - Number((flags & SAME_TIMES) !== 0)) * CANONICAL_BYTES;
}

/** The bytes of the shortest record: an id of one digit, and a status. */
export const LEAST_RECORD_BYTES: number =
  SHORT_HEAD_BYTES + 2 + 2 * LEAST_DEGREES + CANONICAL_BYTES;

export class UnstoredRecord {
  /** The bytes of the stored record. */
  readonly length: number;
  readonly #texts: RecordTexts;
  readonly #flags: number;

  constructor(texts: RecordTexts) {
    const { id, status, comment, image, lat, lon, createdBy, tags } = texts;
    const isSame = texts.createdAt === texts.modifiedAt;
    const longest = Math.max(status.length, comment.length, image.length, tags.length);
    this.#texts = texts;
    this.#flags =
      (texts.isProcessed ? PROCESSED : 0) |
      (isSame ? SAME_TIMES : 0) |
      (longest > MOST_SHORT ? LONG : 0) |
      (image === '' ? 0 : IMAGE) |
      (createdBy === '' ? 0 : USER) |
      (tags === '' ? 0 : TAGS);
    const free = status.length + comment.length + image.length + tags.length;
    const numbers = id.length + lat.length + lon.length + createdBy.length;
    this.length = headBytes(this.#flags) + free + numbers + timeBytes(this.#flags);
  }

  get hasSameTimes(): boolean {
    return (this.#flags & SAME_TIMES) !== 0;
  }

  get renderedLength(): number {
    return this.length + MORE[this.#flags]!;
  }

  store(): Buffer {
    const stored = Buffer.allocUnsafe(this.length);
    this.storeAt(stored, 0);
    return stored;
  }

  storeAt(target: Buffer, at: number): void {
    const flags = this.#flags;
    const { id, status, comment, image, lat, lon, createdBy, tags } = this.#texts;
    const { createdAt, modifiedAt } = this.#texts;
    target[at] = flags;
    target[at + 1] = id.length | ((lat.length - LEAST_DEGREES) << DIGITS_BITS);
    target[at + 2] = createdBy.length | ((lon.length - LEAST_DEGREES) << DIGITS_BITS);
    let end = at + FIXED_BYTES;
    for (const { length } of [status, comment, image, tags]) {
      target[end++] = length & LOW_BITS;
      target[end++] = (length >> BITS) & LOW_BITS;
      if (flags & LONG) target[end++] = length >> (2 * BITS);
    }
    const times = flags & SAME_TIMES ? createdAt : createdAt + modifiedAt;
    const values = id + status + comment + image + lat + lon + createdBy + tags + times;
    target.write(values, end, 'latin1');
  }
}

export function storePoint(point: Point): Buffer {
  return new UnstoredRecord(textsOf(point)).store();
}

const COMMA = 0x2c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

export function memberOf(key: RecordKey): number {
  return RECORD_KEYS.indexOf(key);
}

const ID = memberOf('id');
const STATUS = memberOf('status');
const COMMENT = memberOf('comment');
const IMAGE_MEMBER = memberOf('image');
const LAT = memberOf('lat');
const LON = memberOf('lon');
const IS_PROCESSED = memberOf('is_processed');
const CREATED_BY = memberOf('created_by');
const TAGS_MEMBER = memberOf('tags');
const CREATED_AT = memberOf('created_at');
const MODIFIED_AT = memberOf('modified_at');

/** The places of a stored record's values, by {@link memberOf}; used for one record at a time. */
export class Members {
  readonly starts: Int32Array = new Int32Array(RECORD_KEYS.length);
  /** 0 for `is_processed`, and where the record has no such key. */
  readonly ends: Int32Array = new Int32Array(RECORD_KEYS.length);
  isProcessed = false;

  /** Finds the values of the record at byte `at`; places count from byte 0. */
  find(record: Uint8Array, at = 0): void {
    const flags = record[at]!;
    const [digits, user] = [record[at + 1]!, record[at + 2]!];
    const width = flags & LONG ? 3 : 2;
    const lengths = at + FIXED_BYTES;
    this.isProcessed = (flags & PROCESSED) !== 0;
    let end = at + headBytes(flags);
    end = this.#put(ID, end, digits & DIGITS);
    end = this.#put(STATUS, end, lengthAt(record, lengths, width));
    end = this.#put(COMMENT, end, lengthAt(record, lengths + width, width));
    end = this.#put(IMAGE_MEMBER, end, lengthAt(record, lengths + 2 * width, width), flags & IMAGE);
    end = this.#put(LAT, end, LEAST_DEGREES + (digits >> DIGITS_BITS));
    end = this.#put(LON, end, LEAST_DEGREES + (user >> DIGITS_BITS));
    end = this.#put(CREATED_BY, end, user & DIGITS, flags & USER);
    end = this.#put(TAGS_MEMBER, end, lengthAt(record, lengths + 3 * width, width), flags & TAGS);
    end = this.#put(CREATED_AT, end, CANONICAL_BYTES);
    this.#put(MODIFIED_AT, flags & SAME_TIMES ? end - CANONICAL_BYTES : end, CANONICAL_BYTES);
  }

  has(member: number): boolean {
    return this.ends[member]! > 0;
  }

  #put(member: number, at: number, length: number, isThere = 1): number {
    this.starts[member] = at;
    this.ends[member] = isThere ? at + length : 0;
    return at + length;
  }
}

function lengthAt(record: Uint8Array, at: number, width: number): number {
  const length = record[at]! | (record[at + 1]! << BITS);
  return width === 2 ? length : length | (record[at + 2]! << (2 * BITS));
}

const checked = new Members();

/** Whether bytes `from` to `to - 1` are laid out as a stored record, whatever its values. */
export function isStored(bytes: Uint8Array, from: number, to: number): boolean {
  checked.find(bytes, from);
  const { starts, ends } = checked;
  for (let at = from; at < starts[ID]!; at++) if (bytes[at]! > LOW_BITS) return false;
  const isFlagged = (member: number, next: number): boolean =>
    checked.has(member) === starts[next]! > starts[member]!;
  return (
    bytes[from]! <= ALL_FLAGS &&
    starts[ID]! < starts[STATUS]! &&
    starts[STATUS]! - starts[ID]! <= MOST_DIGITS &&
    starts[TAGS_MEMBER]! - starts[CREATED_BY]! <= MOST_DIGITS &&
    isFlagged(IMAGE_MEMBER, LAT) &&
    isFlagged(CREATED_BY, TAGS_MEMBER) &&
    isFlagged(TAGS_MEMBER, CREATED_AT) &&
    ends[MODIFIED_AT]! === to
  );
}

const AROUND = RECORD_KEYS.map((key, member) => {
  const isList = member === TAGS_MEMBER;
  const isNumber = member === ID || member === CREATED_BY;
  const [open, close] = isList ? ['[', ']'] : isNumber ? ['', ''] : ['"', '"'];
  return { before: Buffer.from(`"${key}":${open}`), after: Buffer.from(close) };
});
const FLAGS = [false, true].map((flag) => {
  return { before: Buffer.from(`"is_processed":${flag}`), after: Buffer.alloc(0) };
});

/** The bytes that JSON has more than a stored record, by flags. */
const MORE = Int32Array.from({ length: ALL_FLAGS + 1 }, (_, flags) => {
  const absent = new Set([IS_PROCESSED]);
  if (!(flags & IMAGE)) absent.add(IMAGE_MEMBER);
  if (!(flags & USER)) absent.add(CREATED_BY);
  if (!(flags & TAGS)) absent.add(TAGS_MEMBER);
  const own = AROUND.map(({ before, after }, member) =>
    absent.has(member) ? 0 : before.length + after.length + 1,
  );
  // a comma or a brace stands before each member, and a brace behind the last
  const names = own.reduce((sum, one) => sum + one, FLAGS[flags & PROCESSED]!.before.length + 2);
  return names - headBytes(flags) + (flags & SAME_TIMES ? CANONICAL_BYTES : 0);
});

/** {@link MORE} of a record without image, user and tags, which others are close to. */
export const NAMES_BYTES: number = MORE[0]!;

/** The bytes as JSON of a record that is stored in `length` bytes from `at` on. */
export function renderedLength(record: Uint8Array, length: number = record.length, at = 0): number {
  return length + MORE[record[at]! & ALL_FLAGS]!;
}

/** Writes members, by ascending numbers, as JSON with commas between; returns their end. */
export function writeMembers(
  record: Uint8Array,
  members: Members,
  numbers: readonly number[],
  target: Uint8Array,
  at: number,
): number {
  let end = at;
  for (const member of numbers) {
    const isFlag = member === IS_PROCESSED;
    if (!isFlag && !members.has(member)) continue;
    if (end > at) target[end++] = COMMA;
    const { before, after } = isFlag ? FLAGS[+members.isProcessed]! : AROUND[member]!;
    end = copyBytes(before, 0, before.length, target, end);
    end = copyBytes(record, members.starts[member]!, members.ends[member]!, target, end);
    end = copyBytes(after, 0, after.length, target, end);
  }
  return end;
}

/** Writes a record as JSON to `target` from `at` on; returns its end. */
export type WriteRecord = (record: StoredRecord, target: Uint8Array, at: number) => number;

/** Makes a function that writes records with these keys only. */
export function createProjection(keys: readonly RecordKey[] = RECORD_KEYS): WriteRecord {
  const members = new Members();
  const numbers = keys.map(memberOf);
  return (record, target, at) => {
    members.find(record);
    target[at] = BRACE_OPEN;
    const end = writeMembers(record, members, numbers, target, at + 1);
    target[end] = BRACE_CLOSE;
    return end + 1;
  };
}

/** Makes a function that renders records with these keys only. */
export function showing(keys?: readonly RecordKey[]): (record: StoredRecord) => Buffer {
  const project = createProjection(keys);
  return (record) => {
    const target = Buffer.allocUnsafe(renderedLength(record));
    return target.subarray(0, project(record, target, 0));
  };
}

export const rendered: (record: StoredRecord) => Buffer = showing();
