import { InputError, quote } from '../../model/quote.js';
import { MAGIC, type SnapshotFormat } from '../snapshot.js';
import { FOREIGN_SEPARATORS, REQUIRED, readHeader } from './csv.js';
import { JsonDocument } from './json-document.js';
import { RECORD_SEPARATOR } from './lines.js';
import { BrokenRows, isBlank, isSpace, MAX_RAW_BYTES, utf8Of, withoutBom } from './row.js';
import { RowFile } from './row-file.js';

/** Enough to find the list of a JSON document, and the first line of most files. */
const HEAD_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

const ACCEPTED =
  'accepted are native snapshots, NDJSON, JSON (an array, or an object with a list ' +
  '"results"), a GeoJSON FeatureCollection, CSV with a header that names id, lat, lon and ' +
  'created_at, MessagePack maps, and Parquet; all but the first and the last may be gzipped';

const FEATURE_COLLECTION = /"type"\s*:\s*"FeatureCollection"/;

/** A line for Excel alone, with the separator. */
const EXCEL_SEPARATOR = /^"?sep=.?"?$/i;

/** What other formats begin with, to name them in errors. */
const OTHERS: readonly (readonly [start: string, name: string])[] = [
  ['\x1f\x8b', 'gzip data inside gzip data'],
  ['\xff\xfe', 'UTF-16 text; save it as UTF-8'],
  ['\xfe\xff', 'UTF-16 text; save it as UTF-8'],
  ['PK\x03\x04', 'a ZIP archive or a spreadsheet; unpack it or export CSV'],
  ['\x28\xb5\x2f\xfd', 'Zstandard data; decompress it'],
  ['BZh', 'bzip2 data; decompress it'],
  ['\xfd7zXZ', 'xz data; decompress it'],
  ['PARE', 'an encrypted Parquet file; decrypt it'],
  ['SQLite format 3', 'an SQLite database'],
  ['\x89PNG', 'a PNG image'],
  ['<', 'XML or HTML'],
];

/** Detects a file's format from its content. Throws an InputError with what was found instead. */
export async function detectFormat(path: string): Promise<SnapshotFormat> {
  const source = new RowFile(path);
  try {
    const head = await readHead(source);
    if (trimStart(withoutBom(head)).length === 0) {
      throw new InputError(`${path}: the file is empty, or has only white space`);
    }
    const format = sniff(head);
    if (format === undefined) {
      const text = trimStart(withoutBom(head));
      const hint = headerHint(headerLine(text));
      throw new InputError(`${path}: begins with ${describe(text)}; ${ACCEPTED}${hint}`);
    }
    if (source.gzipped && (format === 'native' || format === 'parquet')) {
      const name = format === 'native' ? 'native snapshot' : 'Parquet file';
      throw new InputError(
        `${path}: a ${name} cannot be read while it is gzipped; gunzip it first`,
      );
    }
    return format;
  } finally {
    source.close();
  }
}

/** The format of a file that begins with these bytes, which are no white space. */
export function sniff(head: Uint8Array): SnapshotFormat | undefined {
  const [first = 0, second] = head;
  if (MAGIC.every((byte, index) => head[index] === byte)) return 'native';
  const start = Buffer.from(head.subarray(0, 4)).toString('latin1');
  if (start === 'PAR1') return 'parquet';
  // as MessagePack a map, whose rest is missing
  if (start === '\x89PNG') return undefined;
  const isMap = first >> 4 === 0x8 || first === 0xde || first === 0xdf;
  const isArray = first >> 4 === 0x9 || first === 0xdc || first === 0xdd;
  // 0xd4 0x72 begins msgpackr's extension for records
  if (isMap || isArray || (first === 0xd4 && second === 0x72)) return 'msgpack';
  if (first === 0 || second === 0) return undefined;

  const text = trimStart(withoutBom(head));
  if (text[0] === 0x5b) return 'json';
  if (text[0] === 0x7b) return sniffObject(text);
  if (text[0] === RECORD_SEPARATOR)
    return trimStart(text.subarray(1))[0] === 0x7b ? 'ndjson' : undefined;
  return readHeader(headerLine(text))?.missing.length === 0 ? 'csv' : undefined;
}

/** Whether the only object of a file is no record: an error message, most likely. */
function isNoRecord(text: Uint8Array, keys: readonly string[]): boolean {
  if (keys.length === 0 || [...REQUIRED, 'geometry'].some((key) => keys.includes(key)))
    return false;
  return isBlank(text.subarray(firstLine(text).length));
}

