import { show } from './quote.js';
import type { TimeZone } from './time-zone.js';
import { parseTimestamp, type Timestamp } from './timestamp.js';
import { isObject, isWhole, UNITS_PER_DEGREE } from './units.js';

/** A geolocated note, valid in every field. */
export interface Point {
  /** 1 to 2^53 - 1. */
  readonly id: number;
  readonly status: string;
  readonly comment: string;
  readonly image: string | undefined;
  /** Degrees, with eight digits after the point. */
  readonly lat: string;
  readonly lon: string;
  readonly isProcessed: boolean;
  readonly createdBy: number | undefined;
  /** Undefined rather than empty. */
  readonly tags: readonly string[] | undefined;
  readonly createdAt: Timestamp;
  readonly modifiedAt: Timestamp;
}

/** What is wrong with a field of a record, or with the whole, `record`. */
export interface Problem {
  readonly field: string;
  readonly reason: string;
}

export const MAX_TAG_LENGTH = 64;

/**
 * Validates a record by the rules of docs/snapshot-format.md; returns every problem of an invalid
 * one. Times without an offset are local times of `zone`, and a problem without one.
 */
export function readPoint(
  record: unknown,
  onUnknownKey: (key: string) => void,
  zone?: TimeZone,
): Point | readonly Problem[] {
  if (!isObject(record)) {
    return [{ field: 'record', reason: `must be an object, got ${show(record)}` }];
  }
  for (const key in record) if (!KEYS.has(key)) onUnknownKey(key);

  const problems: Problem[] = [];
  const fail = (field: string, reason: string): undefined => {
    problems.push({ field, reason });
    return undefined;
  };
  const id = readId(record['id'], fail);
  const lat = readCoordinate('lat', record['lat'], 90, fail);
  const lon = readCoordinate('lon', record['lon'], 180, fail);
  const createdAt = readTime('created_at', record['created_at'], zone, fail);
  const modifiedAt = isAbsent(record['modified_at'])
    ? createdAt
    : readTime('modified_at', record['modified_at'], zone, fail);
  const status = readText('status', record['status'], fail) ?? 'NEW';
  const comment = readText('comment', record['comment'], fail) ?? '';
  const image = readText('image', record['image'], fail);
  const isProcessed = readFlag(record['is_processed'], fail);
  const createdBy = readUser(record['created_by'], fail);
  const tags = readTags(record['tags'], fail);
  if (problems.length > 0) return problems;
  return {
    id: id!,
    status,
    comment,
    image,
    lat: lat!,
    lon: lon!,
    isProcessed,
    createdBy,
    tags,
    createdAt: createdAt!,
    modifiedAt: modifiedAt!,
  };
}

/** The record's JSON as answers have it: compact, in the order of the keys, without absent ones. */
export function renderPoint(point: Point): string {
  let json = `{"id":${point.id},"status":${JSON.stringify(point.status)},"comment":${JSON.stringify(point.comment)}`;
  if (point.image !== undefined) json += `,"image":${JSON.stringify(point.image)}`;
  json += `,"lat":"${point.lat}","lon":"${point.lon}","is_processed":${point.isProcessed}`;
  if (point.createdBy !== undefined) json += `,"created_by":${point.createdBy}`;
  if (point.tags !== undefined) json += `,"tags":${JSON.stringify(point.tags)}`;
  return `${json},"created_at":"${point.createdAt.text}","modified_at":"${point.modifiedAt.text}"}`;
}

/** Values as JSON has them, a character a byte, without quotes and brackets; '' where absent. */
export interface RecordTexts extends Readonly<Record<Exclude<keyof Point, 'isProcessed'>, string>> {
  readonly isProcessed: boolean;
}

export function textsOf(point: Point): RecordTexts {
  const { id, status, comment, image = '', lat, lon, isProcessed, createdBy, tags } = point;
  return {
    id: String(id),
    status: textBytes(status),
    comment: textBytes(comment),
    image: textBytes(image),
    lat,
    lon,
    isProcessed,
    createdBy: createdBy === undefined ? '' : String(createdBy),
    tags: tags === undefined ? '' : tags.map((tag) => `"${textBytes(tag)}"`).join(),
    createdAt: point.createdAt.text,
    modifiedAt: point.modifiedAt.text,
  };
}

/** Printable ASCII without escapes in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as JSON has it between its quotes, a character a byte. */
export function textBytes(value: string): string {
  return PLAIN.test(value) ? value : byteText(JSON.stringify(value).slice(1, -1));
}

/** The UTF-8 of a text, a character a byte. */
export function byteText(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
}

export function isRecordKey(key: string): boolean {
  return KEYS.has(key);
}

type Fail = (field: string, reason: string) => undefined;

/** The keys of a record in the order of its JSON. */
export const RECORD_KEYS = [
  'id',
  'status',
  'comment',
  'image',
  'lat',
  'lon',
  'is_processed',
  'created_by',
  'tags',
  'created_at',
  'modified_at',
] as const;

export type RecordKey = (typeof RECORD_KEYS)[number];

const KEYS: ReadonlySet<string> = new Set(RECORD_KEYS);

/** Fields of any text: white space counts, and CSV quotes them. */
export const FREE_TEXTS: ReadonlySet<string> = new Set(['status', 'comment', 'image']);

