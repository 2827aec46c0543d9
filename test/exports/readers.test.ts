import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { Unpackr } from 'msgpackr';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Point, renderPoint } from '../../src/model/point.js';
import { engineOf } from '../support/engine.js';
import { exportPieces } from '../support/exporting.js';
import { makeFolder } from '../support/folder.js';
import { readByGdal, withoutGdal } from '../support/gdal.js';
import { pointOf, scatterNotes } from '../support/notes.js';
import { testUnless } from '../support/skip.js';

const notes = scatterNotes(41, 600);
const engine = await engineOf(notes);
const points: ReadonlyMap<number, Point> = new Map(notes.map((one) => [one.id, pointOf(one)]));
const folder = makeFolder();

/** An export as a file. */
async function file(name: string): Promise<string> {
  const path = join(folder, `points.${name}`);
  writeFileSync(path, Buffer.concat(await exportPieces(engine, name)));
  return path;
}

const places = ['-oo', 'X_POSSIBLE_NAMES=lon', '-oo', 'Y_POSSIBLE_NAMES=lat'];
const missing = withoutGdal();
for (const [name, options] of [
  ['csv', [...places, '-s_srs', 'EPSG:4326']],
  ['geojson', []],
  ['geojsonl', []],
] as const) {
  testUnless(missing, `GDAL reads ${name}`, async () => {
    const path = await file(name);
    const source = name === 'geojsonl' ? `GeoJSONSeq:${path}` : path;
    const features = await readByGdal(source, 'points', options);
    assert.is(features.length, notes.length);
    for (const { id, geometry, properties } of features) {
      const point = points.get(Number(id ?? properties['id']))!;
      // GDAL writes -89.99999995 as -90
      const [lon, lat] = geometry.coordinates;
      assert.ok(Math.abs(lon - Number(point.lon)) + Math.abs(lat - Number(point.lat)) < 2e-7);
      assert.is(properties['comment'], point.comment);
    }
  });
}

test('MessagePack is maps, one behind the other', async () => {
  const unpackr = new Unpackr({ int64AsType: 'number', mapsAsObjects: true });
  const records = unpackr.unpackMultiple(Buffer.concat(await exportPieces(engine, 'msgpack')));
  const found = (records as object[]).map((record) => JSON.stringify(record)).sort();
  assert.equal(found, [...points.values()].map(renderPoint).sort());
});

test('Parquet has plain columns, and tells what GeoParquet wants', async () => {
  const bytes = Buffer.concat(await exportPieces(engine, 'parquet'));
  const { buffer, byteOffset, length } = bytes;
  const whole = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
  const { key_value_metadata: metadata } = parquetMetadata(whole);
  const { primary_column, columns } = JSON.parse(
    metadata!.find(({ key }) => key === 'geo')!.value!,
  );
  const lons = notes.map(({ lon }) => lon);
  assert.is(primary_column, 'geometry');
  assert.equal(columns.geometry.geometry_types, ['Point']);
  assert.equal(
    [columns.geometry.bbox[0], columns.geometry.bbox[2]],
    [Math.min(...lons), Math.max(...lons)],
  );
  for (const row of await parquetReadObjects({ file: whole, utf8: false })) {
    const { id, lat, lon, createdBy, tags, createdAt } = points.get(Number(row['id']))!;
    assert.equal([row['lat'], row['lon']], [Number(lat), Number(lon)], `${id}`);
    assert.equal(row['geometry'], { type: 'Point', coordinates: [Number(lon), Number(lat)] });
    assert.equal(row['tags'] ?? undefined, tags);
    assert.is(
      row['created_by'] ?? undefined,
      createdBy === undefined ? undefined : BigInt(createdBy),
    );
    assert.is(row['created_at'], createdAt.text);
  }
});

test.run();