/** Up to a carriage return, too: the reader of CSV says what is wrong with one alone. */
function headerLine(text: Uint8Array): Uint8Array {
  const line = firstLine(text);
  const end = line.findIndex((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN);
  return end === -1 ? line : line.subarray(0, end);
}

/** What a first line that looks like a header lacks. */
function headerHint(line: Uint8Array): string {
  if (EXCEL_SEPARATOR.test(utf8Of(line) ?? '')) {
    return '; the first line is for Excel only: remove it';
  }
  const foreign = readHeader(line, FOREIGN_SEPARATORS);
  if (foreign?.missing.length === 0) {
    return `; the columns are separated by ${quote(foreign.separator)}: take commas, semicolons or tabs`;
  }
  const { names = [], missing = [] } = readHeader(line) ?? {};
  return names.length < 2 ? '' : `; as a header this one lacks ${missing.join(', ')}`;
}

/**
 * Tells lines of objects from one document. A first line that is a whole object, and no envelope,
 * is NDJSON. So is a broken one: broken lines can be reported one by one, a document cannot.
 */
function sniffObject(text: Uint8Array): SnapshotFormat {
  // with the line end, which breaks a text that goes on
  const line = readStart(firstLine(text));
  const { list, members } = line.state === 'open' ? readStart(text).document : line.document;
  const isOpen = line.state === 'open' && list === undefined;
  const isCollection = isOpen
    ? FEATURE_COLLECTION.test(Buffer.from(text).toString('latin1'))
    : list === 'features' || members['type'] === 'FeatureCollection';
  if (isCollection) return 'geojson';
  if (isOpen && isCutShort(text)) return 'ndjson';
  if (line.state === 'open' || list === 'results') return 'json';
  return line.state === 'complete' && isNoRecord(text, Object.keys(members)) ? 'json' : 'ndjson';
}

/** Enough for the last character of a line, with some white space behind it. */
const LINE_END_BYTES = 256;

/** Whether a first line that is open ends where no object may begin, and the next one begins so. */
function isCutShort(text: Uint8Array): boolean {
  const line = firstLine(text);
  const end = Buffer.from(line.subarray(-LINE_END_BYTES)).toString('latin1');
  const isEnd = /[^[{:,\s]\s*$/.test(end);
  return isEnd && trimStart(text.subarray(line.length))[0] === 0x7b;
}

function readStart(start: Uint8Array): {
  readonly document: JsonDocument;
  readonly state: 'complete' | 'open' | 'broken';
} {
  const document = new JsonDocument(() => {});
  try {
    document.write(start);
  } catch (error) {
    if (error instanceof BrokenRows) return { document, state: 'broken' };
    throw error;
  }
  return { document, state: document.isComplete ? 'complete' : 'open' };
}

/** `HEAD_BYTES` at least, and the first line, up to the longest possible one. */
async function readHead(source: RowFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  let hasLine = false;
  for await (const chunk of source.chunks()) {
    const part = size === 0 ? trimStart(chunk) : chunk;
    if (part.length === 0) continue;
    parts.push(part);
    size += part.length;
    hasLine ||= part.includes(LINE_FEED);
    if (size >= (hasLine ? HEAD_BYTES : MAX_RAW_BYTES)) break;
  }
  return Buffer.concat(parts);
}

function firstLine(text: Uint8Array): Uint8Array {
  const end = text.indexOf(LINE_FEED);
  return end === -1 ? text : text.subarray(0, end + 1);
}

function trimStart(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length && isSpace(bytes[start]!)) start++;
  return bytes.subarray(start);
}

/** Enough for all characters that {@link quote} shows. */
const SHOWN_BYTES = 256;

function describe(head: Uint8Array): string {
  const start = head.subarray(0, SHOWN_BYTES);
  const latin = Buffer.from(start).toString('latin1');
  const known = OTHERS.find(([text]) => latin.startsWith(text));
  if (known !== undefined) return known[1];
  if (start[0] === 0 || start[1] === 0) return 'zero bytes, which may be UTF-16: save it as UTF-8';
  const line = headerLine(head);
  if (utf8Of(line) !== undefined) return `the text ${quote(Buffer.from(start).toString())}`;
  // no control characters: text of an older encoding
  if (line.every((byte) => byte >= 0x20 || isSpace(byte))) {
    return 'text that is not UTF-8, most likely Latin-1; save it as UTF-8';
  }
  return `the bytes ${Buffer.from(start.subarray(0, 8)).toString('hex')}`;
}
