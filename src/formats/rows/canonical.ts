import { isUtf8 } from 'node:buffer';
import { RECORD_KEYS, type RecordKey } from '../../model/point.js';
import { CANONICAL_BYTES, canonicalMicros } from '../../model/timestamp.js';
import { MAX_RECORD_BYTES } from '../block.js';

// what may stand between quotes: escapes only where they are the only way to write a character
const CHARACTER = String.raw`(?:[^"\\\x00-\x1f]|\\["\\nrt])`;
const WHOLE = String.raw`(0|[1-9]\d{0,15})`;
const NUMBER = String.raw`(-?(?:0|[1-9]\d{0,2})\.\d{8})`;
const DEGREES = `"${NUMBER}"`;
// without escapes; white space of other alphabets would have to be known to tell that a tag is blank
const TAG = String.raw`"(?=[^"]*[!#-\[\]-~])[^"\\\x00-\x1f]{1,64}"`;
const TIME = `"[^"]{${CANONICAL_BYTES}}"`;

/** How the API renders the value of each key, a byte a character. */
const VALUES: Readonly<Record<RecordKey, string>> = {
  id: WHOLE,
  status: `"${CHARACTER}+"`,
  comment: `"${CHARACTER}*"`,
  image: `"${CHARACTER}+"`,
  lat: DEGREES,
  lon: DEGREES,
  is_processed: '(?:true|false)',
  created_by: WHOLE,
  tags: String.raw`\[${TAG}(?:,${TAG})*\]`,
  created_at: TIME,
  modified_at: TIME,
};
const OPTIONAL: ReadonlySet<RecordKey> = new Set(['image', 'created_by', 'tags']);
const MEMBERS = RECORD_KEYS.map((key, i) => {
  const member = `${i === 0 ? '' : ','}"${key}":${VALUES[key]}`;
  return OPTIONAL.has(key) ? `(?:${member})?` : member;
});
const RECORD = new RegExp(String.raw`\{${MEMBERS.join('')}\}`, 'y');

const TO_MODIFIED_AT = CANONICAL_BYTES + '"}'.length;
const TO_CREATED_AT = TO_MODIFIED_AT + CANONICAL_BYTES + '","modified_at":"'.length;

/** A record whose bytes are what the API renders, with the columns that they say. */
export class RenderedPoint {
  readonly bytes: Uint8Array;
  readonly id: number;
  readonly lat: number;
  readonly lon: number;
  readonly createdAt: number;
  readonly modifiedAt: number;

  /** `text` ends with the record at `to`. */
  constructor(bytes: Uint8Array, text: string, to: number, id: string, lat: string, lon: string) {
    this.bytes = bytes;
    this.id = Number(id);
    this.lat = Number(lat);
    this.lon = Number(lon);
    this.createdAt = canonicalMicros(text, to - TO_CREATED_AT);
    this.modifiedAt = canonicalMicros(text, to - TO_MODIFIED_AT);
  }
}

/**
 * Reads a record that is written exactly as the API renders it, as in its own exports: its bytes
 * are checked and taken as they are, for two thirds of what `JSON.parse` alone would cost.
 * Undefined for what is not surely a valid record in its rendered form.
 */
export function readRendered(bytes: Uint8Array): RenderedPoint | undefined {
  const text = latin1(bytes);
  return readText(text, 0, text.length, bytes);
}

/** Lines that lie together: text is made of all at once, and no bytes of their own of each. */
export class RenderedLines {
  readonly #bytes: Uint8Array;
  readonly #text: string;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#text = latin1(bytes, Number.POSITIVE_INFINITY);
  }

  /** What {@link readRendered} says of the line that begins at `from` and ends with a line feed. */
  at(from: number): RenderedPoint | undefined {
    const to = this.#text.indexOf('\n', from);
    return to === -1 ? undefined : readText(this.#text, from, to, this.#bytes.subarray(from, to));
  }
}

