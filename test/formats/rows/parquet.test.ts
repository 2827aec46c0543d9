import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openSnapshot } from '../../../src/formats/files/open.js';
import { renderPoint } from '../../../src/model/point.js';
import { contentsOf, point } from '../../support/native.js';
import { column, type ParquetShape, parquetOf, wkb } from '../../support/parquet.js';
import { accept, type Fields, fixtureRecords, recordsOf, refuse } from '../../support/rows.js';
import { ROOT } from '../../support/service.js';
import { assert, IS_SOAK, makeFile, pluck, test } from '../../support/uvu.js';

const FIXTURES = join(ROOT, 'test/fixtures/parquet');

const RECORDS: readonly Fields[] = [
  ...fixtureRecords(350),
  { id: 2 ** 53 - 1, comment: '"é\u2028\n', lat: '-90.00000000', lon: '180.00000000' },
].map((one) => {
  const created_at = '2023-05-01T12:00:00.000001+00:00';
  return JSON.parse(renderPoint(point({ created_at, ...one }))) as Fields;
});

async function read(bytes: Uint8Array): Promise<{ records: Fields[]; report: unknown }> {
  const [records, report] = await accept(bytes);
  assert.is(report.format, 'parquet');
  return { records, report };
}

const SHAPES: Readonly<Record<string, ParquetShape>> = {
  'one row group': {},
  'many row groups and small pages': { rowGroupSize: 150, pageSize: 2_000 },
  gzip: { codec: 'GZIP', rowGroupSize: 350 },
  zstd: { codec: 'ZSTD' },
  brotli: { codec: 'BROTLI' },
  'not compressed': { codec: 'UNCOMPRESSED', pageSize: 500 },
  'a geometry for the place': { place: 'geometry' },
  'a geometry beside the place': { place: 'both' },
};

for (const [name, shape] of Object.entries(SHAPES)) {
  test(`${name}: the same records`, async () => {
    assert.equal((await read(parquetOf(RECORDS, shape))).records, RECORDS);
  });
}

test('records are counted through row groups of any size', async () => {
  const records: Fields[] = fixtureRecords(330).map((record, i) => {
    const others = [{}, { lat: '100' }, { created_at: '2024-05-01T12:00:00' }][i % 3];
    return { ...record, ...others };
  });
  const ids = pluck(records, 'id').filter((_, i) => i % 3 !== 1);
  const ofInvalid = Array.from({ length: 10 }, (_, i) => `record ${3 * i + 2}`);
  for (const rowGroupSize of [4, 40, 1_000]) {
    const [found, report] = await accept(parquetOf(records, { rowGroupSize }), 110);
    assert.equal(pluck(found, 'id'), ids);
    const { points, invalid, localTimes, problems } = report;
    assert.equal([points, invalid, localTimes], [220, 110, { count: 110, zone: 'UTC' }]);
    const places = problems.map((text) => text.split(':', 1)[0]);
    assert.equal(places, ofInvalid);
  }
});

test('a damaged row group breaks a file, and the file is named', async () => {
  const bytes = parquetOf(RECORDS, { rowGroupSize: 40 });
  const middle = bytes.length >> 1;
  bytes.fill(0xff, middle, middle + 200);
  assert.match(await refuse(bytes), /^FILE: row group \d, column/);
});

test('the file that was opened is read, whatever has its name by then', async () => {
  const [old, young] = [RECORDS.slice(0, 200), RECORDS.slice(200)];
  const path = makeFile(parquetOf(old, { rowGroupSize: 40 }));
  const reader = await openSnapshot(path, {});
  renameSync(makeFile(parquetOf(young, { rowGroupSize: 40 })), path);
  const [blocks] = await contentsOf(reader);
  assert.equal(recordsOf(blocks), old);
});

// written by DuckDB 1.5 (`copy … to … (format parquet, …)`) and parquet-wasm of the first records,
// and by pyarrow of none of them, which has a row group without rows all the same
test('files as others write them have the same records', async () => {
  const plain = (record: Fields): Fields => {
    const times = ['created_at', 'modified_at'].map((key) => `${record[key]}`);
    const instants = times.map((text) => [Date.parse(text), text.slice(19, 26)]);
    return { ...record, created_at: instants[0], modified_at: instants[1] };
  };
  for (const name of readdirSync(FIXTURES)) {
    const { records } = await read(readFileSync(join(FIXTURES, name)));
    const expected = name.startsWith('none') ? [] : RECORDS.slice(0, 60);
    assert.equal(records.map(plain), expected.map(plain), name);
  }
});

test('columns of other types and names are read as what they mean', async () => {
  const micros = 1_682_942_400_000_001n;
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
  const millis = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' } as const;
  const others = {
    modified_at: column({ name: 'modified_at', ...millis }, () => new Date(1_700_000_000_123)),
    lat: column({ name: 'Latitude', type: 'FLOAT' }, () => 1.5),
    lon: column({ name: 'lng', ...text }, () => '2.25'),
    tags: column({ name: 'tags', ...text }, () => '["a","b;c"]'),
    created_by: column({ name: 'created_by', type: 'INT32' }, () => 7),
    weather: column({ name: 'weather', type: 'INT32' }, () => 1),
  };
  for (const form of ['MICROS', 'MICROS local', 'NANOS', 'NANOS local']) {
    const unit = form.startsWith('MICROS') ? 'MICROS' : 'NANOS';
    const isAdjustedToUTC = !form.endsWith('local');
    const logical_type = { type: 'TIMESTAMP', isAdjustedToUTC, unit } as const;
    const created_at = column({ name: 'Created_At', type: 'INT64', logical_type }, () =>
      unit === 'MICROS' ? micros : micros * 1000n + 999n,
    );
    const bytes = parquetOf(RECORDS.slice(0, 2), { others: { ...others, created_at } });
    const { records, report } = await read(bytes);
    const { lat, lon, created_by, tags, created_at: created, modified_at } = records[0]!;
    assert.equal([lat, lon, created_by, tags], ['1.50000000', '2.25000000', 7, ['a', 'b;c']]);
    assert.is(created, '2023-05-01T12:00:00.000001+00:00');
    assert.is(modified_at, '2023-11-14T22:13:20.123000+00:00');
    const { unknownKeys, localTimes } = report as Fields;
    assert.equal(unknownKeys, { weather: 2 });
    assert.equal(localTimes, isAdjustedToUTC ? undefined : { count: 2, zone: 'UTC' });
  }
});

