import { isUtf8 } from 'node:buffer';
import { isRecordKey } from '../../model/point.js';
import { readCell } from './csv-cells.js';
import { type Header, MAX_COLUMNS, readHeader, splitFields } from './csv-header.js';
import { type Line, LineSplitter } from './lines.js';
import { BrokenRows, isBlank, NOT_UTF8, type Row, TOO_LONG } from './row.js';

/**
 * CSV with a header, separated by commas, semicolons or tabs; a quoted field may hold line ends. A
 * record whose quotes or number of fields are wrong is a problem of its own.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const lines = new LineSplitter();
  let header: Header | undefined;
  const read = (line: Line, rows: Row[]): void => {
    if (line.bytes !== undefined && isBlank(line.bytes)) return;
    if (header !== undefined) {
      rows.push(readRecord(line, header));
      return;
    }
    header = requireHeader(line);
    lines.separator = header.separator.charCodeAt(0);
  };
  for await (const chunk of chunks) {
    const rows: Row[] = [];
    lines.add(chunk);
    for (let line = lines.nextFilled(); line !== undefined; line = lines.nextFilled()) {
      read(line, rows);
    }
    yield rows;
  }
  const isQuoted = lines.isQuoted();
  const rows: Row[] = [];
  const last = lines.last();
  if (last !== undefined) {
    if (isQuoted) throw new BrokenRows(`line ${last.place}: a quote that opens is never closed`);
    read(last, rows);
  }
  yield rows;
}

function requireHeader({ place, bytes }: Line): Header {
  const header = bytes === undefined ? undefined : readHeader(bytes);
  if (header === undefined || header.missing.length > 0) {
    const lack = header === undefined ? '' : `, it lacks ${header.missing.join(', ')}`;
    throw new BrokenRows(`line ${place}: the header must name id, lat, lon, created_at${lack}`);
  }
  const { names, twice } = header;
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

function readRecord({ place, bytes }: Line, { separator, names }: Header): Row {
  if (bytes === undefined) return { place, problem: TOO_LONG };
  if (!isUtf8(bytes)) return problem(place, NOT_UTF8);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const fields = splitFields(text, separator);
  if (fields === undefined) {
    return problem(place, 'has a quote inside a field: quote the field and double the quote');
  }
  if (fields.length !== names.length) {
    return problem(place, `has ${fields.length} fields, the header has ${names.length}`);
  }
  const value: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    // of a column that records do not have only what is filled counts as dropped
    if (fields[i] !== '' || isRecordKey(name)) value[name] = readCell(name, fields[i]!);
  }
  return { place, value };
}

function problem(place: number, reason: string): Row {
  return { place, problem: { field: 'record', reason } };
}
