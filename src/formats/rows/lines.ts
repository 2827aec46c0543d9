import { inert } from '../../model/quote.js';
import {
  FEATURE_FORM,
  type Form,
  JSON_FORM,
  latin1,
  type RenderedPoint,
  readRendered,
  readText,
} from './canonical.js';
import { featureRow, isFeature } from './json.js';
import {
  BOM,
  isBlank,
  isSpace,
  MAX_RAW_BYTES,
  NOT_UTF8,
  problemRow,
  type RawRecord,
  type Row,
  TOO_LONG,
  utf8Of,
  withoutBom,
} from './row.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
/** V8 keeps strings of more than 128 KiB in pages of their own, which are mapped for each. */
const TEXT_BYTES = 64 * 1024;
/** Stands before each text of a GeoJSON text sequence, whose texts may have several lines. */
export const RECORD_SEPARATOR = 0x1e;

/** The byte that ends a line, by how the file begins; undefined where that is blank so far. */
export function lineEndOf(start: Uint8Array): number | undefined {
  const first = start.find((byte) => !isSpace(byte) && !BOM.includes(byte));
  if (first === undefined) return undefined;
  return first === RECORD_SEPARATOR ? RECORD_SEPARATOR : LINE_FEED;
}

/**
 * Cuts chunks of bytes into lines: add a chunk, take lines until there is none, add the next chunk;
 * take the last line at the end. Holds one line at most, and nothing of an overlong one.
 */
export class LineSplitter {
  /** The separator of a CSV file: once it is set, quoted line ends end no line. */
  separator: number | undefined;
  /** A form of exports that lines may have. */
  form: Form | undefined;
  /** Ends a line: a line feed, or a record separator where the file begins with one. */
  #end: number | undefined;
  #chunk: Uint8Array = new Uint8Array(0);
  /** Lines of the chunk that may have the form, a character a byte, and where they stand. */
  #text = '';
  #textStart = 0;
  #textEnd = 0;
  #at = 0;
  #parts: Uint8Array[] = [];
  #size = 0;
  /** The number of the next line. */
  place: number;
  #innerLines = 0;
  /** The state in a CSV field; `closed` is behind a quote that may be its last. */
  #field: 'start' | 'plain' | 'quoted' | 'closed' = 'start';

  /** `place` is the number of the first line; `end` as of {@link lineEndOf} for the whole file. */
  constructor(place: number = 1, form?: Form, end?: number) {
    this.place = place;
    this.form = form;
    this.#end = end;
  }

  add(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#textEnd = 0;
    this.#at = 0;
    this.#end ??= lineEndOf(chunk);
  }

  /** The next line; undefined where the chunk has no more. */
  next(): RawRecord | undefined {
    const end =
      this.separator === undefined
        ? this.#chunk.indexOf(this.#end ?? LINE_FEED, this.#at)
        : this.#endOfRecord(this.separator);
    if (end === -1) {
      this.#keep(this.#chunk.length);
      return undefined;
    }
    this.#keep(end);
    this.#at = end + 1;
    return this.#take();
  }

  /** The point of the next line, where the chunk has the whole line and it has the form. */
  nextRendered(): RenderedPoint | undefined {
    if (this.form === undefined || this.#size > 0 || this.#end !== LINE_FEED) return undefined;
    if (this.#at >= this.#textEnd) this.#takeText();
    const from = this.#at - this.#textStart;
    const end = this.#text.indexOf('\n', from);
    const point = end < 0 ? undefined : readText(this.form, this.#text, from, end);
    if (point === undefined) return undefined;
    this.#at = this.#textStart + end + 1;
    this.place += 1;
    return point;
  }

  /** Takes the next lines as text; none where one alone is too long, or they are no UTF-8. */
  #takeText(): void {
    const end = this.#chunk.lastIndexOf(LINE_FEED, this.#at + TEXT_BYTES) + 1;
    this.#text = end > this.#at ? latin1(this.#chunk.subarray(this.#at, end), TEXT_BYTES + 1) : '';
    this.#textStart = this.#at;
    this.#textEnd = Math.max(end, this.#at);
  }

  /** The last line, where it has no line end. */
  last(): RawRecord | undefined {
    return this.#size === 0 ? undefined : this.#take();
  }

  /** Whether a quote is open, which is an error at the end of a file. */
  isQuoted(): boolean {
    return this.#field === 'quoted';
  }

  #keep(end: number): void {
    const part = this.#chunk.subarray(this.#at, end);
    this.#at = end;
    if (this.#end === RECORD_SEPARATOR) this.#innerLines += countLineFeeds(part);
    this.#size += part.length;
    if (this.#size <= MAX_RAW_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  #take(): RawRecord {
    const place = this.place;
    let bytes: Uint8Array | undefined;
    if (this.#size <= MAX_RAW_BYTES) {
      bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
      if (place === 1) bytes = withoutBom(bytes);
      if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    }
    this.place += this.#innerLines + (this.#end === RECORD_SEPARATOR ? 0 : 1);
    this.#innerLines = 0;
    this.#parts = [];
    this.#size = 0;
    this.#field = 'start';
    return { place, bytes };
  }

  #endOfRecord(separator: number): number {
    const chunk = this.#chunk;
    let field = this.#field;
    let i = this.#at;
    for (; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (field === 'quoted') {
        if (byte === QUOTE) field = 'closed';
        else if (byte === LINE_FEED) this.#innerLines += 1;
      } else if (byte === LINE_FEED) {
        break;
      } else if (byte === separator) {
        field = 'start';
      } else {
        field = byte === QUOTE && field !== 'plain' ? 'quoted' : 'plain';
      }
    }
    this.#field = field;
    return i === chunk.length ? -1 : i;
  }
}

function countLineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}

/** Reads lines, or the texts behind record separators (RFC 8142). */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const lines = new LineSplitter(1, JSON_FORM);
  for await (const chunk of chunks) {
    const rows: Row[] = [];
    readChunk(lines, chunk, (row) => rows.push(row));
    yield rows;
  }
  const last = lines.last();
  const row = last && readLine(last);
  yield row === undefined ? [] : [row];
}

/** Calls `take` with the rows that end in a chunk; `read` reads lines without the form. */
export function readChunk(
  lines: LineSplitter,
  chunk: Uint8Array,
  take: (row: Row) => void,
  read: (line: RawRecord) => Row | undefined = readLine,
): void {
  lines.add(chunk);
  for (;;) {
    const { place } = lines;
    const value = lines.nextRendered();
    const line = value === undefined ? lines.next() : undefined;
    if (value === undefined && line === undefined) return;
    const row = line === undefined ? { place, value } : read(line);
    if (row !== undefined) take(row);
  }
}

/**
 * Reads a line that is a JSON value, which may be a GeoJSON Feature; undefined for a blank line. A
 * line that is too long, no UTF-8 or no JSON is a problem of its own.
 */
export function readLine({ place, bytes }: RawRecord): Row | undefined {
  if (bytes === undefined) return { place, problem: TOO_LONG };
  if (isBlank(bytes)) return undefined;
  const point = readRendered(bytes) ?? readRendered(bytes, FEATURE_FORM);
  if (point !== undefined) return { place, value: point };
  const text = utf8Of(bytes);
  if (text === undefined) return problemRow(place, NOT_UTF8);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return problemRow(place, `is not valid JSON: ${inert((error as Error).message)}`);
  }
  return isFeature(value) ? featureRow(place, value) : { place, value };
}