test('lists of every form are tags, and absent ones none', async () => {
  const lists = [['a', 'b'], [], undefined, ['c'], Array.from({ length: 50 }, (_, i) => `t${i}`)];
  const required = {
    schema: [
      { name: 'tags', num_children: 1, converted_type: 'LIST', repetition_type: 'REQUIRED' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    ],
    value: (_: unknown, row: number) => lists[row] ?? [],
  } as const;
  const records = RECORDS.slice(0, lists.length);
  const expected = lists.map((list) => (list?.length === 0 ? undefined : list));
  const optional = records.map((one, row) => ({ ...one, tags: lists[row] }));
  for (const bytes of [
    parquetOf(records, { others: { tags: required } }),
    parquetOf(optional),
    parquetOf(optional, { pageSize: 20 }),
  ]) {
    const { records: found } = await read(bytes);
    assert.equal(pluck(found, 'tags'), expected);
  }
});

test('what is wrong in a value is told by its record, what is wrong in a column by its name', async () => {
  const some = RECORDS.slice(0, 3);
  const comment = column({ name: 'comment', type: 'BYTE_ARRAY' }, (_, row) =>
    row === 1 ? Buffer.of(0xff) : Buffer.from('fine'),
  );
  const id = column({ name: 'id', type: 'INT64' }, (_, row) => 2n ** 53n + BigInt(row));
  const geometry = column({ name: 'geometry', type: 'BYTE_ARRAY' }, () => Buffer.of(1, 2, 0, 0, 0));
  const ofSrid = Buffer.concat([Buffer.from('0101000020fb0b0000', 'hex'), wkb(2, 1).subarray(5)]);
  const far = column({ name: 'geometry', type: 'BYTE_ARRAY' }, () => ofSrid);
  const crsOf = (authority: string, code: unknown) => ({ id: { authority, code } });
  const isGeometry = { place: 'geometry' } as const;
  const cases: [shape: ParquetShape, reason: RegExp][] = [
    [
      { others: { comment } },
      /FILE: 1 of 3 records are invalid.*\n {2}FILE: record 2: comment: is not valid UTF-8/,
    ],
    [
      { others: { id } },
      /record 1: id: must be a whole number from 1 to 2\^53 - 1, got "9007199254740992"/,
    ],
    [
      { ...isGeometry, others: { geometry } },
      /record 1: geometry: must be a point, got WKB of type 2/,
    ],
    [
      { ...isGeometry, others: { geometry: far } },
      /record 1: geometry: must be of CRS84 or EPSG:4326, got the SRID 3067/,
    ],
    [{ without: ['lat', 'created_at'] }, /^FILE: must have columns .* it lacks lat, created_at$/],
    [
      { ...isGeometry, crs: crsOf('EPSG', 3857) },
      /^FILE: its column "geometry" must be CRS84 or EPSG:4326, got "EPSG:3857"/,
    ],
  ];
  for (const [shape, reason] of cases) assert.match(await refuse(parquetOf(some, shape)), reason);
  const why = /a Parquet file cannot be read while .* gz/;
  assert.match(await refuse(gzipSync(parquetOf(some))), why);
  const good = parquetOf(some, { place: 'geometry', crs: crsOf('OGC', 'CRS84') });
  assert.equal((await read(good)).records, some);
});

test('points of three dimensions and of both byte orders are read', async () => {
  const forms = [
    wkb(2, 1),
    Buffer.concat([Buffer.from('01e9030000', 'hex'), wkb(2, 1).subarray(5), Buffer.alloc(8)]),
    Buffer.concat([Buffer.from('0101000020e6100000', 'hex'), wkb(2, 1).subarray(5)]),
    Buffer.from('000000000140000000000000003ff0000000000000', 'hex'),
  ];
  const geometry = column({ name: 'geometry', type: 'BYTE_ARRAY' }, (_, row) => forms[row]);
  const { records } = await read(
    parquetOf(RECORDS.slice(0, forms.length), { place: 'geometry', others: { geometry } }),
  );
  for (const { lat, lon } of records) assert.equal([lat, lon], ['1.00000000', '2.00000000']);
});

test('every part of a small file is refused, and says what is missing', async () => {
  const without = ['status', 'comment', 'image', 'created_by', 'modified_at'];
  const bytes = parquetOf(RECORDS.slice(0, 2), { without, rowGroupSize: 1 });
  assert.is((await read(bytes)).records.length, 2);
  // the end of the file is looked at first, whatever stands before it
  for (let size = 4; size < bytes.length; size += IS_SOAK || bytes.length - size < 64 ? 1 : 29) {
    assert.match(await refuse(bytes.subarray(0, size)), /^FILE: does not end with PAR1/);
  }
});

test.run();
