import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Envelope } from '../support/client.js';
import { read } from '../support/documents.js';
import { makeFolder } from '../support/folder.js';
import { type GdalFeature, readByGdal, withoutGdal } from '../support/gdal.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { SNAPSHOT } from '../support/service.js';
import { assert, test, testUnless } from '../support/uvu.js';

const reason = withoutGdal();
const folder = makeFolder();
let service: OwnService | undefined;

test.before(async () => {
  if (reason === undefined) service = await startOwnService(['--snapshot', SNAPSHOT]);
});
test.after(async () => {
  await service?.stop();
});

function pointsIn(clusters: readonly GdalFeature[], singles: readonly GdalFeature[]): number {
  return clusters.reduce(
    (sum, { properties }) => sum + Number(properties['point_count']),
    singles.length,
  );
}

testUnless(reason, 'GDAL finds every point in the tiles of a zoom', async () => {
  const [, zoom] = / MVT:\S*\/tiles\/(\d+) clusters$/m.exec(read('docs/maps.md'))!;
  const source = `MVT:http://127.0.0.1:${service!.port}/tiles/${zoom}`;
  const options = ['-oo', 'TILE_EXTENSION=mvt', '-oo', 'METADATA_FILE='];
  const clusters = await readByGdal(source, 'clusters', options);
  const singles = await readByGdal(source, 'points', options);
  assert.ok(clusters.length > 10 && singles.length > 10, `${clusters.length}, ${singles.length}`);
  assert.is(pointsIn(clusters, singles), 3000);
});

testUnless(
  reason,
  'GDAL reads a filtered tile, with the places and properties of its points',
  async () => {
    const [z, x, y] = [12, 2331, 1185];
    const query = 'is_processed=false&status=NEW';
    const { body } = await service!.get(`/tiles/${z}/${x}/${y}.mvt?${query}`);
    // GDAL takes the address of a tile from the folders that the file is in
    mkdirSync(join(folder, `${z}/${x}`), { recursive: true });
    const file = join(folder, `${z}/${x}/${y}.mvt`);
    writeFileSync(file, body);
    const singles = await readByGdal(file, 'points');
    assert.ok(singles.length > 10, String(singles.length));

    const box = '24.87,60.11,24.97,60.20';
    const list = await service!.get(`/rest/map_data_points/?${query}&bbox=${box}&page_size=1000`);
    const records = new Map(list.json<Envelope>().results.map((record) => [record['id'], record]));
    for (const { geometry, properties } of singles) {
      const record = records.get(properties['id'])!;
      const [lon, lat] = geometry.coordinates;
      // a unit of the tile is a 4096th of its 0.09 degrees
      assert.ok(Math.abs(lon - Number(record['lon'])) < 3e-5, `${lon}`);
      assert.ok(Math.abs(lat - Number(record['lat'])) < 3e-5, `${lat}`);
      assert.is(properties['status'], record['status']);
      assert.is(properties['is_processed'], record['is_processed']);
      assert.is(
        properties['created_at'],
        Math.floor(Date.parse(record['created_at'] as string) / 1000),
      );
    }
  },
);

testUnless(reason, 'GDAL reads the GeoJSON of the list', async () => {
  const path = '/rest/map_data_points/?format=geojson&page_size=100&ordering=-created_at';
  const url = `http://127.0.0.1:${service!.port}${path}`;
  const features = await readByGdal(`GeoJSON:${url}`, 'OGRGeoJSON');
  const { results } = (await service!.get(path.replace('geojson', 'json'))).json<Envelope>();
  // GDAL sorts Features by their ids
  const sorted = results.toSorted((a, b) => Number(a['id']) - Number(b['id']));
  assert.equal(
    features.map(({ geometry, properties }) => [geometry.coordinates, properties['comment']]),
    sorted.map(({ lon, lat, comment }) => [[Number(lon), Number(lat)], comment]),
  );
});

test.run();
