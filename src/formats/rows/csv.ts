import { FREE_TEXTS, isRecordKey, RECORD_KEYS } from '../../model/point.js';
import { CSV_FORM, readRendered } from './canonical.js';
import { LineSplitter, readChunk } from './lines.js';
import {
  BrokenRows,
  isBlank,
  NOT_UTF8,
  problemRow,
  type RawRecord,
  type Row,
  TOO_LONG,
  utf8Of,
} from './row.js';

/** Reads CSV with a header, separated by commas, semicolons or tabs. */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const lines = new LineSplitter();
  let header: CsvHeader | undefined;
  const read = (line: RawRecord): Row | undefined => {
    const { place, bytes } = line;
    if (bytes !== undefined && isBlank(bytes)) return undefined;
    const value = lines.form && bytes && readRendered(bytes, lines.form);
    if (value !== undefined) return { place, value };
    if (header !== undefined) return readCsvRecord(line, header);
    header = requireHeader(line);
    lines.separator = header.separator.charCodeAt(0);
    if (header.separator === ',' && header.names.join() === RECORD_KEYS.join()) {
      lines.form = CSV_FORM;
    }
    return undefined;
  };
  for await (const chunk of chunks) {
    const rows: Row[] = [];
    readChunk(lines, chunk, (row) => rows.push(row), read);
    yield rows;
  }
  const isQuoted = lines.isQuoted();
  const last = lines.last();
  if (last !== undefined && isQuoted) {
    throw new BrokenRows(`line ${last.place}: a quote that opens is never closed`);
  }
  const row = last && read(last);
  yield row === undefined ? [] : [row];
}

function requireHeader({ place, bytes }: RawRecord): CsvHeader {
  const header = bytes === undefined ? undefined : readHeader(bytes);
  if (header === undefined || header.missing.length > 0) {
    const lack = header === undefined ? '' : `, it lacks ${header.missing.join(', ')}`;
    throw new BrokenRows(`line ${place}: the header must name id, lat, lon, created_at${lack}`);
  }
  const { names, twice } = header;
  // line ends of old Macs, and sometimes of Excel: the whole file is the header
  if (names.some((name) => name.includes('\r'))) {
    throw new BrokenRows(
      `line ${place}: ends with a carriage return alone: end lines with a line feed`,
    );
  }
  if (twice !== undefined) {
    throw new BrokenRows(`line ${place}: the header names ${JSON.stringify(twice)} twice`);
  }
  if (names.length > MAX_COLUMNS) {
    throw new BrokenRows(
      `line ${place}: the header has ${names.length} names, at most ${MAX_COLUMNS} are read`,
    );
  }
  return header;
}

function readCsvRecord({ place, bytes }: RawRecord, { separator, names }: CsvHeader): Row {
  if (bytes === undefined) return { place, problem: TOO_LONG };
  const text = utf8Of(bytes);
  if (text === undefined) return problemRow(place, NOT_UTF8);
  const fields = splitFields(text, separator);
  if (fields === undefined) {
    return problemRow(place, 'has a quote inside a field: quote the field and double the quote');
  }
  if (fields.length !== names.length) {
    return problemRow(place, `has ${fields.length} fields, the header has ${names.length}`);
  }
  const value: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    // empty fields of unknown columns are not counted as dropped
    if (fields[i] !== '' || isRecordKey(name)) value[name] = readCell(name, fields[i]!);
  }
  return { place, value };
}

const SEPARATORS = [',', ';', '\t'] as const;
/** Separators that are named in errors. */
export const FOREIGN_SEPARATORS: readonly string[] = ['|', '^', '~', ':', ' '];
export const REQUIRED: readonly string[] = ['id', 'lat', 'lon', 'created_at'];

export const MAX_COLUMNS = 1000;

/** Other names of fields, the surest first. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  lat: ['latitude', 'y'],
  lon: ['longitude', 'lng', 'long', 'x'],
};

interface CsvHeader {
  readonly separator: string;
  /** The field of each column, else the column's own name. */
  readonly names: readonly string[];
  readonly missing: readonly string[];
  /** A field of two columns. */
  readonly twice: string | undefined;
}