const DIGITS = /^\d{1,16}$/;

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function readId(value: unknown, fail: Fail): number | undefined {
  if (isAbsent(value)) return fail('id', 'is required');
  const id = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;
  if (isWhole(id, 1)) return id;
  return fail('id', `must be a whole number from 1 to 2^53 - 1, got ${show(value)}`);
}

function readUser(value: unknown, fail: Fail): number | undefined {
  if (isAbsent(value)) return undefined;
  if (isWhole(value, 0)) return value;
  return fail('created_by', `must be a whole number, 0 or more, got ${show(value)}`);
}

function readCoordinate(
  field: string,
  value: unknown,
  limit: number,
  fail: Fail,
): string | undefined {
  if (isAbsent(value)) return fail(field, 'is required');
  let decimal: string | undefined;
  if (typeof value === 'string') decimal = toEightDigits(value);
  else if (typeof value === 'number') decimal = eightDigitsOf(value);
  if (decimal === undefined) {
    return fail(field, `must be a decimal number of degrees, got ${show(value)}`);
  }
  if (Math.abs(Number(value)) > limit) {
    return fail(field, `must lie within ±${limit} degrees, got ${show(value)}`);
  }
  return decimal;
}

function readTime(
  field: string,
  value: unknown,
  zone: TimeZone | undefined,
  fail: Fail,
): Timestamp | undefined {
  if (isAbsent(value)) return fail(field, 'is required');
  if (typeof value !== 'string') {
    return fail(field, `must be an ISO 8601 time as text, got ${show(value)}`);
  }
  const time = parseTimestamp(value, zone);
  return typeof time === 'string' ? fail(field, time) : time;
}

function readText(field: string, value: unknown, fail: Fail): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'string') return fail(field, `must be text, got ${show(value)}`);
  if (value.includes('\0')) return fail(field, 'must not contain a NUL character');
  return value;
}

function readFlag(value: unknown, fail: Fail): boolean {
  if (isAbsent(value)) return false;
  if (typeof value === 'boolean') return value;
  fail('is_processed', `must be true or false, got ${show(value)}`);
  return false;
}

function readTags(value: unknown, fail: Fail): readonly string[] | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) {
    return fail('tags', `must be a list of texts such as ["a","b"], got ${show(value)}`);
  }
  if (value.length === 0) return undefined;
  for (const [index, tag] of value.entries()) {
    if (typeof tag !== 'string' || tag.trim() === '' || tag.includes('\0')) {
      return fail('tags', `item ${index} must be text that is not blank, got ${show(tag)}`);
    }
    if (tag.length > MAX_TAG_LENGTH && [...tag].length > MAX_TAG_LENGTH) {
      return fail('tags', `item ${index} must have at most ${MAX_TAG_LENGTH} characters`);
    }
  }
  return value;
}

/** The valid fields of a post; the service sets the others. */
export type Draft = Pick<Point, 'lat' | 'lon' | 'comment' | 'tags'>;

/** What is wrong with a post, by field. */
export interface Refused {
  readonly problems: Readonly<Record<string, readonly string[]>>;
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,5}))?$/;
const EIGHT_DIGITS = /^-?(?:0|[1-9]\d{0,2})\.\d{8}$/;
/** A number that needs zeros behind it only. */
const FEWER_DIGITS = /^-?(?:0|[1-9]\d{0,2})\.\d{1,7}$/;

/** A decimal number with eight decimals, rounded half-even; undefined where `text` is none. */
export function toEightDigits(text: string): string | undefined {
  if (EIGHT_DIGITS.test(text)) return text;
  if (FEWER_DIGITS.test(text)) return text.padEnd(text.indexOf('.') + 9, '0');
  const parts = DECIMAL.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  if (whole.length + fraction.length === 0) return undefined;

  // the value is `digits` × 10^-scale
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > 400 || whole.length + fraction.length > 400) return undefined;
  const units = scaleHalfEven(BigInt(whole + fraction), scale - 8);
  const padded = units.toString().padStart(9, '0');
  return `${sign === '-' ? '-' : ''}${padded.slice(0, -8)}.${padded.slice(-8)}`;
}

/** {@link toEightDigits} of a number's shortest text. A negative zero keeps its sign. */
function eightDigitsOf(value: number): string | undefined {
  const degrees = Math.abs(value);
  const units = Math.round(degrees * UNITS_PER_DEGREE);
  // up to 1,000 degrees decimals of eight places are distinct numbers: where one of them is
  // `value`, it has the digits of the shortest text
  if (units / UNITS_PER_DEGREE !== degrees || degrees > 1_000) return toEightDigits(String(value));
  const whole = Math.trunc(degrees);
  const fraction = String(units - whole * UNITS_PER_DEGREE).padStart(8, '0');
  return `${value < 0 || Object.is(value, -0) ? '-' : ''}${whole}.${fraction}`;
}

/** `digits` ÷ 10^places, rounded half-even. */
function scaleHalfEven(digits: bigint, places: number): bigint {
  if (places <= 0) return digits * 10n ** BigInt(-places);
  const divisor = 10n ** BigInt(places);
  const quotient = digits / divisor;
  const doubled = (digits % divisor) * 2n;
  const roundUp = doubled > divisor || (doubled === divisor && quotient % 2n === 1n);
  return roundUp ? quotient + 1n : quotient;
}
