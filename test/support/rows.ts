import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pack } from 'msgpackr';
import * as assert from 'uvu/assert';
import type { PointBlock } from '../../src/formats/block.js';
import { openSnapshot } from '../../src/formats/files/open.js';
import { rendered } from '../../src/formats/record-layout.js';
import { BrokenRows, type Row, type RowParser } from '../../src/formats/rows/row.js';
import type { LoadReport, ReadOptions } from '../../src/formats/snapshot.js';
import { makeFolder } from './folder.js';
import { contentsOf } from './native.js';
import { FIXTURE_POINTS } from './service.js';
import { failure, refusal } from './uvu.js';

export type Fields = Record<string, unknown>;

/** The first records of `FIXTURE_POINTS`. */
export function fixtureRecords(count: number): Fields[] {
  const lines = readFileSync(FIXTURE_POINTS, 'utf8').split('\n').slice(0, count);
  return lines.map((line) => JSON.parse(line) as Fields);
}

/** Writers of records by kind of file. */
export const WRITERS: Readonly<Record<string, (records: readonly Fields[]) => Buffer>> = {
  ndjson: (records) => text(ndjson(...records)),
  'ndjson with CRLF, a BOM, blank lines, no line end': (records) =>
    text(`\ufeff\r\n${records.map((record) => JSON.stringify(record)).join('\r\n \r\n')}`),
  json: (records) => json(records),
  'json, a line each': (records) => text(`[${lineEach(records)}]`),
  'json, indented, with a BOM': (records) => text(`\ufeff${JSON.stringify(records, null, 2)}\n`),
  envelope: (results) => json({ count: results.length, next: null, previous: null, results }),
  'envelope, indented': (results) => json({ results, meta: { results: [1] } }, 2),
  geojson: (records) => json({ type: 'FeatureCollection', features: records.map(feature) }),
  'geojson, a line each': (records) =>
    text(`{"type":"FeatureCollection","features":[${lineEach(records.map(feature))}]}`),
  'geojson, its type last': (records) =>
    json({ features: records.map(feature), type: 'FeatureCollection' }, 1),
  csv: (records) => csv(records, ','),
  'csv with semicolons': (records) => csv(records, ';'),
  'csv with tabs': (records) => csv(records, '\t'),
  'csv with CRLF and a BOM': (records) => text(`\ufeff${csv(records, ',', '\r\n')}`),
  'msgpack sequence': (records) => Buffer.concat(records.map((record) => pack(record))),
  'msgpack array': (records) => pack(records),
};

export function ndjson(...records: unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function lineEach(records: readonly Fields[]): string {
  return records.map((record) => `\n${JSON.stringify(record)}`).join(',');
}

export function feature(record: Fields): Fields {
  const { lat, lon, ...properties } = record;
  const coordinates = [Number(lon), Number(lat)];
  return { type: 'Feature', geometry: { type: 'Point', coordinates }, properties };
}

/** CSV of records; tags are JSON. */
export function csv(records: readonly Fields[], separator: string, lineEnd = '\n'): Buffer {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const cell = (value: unknown): string => {
    const content = Array.isArray(value) ? JSON.stringify(value) : String(value ?? '');
    return /[",;\t\r\n]/.test(content) ? `"${content.replaceAll('"', '""')}"` : content;
  };
  const lines = records.map((record) => names.map((name) => cell(record[name])).join(separator));
  return text([names.join(separator), ...lines, ''].join(lineEnd));
}

export async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

/** The rows that a parser finds in a file that arrives in chunks of `size` bytes. */
export async function rowsOf(
  parser: RowParser,
  bytes: Uint8Array | string,
  size = 65_536,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of parser(chunked(Buffer.from(bytes), size))) rows.push(...batch);
  return rows;
}

/** A row's problem or its record. */
export function foundIn(row: Row): unknown {
  return row.problem ?? row.value;
}

/** The problem or record of each row of a file. */
export async function valuesOf(...given: Parameters<typeof rowsOf>): Promise<unknown[]> {
  return (await rowsOf(...given)).map(foundIn);
}

/** `place: field: reason` of each row with a problem, `place: ok` of others. */
export function outcomes(rows: readonly Row[]): string[] {
  return rows.map(({ place, problem }) =>
    problem === undefined ? `${place}: ok` : `${place}: ${problem.field}: ${problem.reason}`,
  );
}

export async function readAll(
  path: string,
  options: ReadOptions = {},
): Promise<{ blocks: PointBlock[]; report: LoadReport }> {
  const [blocks, report] = await contentsOf(await openSnapshot(path, options));
  return { blocks, report };
}

const FILE = join(makeFolder(), 'points');

export async function accept(
  content: string | Uint8Array,
  maxInvalid = 0,
): Promise<[Fields[], LoadReport]> {
  writeFileSync(FILE, content);
  const { blocks, report } = await readAll(FILE, { maxInvalid });
  return [recordsOf(blocks), report];
}

/** Why a file with this content cannot be read; its path is replaced by FILE. */
export async function refuse(content: string | Uint8Array, maxInvalid?: number): Promise<string> {
  return (await refusal(accept(content, maxInvalid))).replaceAll(FILE, 'FILE');
}

/** Why a parser finds a file broken; asserts that chunks of `size` bytes give the same reason. */
export async function brokenBy(
  parser: RowParser,
  content: string | Uint8Array,
  size: number,
): Promise<string> {
  const messages: string[] = [];
  for (const one of [1_000_000, size]) {
    const error = await failure(rowsOf(parser, content, one));
    assert.instance(error, BrokenRows, `${error} of ${String(content).slice(0, 50)}`);
    messages.push(error.message);
  }
  assert.is(messages[1], messages[0]);
  return messages[0]!;
}

export function textsOf({ records, length }: PointBlock): string[] {
  let end = 0;
  return Array.from(length, (size) => {
    end += size;
    return rendered(records.subarray(end - size, end)).toString();
  });
}

export function recordsOf(blocks: readonly PointBlock[]): Fields[] {
  return blocks.flatMap(textsOf).map((text) => JSON.parse(text) as Fields);
}

function json(value: unknown, indent?: number): Buffer {
  return text(JSON.stringify(value, null, indent));
}

function text(content: string): Buffer {
  return Buffer.from(content);
}
