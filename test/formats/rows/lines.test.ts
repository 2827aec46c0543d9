import fc from 'fast-check';
import { Packr, pack } from 'msgpackr';
import { LineSplitter } from '../../../src/formats/rows/lines.js';
import { PARSERS } from '../../../src/formats/rows/reader.js';
import { MAX_RAW_BYTES, type RowParser } from '../../../src/formats/rows/row.js';
import { readPoint } from '../../../src/model/point.js';
import { forAll } from '../../support/properties.js';
import { chunked, type Fields, feature, foundIn, outcomes, rowsOf } from '../../support/rows.js';
import { assert, test } from '../../support/uvu.js';

test('a line that is no JSON, too long or no UTF-8 is a problem of its own', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"a":1}\n{"a":\n\n[1]\r\n'),
    Buffer.from('{"a":"\xe9"}\n', 'latin1'),
    Buffer.from(`"${'x'.repeat(MAX_RAW_BYTES - 2)}"\n"${'x'.repeat(MAX_RAW_BYTES - 1)}"\n`),
    Buffer.from('  \t\r\n{"a":2}'),
  ]);
  for (const size of [1_000_000, 65_536, 4096]) {
    const rows = await rowsOf(PARSERS.ndjson, bytes, size);
    assert.equal(outcomes(rows), [
      ...['1: ok', '2: record: is not valid JSON: Unexpected end of JSON input', '4: ok'],
      ...['5: record: is not valid UTF-8; save the file as UTF-8', '6: ok'],
      `7: record: is longer than ${MAX_RAW_BYTES} bytes`,
      '9: ok',
    ]);
    assert.equal(foundIn(rows[0]!), { a: 1 });
  }
});

test('an overlong last line is reported, and one nested as deep as it can be breaks nothing', async () => {
  const rows = await rowsOf(PARSERS.ndjson, `1\n${'x'.repeat(MAX_RAW_BYTES + 1)}`);
  assert.equal(outcomes(rows), ['1: ok', `2: record: is longer than ${MAX_RAW_BYTES} bytes`]);
  const depth = MAX_RAW_BYTES / 2 - 1;
  const deep = await rowsOf(PARSERS.ndjson, `${'['.repeat(depth)}${']'.repeat(depth)}\n1`);
  assert.is(deep.length, 2);
});

test('a GeoJSON text sequence is read, as are features a line', async () => {
  const record = (id: number): Fields => ({ id, lat: 1, lon: 2 });
  const one = JSON.stringify(feature(record(1)));
  const two = JSON.stringify(feature(record(2)), null, 2);
  const sequence = `\x1e${one}\n\x1e\n\x1e${two}\n\x1e{"x":\n`;
  for (const size of [1_000_000, 1, 7]) {
    const rows = await rowsOf(PARSERS.ndjson, sequence, size);
    const unfinished = '16: record: is not valid JSON: Unexpected end of JSON input';
    assert.equal(outcomes(rows), ['1: ok', '3: ok', unfinished]);
    assert.equal(rows.slice(0, 2).map(foundIn), [record(1), record(2)]);
    const marked = await rowsOf(PARSERS.ndjson, `\ufeff\n ${sequence}`, size);
    assert.equal(outcomes(marked), ['2: ok', '4: ok', unfinished.replace('16', '17')]);
  }
  const mixed = `${one}\n{"type":"Feature","geometry":1}\n{"type":"Feature","id":5}\n`;
  const rows = await rowsOf(PARSERS.ndjson, `${mixed}{"type":"Feature","geometry":1,"lat":3}`);
  const none = '2: geometry: must be a Point, got none';
  assert.equal(outcomes(rows), ['1: ok', none, '3: ok', '4: ok']);
});

test('blank lines count, and are no records', async () => {
  for (const blank of ['\n', '\r\n', ' \t\n', '\v\f\n']) {
    for (const size of [1, 3, 1000]) {
      const content = `${blank.repeat(20)} 5\n${blank.repeat(3)}6`;
      const rows = await rowsOf(PARSERS.ndjson, content, size);
      const found = rows.map((row) => `${row.place}: ${foundIn(row)}`);
      assert.equal(found, ['21: 5', '25: 6']);
    }
  }
});

test('lines are the same however the bytes come', () => {
  const bytes = fc.array(fc.constantFrom(...Buffer.from('ab,\n\r"')), { maxLength: 60 });
  forAll(3000, [bytes, fc.integer({ min: 1, max: 9 }), fc.boolean()], (content, size, quotes) => {
    const whole = split(Buffer.from(content), 100, quotes);
    assert.equal(split(Buffer.from(content), size, quotes), whole);
    if (quotes) return;
    const lines = Buffer.from(content).toString().split('\n');
    if (lines.at(-1) === '') lines.pop();
    const plain = lines.map((line, index) => [index + 1, line.replace(/\r$/, '')]);
    assert.equal(whole, plain);
  });
});

