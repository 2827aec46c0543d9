import { parentPort, workerData } from 'node:worker_threads';
import { pack } from 'msgpackr';
import { PARSERS, type RowFormat } from '../../src/formats/rows/reader.js';
import { csv, feature } from './rows.js';

/** A file as its beginning, the part that is repeated, and its end. */
type Parts = readonly [start: string | Uint8Array, part: string | Uint8Array, end: string];

const RECORDS = Array.from({ length: 200 }, (_, id) => ({
  id,
  lat: '1',
  lon: '2',
  created_at: '2023-05-01T12:00Z',
  tags: ['a', 'ä'],
}));
const REPEATS = 500;

const lines = RECORDS.map((record) => JSON.stringify(record));
const features = RECORDS.map((record) => JSON.stringify(feature(record)));
const table = csv(RECORDS, ',').toString();
const headerEnd = table.indexOf('\n') + 1;
const maps = Buffer.concat(RECORDS.map((record) => pack(record)));

const FILES: Readonly<Record<string, Parts>> = {
  ndjson: ['', `${lines.join('\n')}\n`, ''],
  json: ['[', `${lines.join(',\n')},`, `${lines[0]}]`],
  'json envelope': ['{"results":[', `${lines.join(',')},`, `0],"more":[${lines[0]}]}`],
  'json with much beside its list': ['{"more":[', `${lines.join(',')},`, '0],"results":[]}'],
  geojson: ['{"features":[', `${features.join(',')},`, '0],"type":"FeatureCollection"}'],
  csv: [table.slice(0, headerEnd), table.slice(headerEnd), ''],
  msgpack: ['', maps, ''],
  'msgpack array': [Buffer.of(0xdd, 0, 1, 0x86, 0xa0), maps, ''],
};

async function* chunks([start, part, end]: Parts): AsyncGenerator<Uint8Array> {
  yield Buffer.from(start);
  const chunk = Buffer.from(part);
  for (let i = 0; i < REPEATS; i++) yield chunk;
  yield Buffer.from(end);
}

/** Parses a file of 100,000 records and counts the rows. */
async function drain(name: string): Promise<{ count: number; largestBatch: number }> {
  let count = 0;
  let largestBatch = 0;
  for await (const rows of PARSERS[name.split(' ')[0] as RowFormat](chunks(FILES[name]!))) {
    count += rows.length;
    largestBatch = Math.max(largestBatch, rows.length);
  }
  return { count, largestBatch };
}

parentPort!.postMessage(await drain(workerData));
