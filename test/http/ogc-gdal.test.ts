import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startNotes } from '../support/app.js';
import { type Envelope, type Listed, listAll } from '../support/client.js';
import { read as readDocument } from '../support/documents.js';
import { readByGdal, withoutGdal } from '../support/gdal.js';
import { allItems } from '../support/geojson.js';
import { scatterNotes } from '../support/notes.js';
import { startOwnService } from '../support/own-service.js';
import { assert, makeFolder, test, testUnless } from '../support/uvu.js';
import { run } from '../support/wait.js';

const ITEMS = '/ogc/collections/points/items';

const formats = spawnSync('ogrinfo', ['--formats'], { encoding: 'utf8' });
const missing =
  formats.error !== undefined
    ? 'there is no ogrinfo here (apt-get install gdal-bin)'
    : formats.stdout.includes('OAPIF')
      ? undefined
      : 'this GDAL has no OAPIF driver';

const service = await startOwnService(['--time-zone', 'Europe/Helsinki']);
const notes = scatterNotes(41, 1_540);
const app = await startNotes(notes.slice(0, 1_500));
app.accept(notes.slice(1_500));

/** The ids that GDAL reads, in order. */
async function read(query: string, ...options: string[]): Promise<number[]> {
  const source = `OAPIF:http://127.0.0.1:${app.port}/ogc${query}`;
  const asked = ['-ro', '-al', '-geom=NO', '-oo', 'PAGE_SIZE=500', ...options, source];
  const { stdout, stderr } = await run('ogrinfo', asked);
  assert.not.match(stderr, /ERROR/);
  return [...stdout.matchAll(/^OGRFeature\(points\):(\d+)$/gm)].map(([, id]) => Number(id));
}

async function items(query: string): Promise<number[]> {
  return (await allItems(app, `${ITEMS}?limit=1000&${query}`)).map(({ id }) => id);
}

testUnless(missing, 'GDAL reads all features, page by page', async () => {
  assert.equal(await read(''), await items(''));
});

testUnless(missing, 'GDAL reads the features of a box and of a time', async () => {
  const inBox = await read('', '-spat', '20', '50', '30', '70');
  assert.equal(inBox, await items('bbox=20,50,30,70'));
  assert.ok(inBox.length > 10);
  const where = "created_at >= '2021-01-01T00:00:00Z' AND created_at <= '2022-01-01T00:00:00Z'";
  const inYear = await read('', '-where', where);
  assert.equal(inYear, await items('datetime=2021-01-01T00:00:00Z/2022-01-01T00:00:00Z'));
  assert.ok(inYear.length > 10);
});

testUnless(missing, 'GDAL keeps the filters of its address from page to page', async () => {
  const query = 'is_processed=false&modified_at_after=2020-06-01T00:00:00Z';
  const filtered = await items(query);
  assert.ok(filtered.length > 500, String(filtered.length));
  assert.equal(await read(`?${query}`), filtered);
});

testUnless(missing, "GDAL's export as GeoJSON loads as the same points", async () => {
  const exported = join(makeFolder(), 'exported.geojson');
  const query = 'is_processed=true';
  const source = `OAPIF:http://127.0.0.1:${service.port}/ogc?${query}`;
  await run('ogr2ogr', [exported, '-oo', 'PAGE_SIZE=100', source, 'points']);
  const second = await startOwnService(['--snapshot', exported]);
  const [sent, loaded] = [await listAll(service, query), await listAll(second)];
  assert.ok(sent.length > 300, String(sent.length));
  assert.equal(loaded.map(withoutTimes), sent.map(withoutTimes));
  for (const [i, one] of sent.entries()) {
    for (const key of ['created_at', 'modified_at']) {
      // GDAL rounds to milliseconds
      const [was, is] = [one, loaded[i]!].map((record) => String(record[key]));
      assert.ok(Math.abs(Date.parse(was!) - Date.parse(is!)) <= 1, `${was} ${is}`);
      assert.is(is!.slice(-6), was!.slice(-6));
    }
  }
});

function withoutTimes(record: Listed): object {
  return { ...record, created_at: undefined, modified_at: undefined };
}

const reason = withoutGdal();
const folder = makeFolder();

testUnless(reason, 'GDAL finds every point in the tiles of a zoom', async () => {
  const [, zoom] = / MVT:\S*\/tiles\/(\d+) clusters$/m.exec(readDocument('docs/maps.md'))!;
  const source = `MVT:http://127.0.0.1:${service.port}/tiles/${zoom}`;
  const options = ['-oo', 'TILE_EXTENSION=mvt', '-oo', 'METADATA_FILE='];
  const clusters = await readByGdal(source, 'clusters', options);
  const singles = await readByGdal(source, 'points', options);
  assert.ok(clusters.length > 10 && singles.length > 10, `${clusters.length}, ${singles.length}`);
  const counts = clusters.map(({ properties }) => Number(properties['point_count']));
  const total = counts.reduce((sum, count) => sum + count, singles.length);
  assert.is(total, 3000);
});

testUnless(reason, 'GDAL reads a filtered tile with its places and properties', async () => {
  const [z, x, y] = [12, 2331, 1185];
  const query = 'is_processed=false&status=NEW';
  const { body } = await service.get(`/tiles/${z}/${x}/${y}.mvt?${query}`);
  // GDAL takes a tile's address from the file's folders
  mkdirSync(join(folder, `${z}/${x}`), { recursive: true });
  const file = join(folder, `${z}/${x}/${y}.mvt`);
  writeFileSync(file, body);
  const singles = await readByGdal(file, 'points');
  assert.ok(singles.length > 10, String(singles.length));

  const box = '24.87,60.11,24.97,60.20';
  const list = await service.get(`/rest/map_data_points/?${query}&bbox=${box}&page_size=1000`);
  const records = new Map(list.json<Envelope>().results.map((record) => [record['id'], record]));
  for (const { geometry, properties } of singles) {
    const record = records.get(properties['id'])!;
    const [lon, lat] = geometry.coordinates;
    // a unit of the tile is 1/4096 of its 0.09 degrees
    assert.ok(Math.abs(lon - Number(record['lon'])) < 3e-5, `${lon}`);
    assert.ok(Math.abs(lat - Number(record['lat'])) < 3e-5, `${lat}`);
    assert.is(properties['status'], record['status']);
    assert.is(properties['is_processed'], record['is_processed']);
    const seconds = Math.floor(Date.parse(record['created_at'] as string) / 1000);
    assert.is(properties['created_at'], seconds);
  }
});

testUnless(reason, 'GDAL reads the GeoJSON of the list', async () => {
  const path = '/rest/map_data_points/?format=geojson&page_size=100&ordering=-created_at';
  const url = `http://127.0.0.1:${service.port}${path}`;
  const features = await readByGdal(`GeoJSON:${url}`, 'OGRGeoJSON');
  const { results } = (await service.get(path.replace('geojson', 'json'))).json<Envelope>();
  // GDAL sorts Features by their ids
  const sorted = results.toSorted((a, b) => Number(a['id']) - Number(b['id']));
  assert.equal(
    features.map(({ geometry, properties }) => [geometry.coordinates, properties['comment']]),
    sorted.map(({ lon, lat, comment }) => [[Number(lon), Number(lat)], comment]),
  );
});

test.run();