/** Reads characters `from` to `to - 1`; `bytes` are the same. */
function readText(
  text: string,
  from: number,
  to: number,
  bytes: Uint8Array,
): RenderedPoint | undefined {
  if (to - from > MAX_RECORD_BYTES) return undefined;
  RECORD.lastIndex = from;
  const found = RECORD.exec(text);
  if (found === null || RECORD.lastIndex !== to) return undefined;
  return take(text, to, bytes, found[1]!, found[2]!, found[3]!, found[4]);
}

const FEATURE = new RegExp(
  String.raw`^\{"type":"Feature",(?:"id":${WHOLE},)?"geometry":\{"type":"Point","coordinates":` +
    String.raw`\[${NUMBER},${NUMBER}\]\},"properties":\{`,
);
/** What stands behind the place in a record. */
const BEHIND_PLACE = ',"is_processed":';

/** The same of a Feature as exports write it, for a quarter of what it costs as any other object. */
export function readRenderedFeature(bytes: Uint8Array): RenderedPoint | undefined {
  const text = latin1(bytes);
  const found = FEATURE.exec(text);
  if (found === null || !text.endsWith('}}')) return undefined;
  const [{ length }, , lon, lat] = found;
  const at = text.indexOf(BEHIND_PLACE, length);
  const place = `,"lat":"${lat}","lon":"${lon}"`;
  const record = `{${text.slice(length, at)}${place}${text.slice(at, -1)}`;
  return readText(record, 0, record.length, Buffer.from(record, 'latin1'));
}

// texts without escapes, which are the same in CSV and in JSON
const TEXT = String.raw`"[^"\\\x00-\x1f]*"`;
const FILLED = TEXT.replace('*', '+');
const CSV_RECORD = new RegExp(
  `^${WHOLE},(${FILLED}),(${TEXT}),(${FILLED})?,${NUMBER},${NUMBER},(true|false),` +
    String.raw`${WHOLE}?,(?:"(\["${TAG}"(?:,"${TAG}")*\])")?,([^"]{32}),([^"]{32})$`,
);

/** The same of a line of CSV as exports write it, with the columns in the order of a record's keys. */
export function readRenderedCsv(bytes: Uint8Array): RenderedPoint | undefined {
  const found = CSV_RECORD.exec(latin1(bytes));
  if (found === null) return undefined;
  const [, id, status, comment, image, lat, lon, flag, user, tags, created, modified] = found;
  let text = `{"id":${id},"status":${status},"comment":${comment}`;
  if (image !== undefined) text += `,"image":${image}`;
  text += `,"lat":"${lat}","lon":"${lon}","is_processed":${flag}`;
  if (user !== undefined) text += `,"created_by":${user}`;
  if (tags !== undefined) text += `,"tags":${tags.replaceAll('""', '"')}`;
  text += `,"created_at":"${created}","modified_at":"${modified}"}`;
  return take(text, text.length, Buffer.from(text, 'latin1'), id!, lat!, lon!, user);
}

/** A character a byte; none where the bytes are no UTF-8, or more than `most`. */
function latin1(bytes: Uint8Array, most = MAX_RECORD_BYTES): string {
  const { buffer, byteOffset, length } = bytes;
  const isRead = length <= most && isUtf8(bytes);
  return isRead ? Buffer.from(buffer, byteOffset, length).toString('latin1') : '';
}

/** Takes a record whose form is right, with the texts of its numbers, unless one is out of range. */
function take(
  text: string,
  to: number,
  bytes: Uint8Array,
  id: string,
  lat: string,
  lon: string,
  user = '0',
): RenderedPoint | undefined {
  const point = new RenderedPoint(bytes, text, to, id, lat, lon);
  const isValid =
    bytes.length <= MAX_RECORD_BYTES &&
    point.id > 0 &&
    Number.isSafeInteger(point.id) &&
    Number.isSafeInteger(Number(user)) &&
    Math.abs(point.lat) <= 90 &&
    Math.abs(point.lon) <= 180 &&
    Number.isSafeInteger(point.createdAt) &&
    Number.isSafeInteger(point.modifiedAt);
  return isValid ? point : undefined;
}
