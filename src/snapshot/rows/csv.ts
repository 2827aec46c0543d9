import { isUtf8 } from 'node:buffer';
import { type Options, parse } from 'csv-parse/sync';
import { readCell } from './csv-cells.js';
import { type Line, LineSplitter } from './lines.js';
import { BrokenRows, isBlank, type Row, TOO_LONG } from './row.js';

const SEPARATORS = [',', ';', '\t'] as const;
const REQUIRED = ['id', 'lat', 'lon', 'created_at'] as const;

export interface Header {
  readonly separator: string;
  readonly names: readonly string[];
}

/**
 * CSV with a header, separated by commas, semicolons or tabs; a quoted field may hold line ends. A
 * record whose quotes or number of fields are wrong is a problem of its own.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const lines = new LineSplitter();
  let header: Header | undefined;
  const read = (line: Line, batch: Line[]): void => {
    if (line.bytes !== undefined && isBlank(line.bytes)) return;
    if (header !== undefined) {
      batch.push(line);
      return;
    }
    header = requireHeader(line);
    lines.separator = header.separator.charCodeAt(0);
  };
  for await (const chunk of chunks) {
    const batch: Line[] = [];
    lines.add(chunk);
    for (let line = lines.next(); line !== undefined; line = lines.next()) read(line, batch);
    yield header === undefined ? [] : readBatch(batch, header);
  }
  const isQuoted = lines.isQuoted();
  const batch: Line[] = [];
  const last = lines.last();
  if (last !== undefined) {
    if (isQuoted) throw new BrokenRows(`line ${last.place}: a quote that opens is never closed`);
    read(last, batch);
  }
  yield header === undefined ? [] : readBatch(batch, header);
}

/** Undefined when the line names not all required columns, whatever the separator. */
export function readHeader(line: Uint8Array): Header | undefined {
  if (!isUtf8(line)) return undefined;
  for (const separator of SEPARATORS) {
    const names = parseRecords([line], separator)?.[0]?.map((name) => name.trim()) ?? [];
    if (REQUIRED.every((name) => names.includes(name))) return { separator, names };
  }
  return undefined;
}

function requireHeader({ place, bytes }: Line): Header {
  const header = bytes === undefined ? undefined : readHeader(bytes);
  if (header === undefined) {
    throw new BrokenRows(`line ${place}: the header must name ${REQUIRED.join(', ')}`);
  }
  const twice = header.names.find((name, index) => header.names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new BrokenRows(`line ${place}: the header names ${JSON.stringify(twice)} twice`);
  }
  return header;
}

function readBatch(lines: readonly Line[], header: Header): Row[] {
  const sound = lines.flatMap(({ bytes }) => (bytes !== undefined && isUtf8(bytes) ? bytes : []));
  const records = parseRecords(sound, header.separator);
  let next = 0;
  return lines.map(({ place, bytes }) => {
    if (bytes === undefined) return { place, problem: TOO_LONG };
    if (!isUtf8(bytes)) return problem(place, 'is not valid UTF-8');
    // where the batch could not be parsed as one, each record shows whether it is to blame
    const fields = records?.[next++] ?? parseRecords([bytes], header.separator)?.[0];
    if (fields === undefined) {
      return problem(place, 'has a quote inside a field: quote the field and double the quote');
    }
    return readRecord(place, fields, header.names);
  });
}

function readRecord(place: number, fields: readonly string[], names: readonly string[]): Row {
  if (fields.length !== names.length) {
    return problem(place, `has ${fields.length} fields, the header has ${names.length}`);
  }
  const value: Record<string, unknown> = {};
  for (const [index, name] of names.entries()) value[name] = readCell(name, fields[index]!);
  return { place, value };
}

/** The fields of each record; undefined if any record is broken. */
function parseRecords(records: readonly Uint8Array[], delimiter: string): string[][] | undefined {
  const options: Options = {
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    // lines are bounded already
    max_record_size: 0,
  };
  const lineEnd = Buffer.from('\n');
  try {
    const parsed = parse(Buffer.concat(records.flatMap((bytes) => [bytes, lineEnd])), options);
    return parsed.length === records.length ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function problem(place: number, reason: string): Row {
  return { place, problem: { field: 'record', reason } };
}
