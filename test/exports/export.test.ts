import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { decodeMulti } from '@msgpack/msgpack';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { Random } from '../../src/cli/generate/random.js';
import { EXPORT_FORMATS } from '../../src/http/request/addresses.js';
import { type Point, renderPoint } from '../../src/model/point.js';
import type { TimeOrdering } from '../../src/model/query.js';
import { deltaOf, engineOf, exportPieces, linesOf } from '../support/engine.js';
import { readByGdal, withoutGdal } from '../support/gdal.js';
import { type Note, pointOf, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { readAll, textsOf } from '../support/rows.js';
import { assert, IS_SOAK, makeFolder, pluck, test, testUnless } from '../support/uvu.js';

const SEED = 31;
/** Of the questions each list of points is asked, other ones each time. */
const EVERY = IS_SOAK ? 1 : 3;
const notes = scatterNotes(SEED, 1_200);
const texts = new Map(notes.map((note) => [note.id, renderPoint(pointOf(note))]));
const byId = (a: Note, b: Note): number => a.id - b.id;

const exported = async (...given: Parameters<typeof exportPieces>): Promise<Buffer> =>
  Buffer.concat(await exportPieces(...given));

/** Exports the matches of random questions, of notes and a delta, in pieces of any size. */
async function check(served: number, lengths: readonly number[]): Promise<void> {
  const random = new Random(SEED, 'point');
  const engine = await engineOf(notes.slice(0, served));
  const delta = deltaOf(notes.slice(served));
  for (const [turn, length] of lengths.entries()) {
    const oracle = new Oracle(notes.slice(0, served + length));
    for (let index = turn % EVERY; index < COMBINATIONS; index += EVERY) {
      const { filters, ordering: wanted } = randomQuestion(SEED + length, index, notes);
      const isOrdered = wanted !== 'distance' && wanted !== 'id';
      const ordering = isOrdered ? (wanted as TimeOrdering) : undefined;
      const bytes = 10 ** random.int(6);
      const query = { filters, ordering };
      const pieces = await exportPieces(engine, 'ndjson', { query, delta, length, bytes });
      const found = linesOf(Buffer.concat(pieces));
      const { notes: all } = oracle.find(filters, ordering ?? 'id');
      const expected = [...all].map(({ id }) => texts.get(id)!);
      const label = `${served} and ${length}, question ${index}: ${JSON.stringify(query)}`;
      if (!isOrdered) for (const list of [found, expected]) list.sort();
      assert.ok(found.join() === expected.join(), label);
      assert.ok(pieces.length <= Math.ceil(Buffer.concat(pieces).length / bytes) + 1, label);
    }
  }
}

test('an export has what a plain list finds, in its order, whatever is accepted besides', async () => {
  await check(900, [0, 1, 300]);
  await check(1, [1_199]);
  await check(0, [0, 700]);
});

test('accepted points with the same times as others stand among them by their ids', async () => {
  const some = Array.from({ length: 60 }, (_, i) => ({ id: i + 1, lon: 0, lat: 0 }));
  const tied = some.map((one) => ({ ...one, created: one.id % 3, modified: 7 }));
  const engine = await engineOf(tied.filter(({ id }) => id % 2 === 0));
  const delta = deltaOf(tied.filter(({ id }) => id % 2 === 1));
  const ids = async (ordering: TimeOrdering): Promise<number[]> => {
    const [piece] = await exportPieces(engine, 'ndjson', { query: { ordering }, delta });
    return linesOf(piece!).map((line) => JSON.parse(line).id);
  };
  const byCreation = [...tied].sort((a, b) => a.created - b.created || byId(a, b));
  assert.equal(await ids('created_at'), pluck(byCreation, 'id'));
  assert.equal(await ids('-created_at'), byCreation.map(({ id }) => id).reverse());
  assert.equal(await ids('modified_at'), pluck(tied, 'id'));
});

test('what is posted after an export began is not in it', async () => {
  const engine = await engineOf(notes.slice(0, 10));
  const delta = deltaOf(notes.slice(10, 20));
  const pieces = await exportPieces(engine, 'ndjson', { delta, length: 4, bytes: 1 });
  assert.is(pieces.length, 14);
});

const COMMENTS = [
  ...['', ' ', '"', '""', 'a"b', ',', ';', '\t', '\n', '\r\n', '\r', '\\', '\\"', '[]', '{}'],
  ...['=1+1', '\u2028', '\u0001', '\u007f', '\ufeff', 'ä', '😀', 'null', '1', ' x ', '\n"\n'],
  '"a","b"',
];
const odd = scatterNotes(5, 800).map((note, i) => {
  const comment = COMMENTS[i];
  return comment === undefined ? note : { ...note, comment };
});
const extremes = [
  { id: 1e6, lon: -1e-9, lat: -1e-9, created: 0, modified: 0, createdBy: 2 ** 53 - 1 },
  { id: 2 ** 53 - 3, lon: 1e-8, lat: -1e-8, created: -1, modified: 1, hasImage: true },
  { id: 2 ** 32, lon: -180, lat: 90, created: 1, modified: 1, createdBy: 0 },
];
const all = [...odd, ...extremes];
const engine = await engineOf(all.slice(0, 650));
const delta = deltaOf(all.slice(650));
const folder = makeFolder();
const original = all.map((note) => renderPoint(pointOf(note))).sort();

/** The records of an export, read from a file of its format. */
async function reread(name: string, bytes: Buffer): Promise<string[]> {
  const path = join(folder, `points.${name}`);
  writeFileSync(path, bytes);
  const { blocks, report } = await readAll(path);
  assert.equal(report.unknownKeys, {});
  return blocks.flatMap(textsOf).sort();
}

const one = { id: 1, lon: 0, lat: 0, created: 0, modified: 0, comment: 'a\ud83db' };
const lone = await engineOf([one]);
const nothing = await engineOf([]);

test('a compressed export is one stream of gzip, whatever its pieces', async () => {
  for (const bytes of [1, 10_000, 2 ** 20]) {
    const plain = await exported(engine, 'geojson', { bytes });
    const gzipped = await exported(engine, 'geojson', { bytes, isGzipped: true });
    assert.ok(gunzipSync(gzipped).equals(plain), `${bytes}`);
  }
  const none = await exported(nothing, 'ndjson', { isGzipped: true });
  assert.is(gunzipSync(none).length, 0);
});

for (const { name } of EXPORT_FORMATS) {
  test(`${name} loads again as it was, and of nothing is a whole file, too`, async () => {
    for (const bytes of [5_000, 2 ** 20]) {
      const records = await reread(name, await exported(engine, name, { delta, bytes }));
      const index = original.findIndex((text, i) => text !== records[i]);
      assert.is(records[index], original[index]);
      assert.is(records.length, original.length);
    }
    assert.is((await exportPieces(nothing, name)).length, 1);
    // a lone surrogate becomes a replacement character, except in JSON, which escapes it
    const [record] = await reread(name, await exported(lone, name));
    const isJson = name.includes('json');
    assert.is(JSON.parse(record!).comment, isJson ? one.comment : 'a\ufffdb');
  });
}

test('Parquet tells zeros of either sign apart, also where both are frequent', async () => {
  const zeros = Array.from({ length: 20 }, (_, i): Note => {
    return { id: i + 1, lon: 0, lat: i % 2 === 0 ? 0 : -1e-9, created: 0, modified: 0 };
  });
  const records = await reread('parquet', await exported(await engineOf(zeros), 'parquet'));
  assert.equal(records, zeros.map((note) => renderPoint(pointOf(note))).sort());
});

test('records have the keys that are asked for', async () => {
  const query = { keys: ['id', 'lat'] as const, ordering: 'created_at' as const };
  const [first] = linesOf(await exported(engine, 'ndjson', { query, delta }));
  assert.equal(Object.keys(JSON.parse(first!)), ['id', 'lat']);
  const [feature] = linesOf(await exported(engine, 'geojsonl', { query, delta }));
  assert.equal(JSON.parse(feature!).properties, { id: JSON.parse(first!).id });
});

const few = scatterNotes(41, 600);
const fewEngine = await engineOf(few);
const points: ReadonlyMap<number, Point> = new Map(few.map((one) => [one.id, pointOf(one)]));
const columnsOf = ['-oo', 'X_POSSIBLE_NAMES=lon', '-oo', 'Y_POSSIBLE_NAMES=lat'];
const missing = withoutGdal();
for (const [name, options] of [
  ['csv', [...columnsOf, '-s_srs', 'EPSG:4326']],
  ['geojson', []],
  ['geojsonl', []],
] as const) {
  testUnless(missing, `GDAL reads ${name}`, async () => {
    const path = join(folder, `points.${name}`);
    writeFileSync(path, await exported(fewEngine, name));
    const source = name === 'geojsonl' ? `GeoJSONSeq:${path}` : path;
    const features = await readByGdal(source, 'points', options);
    assert.is(features.length, few.length);
    for (const { id, geometry, properties } of features) {
      const point = points.get(Number(id ?? properties['id']))!;
      // GDAL writes -89.99999995 as -90
      const [lon, lat] = geometry.coordinates;
      assert.ok(Math.abs(lon - Number(point.lon)) + Math.abs(lat - Number(point.lat)) < 2e-7);
      assert.is(properties['comment'], point.comment);
    }
  });
}

/** Reads Parquet by a reader of version 1, which lacks a name and the width of booleans in runs. */
async function readByParquetjs(bytes: Buffer): Promise<Record<string, unknown>[]> {
  const require = createRequire(import.meta.url);
  const { ParquetEnvelopeReader, ParquetReader } = require('parquetjs-lite');
  const codecs = require('parquetjs-lite/lib/codec');
  const { RLE: runs, PLAIN_DICTIONARY: dictionary } = codecs;
  const decodeValues = (type: string, ...[cursor, count, options]: [unknown, number, object]) =>
    runs.decodeValues(type, cursor, count, type === 'BOOLEAN' ? { bitWidth: 1 } : options);
  Object.assign(codecs, { RLE_DICTIONARY: dictionary, RLE: { ...runs, decodeValues } });
  const envelope = await ParquetEnvelopeReader.openBuffer(bytes);
  const footer = await envelope.readFooter();
  const cursor = new ParquetReader({ ...footer, version: 1 }, envelope).getCursor();
  const rows: Record<string, unknown>[] = [];
  for (let row = await cursor.next(); row !== null; row = await cursor.next()) rows.push(row);
  return rows;
}

test('readers of others find in MessagePack and Parquet what NDJSON has', async () => {
  const lines = linesOf(await exported(engine, 'ndjson', { delta }));
  const records = lines.map((line) => JSON.parse(line));
  assert.equal([...decodeMulti(await exported(engine, 'msgpack', { delta }))], records);
  const rows = await readByParquetjs(await exported(engine, 'parquet', { delta, bytes: 50_000 }));
  assert.is(rows.length, records.length);
  for (const [i, { geometry, id, created_by: user, tags, ...row }] of rows.entries()) {
    const list = (tags as { list: { element: string }[] } | undefined)?.list;
    const { lat, lon, ...others } = records[i];
    const found: Record<string, unknown> = { ...row, id: Number(id) };
    if (user !== undefined) found['created_by'] = Number(user);
    if (list !== undefined) found['tags'] = pluck(list, 'element');
    assert.equal(found, { ...others, lat: Number(lat), lon: Number(lon) }, `row ${i}`);
    const place = geometry as Buffer;
    assert.equal([place.readDoubleLE(13), place.readDoubleLE(5)], [found['lat'], found['lon']]);
  }
});

test('Parquet has plain columns, and tells what GeoParquet wants', async () => {
  const bytes = await exported(fewEngine, 'parquet');
  const { buffer, byteOffset, length } = bytes;
  const whole = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
  const { key_value_metadata: metadata } = parquetMetadata(whole);
  const geo = JSON.parse(metadata!.find(({ key }) => key === 'geo')!.value!);
  const { geometry_types, bbox } = geo.columns.geometry;
  const lons = few.map(({ lon }) => lon);
  assert.equal([geo.primary_column, geometry_types], ['geometry', ['Point']]);
  assert.equal([bbox[0], bbox[2]], [Math.min(...lons), Math.max(...lons)]);
  for (const row of await parquetReadObjects({ file: whole, utf8: false })) {
    const { id, lat, lon, createdBy, tags, createdAt } = points.get(Number(row['id']))!;
    assert.equal([row['lat'], row['lon']], [Number(lat), Number(lon)], `${id}`);
    assert.equal(row['geometry'], { type: 'Point', coordinates: [Number(lon), Number(lat)] });
    assert.equal(row['tags'] ?? undefined, tags);
    const user = createdBy === undefined ? undefined : BigInt(createdBy);
    assert.is(row['created_by'] ?? undefined, user);
    assert.is(row['created_at'], createdAt.text);
  }
});

test.run();