/** Takes the separator that gives most of the required fields; undefined where none gives any. */
export function readHeader(
  line: Uint8Array,
  separators: readonly string[] = SEPARATORS,
): CsvHeader | undefined {
  const text = utf8Of(line);
  if (text === undefined) return undefined;
  let best: CsvHeader | undefined;
  for (const separator of separators) {
    const columns = splitFields(text, separator)?.map((name) => name.trim());
    if (columns === undefined) continue;
    const header = { separator, ...assignFields(columns) };
    const least = best?.missing.length ?? REQUIRED.length;
    if (header.missing.length < least) best = header;
  }
  return best;
}

/** Finds a column for each field: by its exact name, else in any case, else by another name. */
export function assignFields(columns: readonly string[]): Omit<CsvHeader, 'separator'> {
  const names = [...columns];
  const anyCase = columns.map((name) => name.toLowerCase());
  const missing: string[] = [];
  let twice = columns.length > MAX_COLUMNS ? undefined : repeated(columns);
  for (const field of RECORD_KEYS) {
    const isExact = columns.includes(field);
    const called = [field, ...(OTHER_NAMES[field] ?? [])];
    const name = isExact ? field : called.find((one) => anyCase.includes(one));
    const among = isExact ? columns : anyCase;
    if (name !== undefined) {
      const index = among.indexOf(name);
      names[index] = field;
      if (among.includes(name, index + 1)) twice ??= field;
    } else if (REQUIRED.includes(field)) {
      missing.push(field);
    }
  }
  return { names, missing, twice };
}

function repeated(names: readonly string[]): string | undefined {
  const seen = new Set(['']);
  return names.find((name) => name !== '' && seen.size === seen.add(name).size);
}

/** Undefined where a quote stands inside a plain field, or text behind a quoted one. */
function splitFields(text: string, separator: string): string[] | undefined {
  const fields: string[] = [];
  for (let at = 0; ; at++) {
    let end: number;
    if (text[at] === '"') {
      end = endOfQuoted(text, at);
      if (end === 0 || (end < text.length && text[end] !== separator)) return undefined;
      fields.push(text.slice(at + 1, end - 1).replaceAll('""', '"'));
    } else {
      end = text.indexOf(separator, at);
      if (end === -1) end = text.length;
      const field = text.slice(at, end);
      if (field.includes('"')) return undefined;
      fields.push(field);
    }
    if (end === text.length) return fields;
    at = end;
  }
}

/** The end of the quoted field that begins at `from`; 0 where no quote closes it. */
function endOfQuoted(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at + 1;
}

/** pandas writes `7.0` in a column of whole numbers that has empty cells. */
const WHOLE_NUMBER = /^\d{1,16}(?:\.0)?$/;
const TRUE = /^(?:true|t|1)$/i;
const FALSE = /^(?:false|f|0)$/i;

/** The value of a field in the column `name`. What cannot be read stays text, for the validator. */
export function readCell(name: string, text: string): unknown {
  if (!isRecordKey(name) || FREE_TEXTS.has(name)) return text;
  const value = text.trim();
  switch (name) {
    case 'id':
    case 'created_by':
      return WHOLE_NUMBER.test(value) ? Number(value) : value;
    case 'is_processed':
      return TRUE.test(value) || (FALSE.test(value) ? false : value);
    case 'tags':
      return readTags(value);
    default:
      return value;
  }
}

/** A JSON array, an array as PostgreSQL exports it, or texts separated by semicolons. */
function readTags(text: string): unknown {
  if (text === '') return undefined;
  if (text.startsWith('[')) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  if (text.startsWith('{') && text.endsWith('}')) return readPostgresArray(text) ?? text;
  return text.split(';').map((tag) => tag.trim());
}

/** An item, quoted or not, with the comma or the end behind it. */
const ITEM = /\s*(?:"((?:[^"\\]|\\.)*)"|((?:[^\s",{}\\]|\\.)(?:[^",{}\\]|\\.)*))(,|$)/sy;

/** Undefined where the text is no array. */
function readPostgresArray(text: string): (string | null)[] | undefined {
  const inner = text.slice(1, -1);
  const items: (string | null)[] = [];
  ITEM.lastIndex = 0;
  for (let isOpen = inner !== ''; isOpen; ) {
    const [, quoted, plain = '', separator] = ITEM.exec(inner) ?? [];
    if (separator === undefined) return undefined;
    const item = (quoted ?? plain.trim()).replace(/\\(.)/gs, '$1');
    items.push(quoted === undefined && /^null$/i.test(plain.trim()) ? null : item);
    isOpen = separator === ',';
  }
  return items;
}
