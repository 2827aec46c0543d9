import type { SnapshotFormat } from '../snapshot.js';
import { type CsvHeader, cutCsv, readCsvRecord } from './csv.js';
import { cutJson, readJsonRecord } from './json.js';
import { cutLines, readLine } from './lines.js';
import { readMsgpack } from './msgpack.js';
import type { OnPage, RawRecord, Row, RowParser } from './row.js';

/** Formats whose files are read from front to back. */
export type RowFormat = Exclude<SnapshotFormat, 'native' | 'parquet'>;

/** What must be known of a file to read any of its records. Plain data: threads pass it on. */
export type Dialect =
  | { readonly kind: 'lines' }
  | { readonly kind: 'csv'; readonly header: CsvHeader }
  | { readonly kind: 'json'; readonly isFeatures: boolean };

/** Some records of a file, which may be read in any order. */
export interface Cut {
  readonly records: readonly RawRecord[];
  readonly dialect: Dialect;
}

/** Cuts the bytes of a file, gunzipped, into records. Throws as a {@link RowParser} does. */
export type Cutter = (chunks: AsyncIterable<Uint8Array>, onPage?: OnPage) => AsyncGenerator<Cut>;

const LINES: Dialect = { kind: 'lines' };

const ofLines: Cutter = async function* (chunks) {
  for await (const records of cutLines(chunks)) yield { records, dialect: LINES };
};

const ofCsv: Cutter = async function* (chunks) {
  for await (const { records, header } of cutCsv(chunks)) {
    if (header !== undefined) yield { records, dialect: { kind: 'csv', header } };
  }
};

const ofJson: Cutter = async function* (chunks, onPage) {
  for await (const { records, isFeatures } of cutJson(chunks, onPage)) {
    yield { records, dialect: { kind: 'json', isFeatures } };
  }
};

/** How files are cut whose records can be told apart without being read. */
export const CUTTERS: Readonly<Record<Exclude<RowFormat, 'msgpack'>, Cutter>> = {
  ndjson: ofLines,
  csv: ofCsv,
  json: ofJson,
  geojson: ofJson,
};

export const PARSERS: Readonly<Record<RowFormat, RowParser>> = {
  ndjson: parserOf(ofLines),
  csv: parserOf(ofCsv),
  json: parserOf(ofJson),
  geojson: parserOf(ofJson),
  msgpack: readMsgpack,
};

/** Reads a record; undefined where it is none, such as a blank line. Throws {@link BrokenRows}. */
export function readRecord(record: RawRecord, dialect: Dialect): Row | undefined {
  if (dialect.kind === 'lines') return readLine(record);
  if (dialect.kind === 'csv') return readCsvRecord(record, dialect.header);
  return readJsonRecord(record, dialect.isFeatures);
}

function parserOf(cut: Cutter): RowParser {
  return async function* (chunks, onPage) {
    for await (const { records, dialect } of cut(chunks, onPage)) {
      const rows: Row[] = [];
      for (const record of records) {
        const row = readRecord(record, dialect);
        if (row !== undefined) rows.push(row);
      }
      yield rows;
    }
  };
}
