import { isUtf8 } from 'node:buffer';
import { RECORD_KEYS, type RecordKey, type RecordTexts } from '../../model/point.js';
import { CANONICAL_BYTES, canonicalMicros } from '../../model/timestamp.js';
import { MAX_RECORD_BYTES, type PointColumns } from '../block.js';
import { UnstoredRecord } from '../record-layout.js';

// between quotes: escapes only where a character cannot be written otherwise
const CHARACTER = String.raw`(?:[^"\\\x00-\x1f]|\\["\\nrt])`;
const WHOLE = String.raw`(0|[1-9]\d{0,15})`;
export const NUMBER: string = String.raw`(-?(?:0|[1-9]\d{0,2})\.\d{8})`;
// without escapes, and with a character of ASCII: other alphabets have white space of their own
export const TAG: string = String.raw`"(?=[^"]*[!#-\[\]-~])[^"\\\x00-\x1f]{1,64}"`;
const TIME = `"([^"]{${CANONICAL_BYTES}})"`;

/** The value of each key as the API renders it, a byte a character. */
const VALUES: Readonly<Record<RecordKey, string>> = {
  id: WHOLE,
  status: `"(${CHARACTER}+)"`,
  comment: `"(${CHARACTER}*)"`,
  image: `"(${CHARACTER}+)"`,
  lat: `"${NUMBER}"`,
  lon: `"${NUMBER}"`,
  is_processed: '(true|false)',
  created_by: WHOLE,
  tags: String.raw`\[(${TAG}(?:,${TAG})*)\]`,
  created_at: TIME,
  modified_at: TIME,
};
const OPTIONAL: ReadonlySet<RecordKey> = new Set(['image', 'created_by', 'tags']);
const MEMBERS = RECORD_KEYS.map((key, i) => {
  const member = `${i === 0 ? '' : ','}"${key}":${VALUES[key]}`;
  return OPTIONAL.has(key) ? `(?:${member})?` : member;
});

/** How an export writes records. */
export interface Form {
  /** A whole record, with a group for each of {@link RECORD_KEYS}. */
  readonly pattern: RegExp;
  readonly quote: string;
  /** Characters between the two times, and behind them. */
  readonly between: number;
  readonly behind: number;
}

export const JSON_FORM: Form = {
  pattern: new RegExp(String.raw`\{${MEMBERS.join('')}\}`, 'y'),
  quote: '"',
  between: '","modified_at":"'.length,
  behind: '"}'.length,
};

// without escapes: the same in CSV and in JSON
const TEXT = String.raw`"([^"\\\x00-\x1f]*)"`;
const FILLED = TEXT.replace('*', '+');

/** Columns in the order of a record's keys. */
export const CSV_FORM: Form = {
  pattern: new RegExp(
    `${WHOLE},${FILLED},${TEXT},(?:${FILLED})?,${NUMBER},${NUMBER},(true|false),` +
      String.raw`${WHOLE}?,(?:"\[("${TAG}"(?:,"${TAG}")*)\]")?,([^"]{32}),([^"]{32})`,
    'y',
  ),
  quote: '""',
  between: ','.length,
  behind: 0,
};

export class RenderedPoint implements PointColumns {
  readonly record: UnstoredRecord;
  readonly id: number;
  readonly lat: number;
  readonly lon: number;
  readonly createdAt: number;
  readonly modifiedAt: number;

  /** The times begin at places `createdAt` and `modifiedAt` of `text`. */
  constructor(texts: RecordTexts, text: string, createdAt: number, modifiedAt: number) {
    this.record = new UnstoredRecord(texts);
    this.id = Number(texts.id);
    this.lat = Number(texts.lat);
    this.lon = Number(texts.lon);
    // read in `text`, which takes half as long as out of a substring
    this.createdAt = canonicalMicros(text, createdAt);
    this.modifiedAt =
      texts.createdAt === texts.modifiedAt ? this.createdAt : canonicalMicros(text, modifiedAt);
  }
}

/** The point of texts in the right form; undefined where one is out of range. */
export function takeTexts(
  ...given: ConstructorParameters<typeof RenderedPoint>
): RenderedPoint | undefined {
  const point = new RenderedPoint(...given);
  const isValid =
    point.record.renderedLength <= MAX_RECORD_BYTES &&
    point.id > 0 &&
    Number.isSafeInteger(point.id) &&
    Number.isSafeInteger(Number(given[0].createdBy)) &&
    Math.abs(point.lat) <= 90 &&
    Math.abs(point.lon) <= 180 &&
    Number.isSafeInteger(point.createdAt) &&
    Number.isSafeInteger(point.modifiedAt);
  return isValid ? point : undefined;
}

/**
 * Reads a record exactly as the API or an export writes it, in two thirds of the time of
 * `JSON.parse`. Undefined for what is not surely a valid record of the form.
 */
export function readRendered(bytes: Uint8Array, form: Form = JSON_FORM): RenderedPoint | undefined {
  const text = latin1(bytes);
  return readText(form, text, 0, text.length);
}

/** {@link readRendered} of characters `from` to `to - 1`, each of which is a byte. */
export function readText(
  { pattern, quote, between, behind }: Form,
  text: string,
  from: number,
  to: number,
): RenderedPoint | undefined {
  if (to - from > MAX_RECORD_BYTES) return undefined;
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  if (found === null || pattern.lastIndex !== to) return undefined;
  const [, id, status, comment, image = '', lat, lon, flag, createdBy = '', tags = ''] = found;
  const texts = {
    id: id!,
    status: status!,
    comment: comment!,
    image,
    lat: lat!,
    lon: lon!,
    isProcessed: flag === 'true',
    createdBy,
    tags: quote === '"' ? tags : tags.replaceAll(quote, '"'),
    createdAt: found[10]!,
    modifiedAt: found[11]!,
  };
  const modifiedAt = to - behind - CANONICAL_BYTES;
  return takeTexts(texts, text, modifiedAt - between - CANONICAL_BYTES, modifiedAt);
}

const FEATURE = new RegExp(
  String.raw`^\{"type":"Feature",(?:"id":${WHOLE},)?"geometry":\{"type":"Point","coordinates":` +
    String.raw`\[${NUMBER},${NUMBER}\]\},"properties":\{`,
);
/** What follows the coordinates in a record. */
const BEHIND_PLACE = ',"is_processed":';

/** {@link readRendered} of a Feature of an export, in a quarter of the time of `JSON.parse`. */
export function readRenderedFeature(bytes: Uint8Array): RenderedPoint | undefined {
  const text = latin1(bytes);
  const found = FEATURE.exec(text);
  if (found === null || !text.endsWith('}}')) return undefined;
  const [{ length }, , lon, lat] = found;
  const at = text.indexOf(BEHIND_PLACE, length);
  const place = `,"lat":"${lat}","lon":"${lon}"`;
  const record = `{${text.slice(length, at)}${place}${text.slice(at, -1)}`;
  return readText(JSON_FORM, record, 0, record.length);
}

/** A character a byte; empty where the bytes are no UTF-8, or more than `most`. */
export function latin1(bytes: Uint8Array, most: number = MAX_RECORD_BYTES): string {
  const { buffer, byteOffset, length } = bytes;
  const isRead = length <= most && isUtf8(bytes);
  return isRead ? Buffer.from(buffer, byteOffset, length).toString('latin1') : '';
}
