import { Packr, pack } from 'msgpackr';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readMsgpack } from '../../../src/formats/rows/msgpack.js';
import { PARSERS } from '../../../src/formats/rows/reader.js';
import type { RowParser } from '../../../src/formats/rows/row.js';
import { readPoint } from '../../../src/model/point.js';
import { chunked } from '../../support/rows.js';

/**
 * Inputs of one size and of so many times that size; linear work grows as much, quadratic work by
 * its square.
 */
const TIMES = 8;
const MOST = 3 * TIMES;
/**
 * Below that processor time, in microseconds, the clock and the garbage collector say more than the
 * parser.
 */
const LEAST_MICROS = 2000;

const CSV = 'id,lat,lon,created_at,tags\n';
const JSON_POINT =
  '{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":';
const packr = new Packr({ useRecords: false, variableMapSize: true });

/** Inputs that are slow to read, by something that grows with their size. */
const SHAPES: Readonly<Record<string, readonly [RowParser, (size: number) => string | Buffer]>> = {
  'CSV: a tag of spaces': [PARSERS.csv, (size) => `${CSV}1,2,3,now,"{a,${' '.repeat(size)}{}"\n`],
  'CSV: a tag of backslashes': [
    PARSERS.csv,
    (size) => `${CSV}1,2,3,now,"{${'\\'.repeat(size)}}"\n`,
  ],
  'CSV: a quoted tag that is never closed': [
    PARSERS.csv,
    (size) => `${CSV}1,2,3,now,"{""${'a'.repeat(size)}}"\n`,
  ],
  'CSV: many tags': [PARSERS.csv, (size) => `${CSV}1,2,3,now,"${'a;'.repeat(size / 2)}"\n`],
  'CSV: many names': [PARSERS.csv, (size) => `${CSV.trim()},${commas('c', size / 8)}\n`],
  'CSV: many lines that are broken': [PARSERS.csv, (size) => CSV + '1,"a"b\n'.repeat(size / 8)],
  'NDJSON: blank lines': [PARSERS.ndjson, (size) => '\r\n'.repeat(size)],
  'NDJSON: separators': [PARSERS.ndjson, (size) => '\x1e\n'.repeat(size)],
  'NDJSON: many keys': [PARSERS.ndjson, (size) => `{${keys(size / 12)}}\n`],
  'NDJSON: nesting': [PARSERS.ndjson, (size) => `{"id":${'['.repeat(size)}${']'.repeat(size)}}\n`],
  'NDJSON: long numbers': [
    PARSERS.ndjson,
    (size) => `{"id":1,"lat":"${'0'.repeat(size)}x","lon":"1.${'9'.repeat(size)}"}\n`,
  ],
  'JSON: small records': [PARSERS.json, (size) => `[${'{},'.repeat(size / 8)}1]`],
  'JSON: a long text': [PARSERS.json, (size) => `[{"comment":"${'x'.repeat(size)}"}]`],
  'JSON: backslashes': [PARSERS.json, (size) => `[{"comment":"${'\\\\'.repeat(size)}"}]`],
  'JSON: a fault at the end': [PARSERS.json, (size) => `[{"comment":"${'\\"'.repeat(size)}",}]`],
  'JSON: white space': [PARSERS.json, (size) => `[1,${' '.repeat(size)}1]`],
  'GeoJSON: many properties': [
    PARSERS.json,
    (size) => `{"type":"FeatureCollection","features":[${JSON_POINT}{${keys(size / 12)}}}]}`,
  ],
  'MessagePack: small values': [readMsgpack, (size) => Buffer.alloc(size / 4, 0x80)],
  'MessagePack: many keys': [readMsgpack, (size) => packr.pack(JSON.parse(`{${keys(size / 12)}}`))],
  'MessagePack: a text that is no UTF-8': [
    readMsgpack,
    (size) => Buffer.concat([pack('x'.repeat(size)).subarray(0, 5), Buffer.alloc(size, 0xe9)]),
  ],
  'MessagePack: records that define their keys': [
    readMsgpack,
    (size) =>
      Buffer.concat(
        Array.from({ length: size / 50 }, (_, i) => new Packr().pack({ [`k${i}`]: 1 })),
      ),
  ],
};

for (const [name, [parser, make]] of Object.entries(SHAPES)) {
  test(`${name}: ${TIMES} times the input is no more than ${MOST} times the work`, async () => {
    const small = Buffer.from(make(100_000));
    const large = Buffer.from(make(100_000 * TIMES));
    // the first run compiles
    await cost(parser, small);
    let ratio = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 3 && ratio > MOST; run++) {
      const least = Math.max(await cost(parser, small), LEAST_MICROS);
      ratio = Math.min(ratio, (await cost(parser, large)) / least);
    }
    assert.ok(ratio <= MOST, `${ratio.toFixed(1)} times the work`);
  });
}

/** Microseconds of processor time to read and check all there is, or as far as it can be read. */
async function cost(parser: RowParser, bytes: Uint8Array): Promise<number> {
  const before = process.cpuUsage();
  try {
    for await (const rows of parser(chunked(bytes, 262_144))) {
      for (const row of rows) if (row.problem === undefined) readPoint(row.value, () => {});
    }
  } catch (error) {
    assert.is((error as Error).name, 'BrokenRows', String(error));
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function commas(prefix: string, count: number): string {
  return Array.from({ length: Math.floor(count) }, (_, i) => prefix + i).join(',');
}

function keys(count: number): string {
  return Array.from({ length: Math.floor(count) }, (_, i) => `"k${i}":1`).join(',');
}

test.run();