test('quoted line ends end no record, but count', () => {
  const content = '1,"a\nb"\n2,"a""\n""b",c\n3,a"b\n4,"a"b\n5,"",""\n6,"open\n7\n';
  assert.equal(split(Buffer.from(content), 100, true), [
    [1, '1,"a\nb"'],
    [3, '2,"a""\n""b",c'],
    [5, '3,a"b'],
    [6, '4,"a"b'],
    [7, '5,"",""'],
    [8, '6,"open\n7\n'],
  ]);
});

/** Place and text of every line. */
function split(bytes: Buffer, size: number, quotes: boolean): [number, string][] {
  const splitter = new LineSplitter();
  if (quotes) splitter.separator = ','.charCodeAt(0);
  const lines: [number, string][] = [];
  const push = (line = splitter.next()): boolean => {
    if (line === undefined) return false;
    lines.push([line.place, Buffer.from(line.bytes!).toString()]);
    return true;
  };
  for (let from = 0; from < bytes.length; from += size) {
    splitter.add(bytes.subarray(from, from + size));
    while (push());
  }
  push(splitter.last());
  return lines;
}

/** A large input has so many times the bytes of a small one; linear work grows as much. */
const TIMES = 8;
const SMALL_BYTES = 50_000;
const MOST = 3 * TIMES;
/** Microseconds of CPU time below which the clock and the garbage collector decide. */
const LEAST_MICROS = 2000;

type Shape = (size: number) => string | Buffer;

const CSV = 'id,lat,lon,created_at,tags\n';
const JSON_POINT =
  '{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":';
const packr = new Packr({ useRecords: false, variableMapSize: true });

const csv = (rest: (size: number) => string) => (size: number) => `${CSV}1,2,3,now,${rest(size)}\n`;

/** Inputs with something that grows with their size and could be slow to read. */
const SHAPES: Readonly<Record<keyof typeof PARSERS, Record<string, Shape>>> = {
  csv: {
    'a tag of spaces': csv((size) => `"{a,${' '.repeat(size)}{}"`),
    'a tag of backslashes': csv((size) => `"{${'\\'.repeat(size)}}"`),
    'a quoted tag that is never closed': csv((size) => `"{""${'a'.repeat(size)}}"`),
    'many tags': csv((size) => `"${'a;'.repeat(size / 2)}"`),
    'many names': (size) => `${CSV.trim()},${commas(size / 8, (i) => `c${i}`)}\n`,
    'many lines that are broken': (size) => CSV + '1,"a"b\n'.repeat(size / 8),
  },
  ndjson: {
    'blank lines': (size) => '\r\n'.repeat(size),
    separators: (size) => '\x1e\n'.repeat(size),
    'many keys': (size) => `{${keys(size / 12)}}\n`,
    nesting: (size) => `{"id":${'['.repeat(size)}${']'.repeat(size)}}\n`,
    'long numbers': (size) =>
      `{"id":1,"lat":"${'0'.repeat(size)}x","lon":"1.${'9'.repeat(size)}"}\n`,
  },
  json: {
    'small records': (size) => `[${'{},'.repeat(size / 8)}1]`,
    'a long text': (size) => `[{"comment":"${'x'.repeat(size)}"}]`,
    backslashes: (size) => `[{"comment":"${'\\\\'.repeat(size)}"}]`,
    'a fault at the end': (size) => `[{"comment":"${'\\"'.repeat(size)}",}]`,
    'white space': (size) => `[1,${' '.repeat(size)}1]`,
  },
  geojson: {
    'many properties': (size) =>
      `{"type":"FeatureCollection","features":[${JSON_POINT}{${keys(size / 12)}}}]}`,
  },
  msgpack: {
    'small values': (size) => Buffer.alloc(size / 4, 0x80),
    'many keys': (size) => packr.pack(JSON.parse(`{${keys(size / 12)}}`)),
    'a text that is no UTF-8': (size) =>
      Buffer.concat([pack('x'.repeat(size)).subarray(0, 5), Buffer.alloc(size, 0xe9)]),
    'records that define their keys': (size) =>
      Buffer.concat(
        Array.from({ length: size / 50 }, (_, i) => new Packr().pack({ [`k${i}`]: 1 })),
      ),
  },
};

for (const [format, shapes] of Object.entries(SHAPES)) {
  test(`${format}: ${TIMES} times the input is no more than ${MOST} times the work`, async () => {
    const parser = PARSERS[format as keyof typeof PARSERS];
    for (const [name, make] of Object.entries(shapes)) {
      const [small, large] = [1, TIMES].map((times) => Buffer.from(make(SMALL_BYTES * times)));
      // the first run compiles
      await cost(parser, small!);
      let ratio = Number.POSITIVE_INFINITY;
      for (let run = 0; run < 3 && ratio > MOST; run++) {
        const least = Math.max(await cost(parser, small!), LEAST_MICROS);
        ratio = Math.min(ratio, (await cost(parser, large!)) / least);
      }
      assert.ok(ratio <= MOST, `${name}: ${ratio.toFixed(1)} times the work`);
    }
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

function commas(count: number, make: (i: number) => string): string {
  return Array.from({ length: Math.floor(count) }, (_, i) => make(i)).join(',');
}

function keys(count: number): string {
  return commas(count, (i) => `"k${i}":1`);
}

test.run();
