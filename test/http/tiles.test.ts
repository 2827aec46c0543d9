import { RECORD_KEYS } from '../../src/model/point.js';
import { startNotes } from '../support/app.js';
import { countOf, type Reply } from '../support/client.js';
import { type Note, scatterNotes } from '../support/notes.js';
import { decodeTile, type Feature, lineOf, onSquare, pointsIn } from '../support/tiles.js';
import { assert, pluck, test } from '../support/uvu.js';

const WORLD = '/tiles/0/0/0.mvt';
const FOR_EVER = 'public, max-age=31536000, immutable';
const TYPE = 'application/vnd.mapbox-vector-tile';
const notes = scatterNotes(29, 500);
const time = 1.6e15;
/** A point far from all others. */
const posted: Note = { id: 900_001, lon: -140.5, lat: -45.5, created: time, modified: time + 7e6 };

const service = await startNotes(notes);

test("a tile is a Mapbox Vector Tile of the list's points, filters included", async () => {
  const tile = await service.get(WORLD);
  assert.equal([tile.status, tile.headers['content-type']], [200, TYPE]);
  assert.is(tile.headers['access-control-allow-origin'], '*');
  assert.equal([tile.headers['cache-control'], pointsIn(tile.body)], ['no-cache', notes.length]);
  for (const filter of [
    'bbox=-10,-20,60,70',
    'coordinates=60.17,24.94,3000000',
    'created_at_after=2021-01-01T00:00:00Z&modified_at_before=2023-01-01T00:00:00Z',
    'bbox=170,-90,-170,90&grid=128',
  ]) {
    const { body } = await service.get(`${WORLD}?${filter}`);
    assert.is(pointsIn(body), await countOf(service, filter), filter);
  }
  const part = await service.get('/tiles/1/1/0.mvt?bbox=-10,-20,60,70');
  // places on the equator belong to the tile south of it
  assert.is(pointsIn(part.body), await countOf(service, 'bbox=0,0.00000001,60,70'));
});

test('an empty tile is 204, one outside of the pyramid 404, a bad parameter 400', async () => {
  const empty = await service.get('/tiles/9/20/380.mvt');
  assert.equal([empty.status, empty.body.length], [204, 0]);
  assert.is(empty.headers['content-length'], undefined);
  assert.is(empty.headers['content-type'], undefined);
  assert.ok(empty.headers.etag);
  assert.is((await service.get(`${WORLD}?bbox=1,1,1,1`)).status, 204);
  // a box beside the tile
  assert.is((await service.get('/tiles/1/0/0.mvt?bbox=10,-20,20,-10')).status, 204);
  for (const path of [
    ...['23/0/0', '1/2/0', '1/0/2', '0/0/-1', '0/0/00', '01/0/0', '1/+1/0', 'a/0/0'],
  ]) {
    const reply = await service.get(`/tiles/${path}.mvt`);
    assert.equal([path, reply.status, reply.text], [path, 404, '{"detail":"Not found."}']);
  }
  for (const path of ['/tiles/0/0/0', '/tiles/0/0/0.png', '/tiles/', '/tiles/0/0/0.mvt/']) {
    assert.is((await service.get(path)).status, 404, path);
  }
  const bad = 'grid=5&cluster=no&limit=0&fields=name&bbox=1&status=NEW';
  const refused = await service.get(`${WORLD}?${bad}`);
  assert.is(refused.status, 400);
  const names = Object.keys(refused.json<object>()).sort();
  assert.equal(names, ['bbox', 'cluster', 'fields', 'grid', 'limit']);
  assert.is((await service.get(`/tiles/points.json?${bad}`)).text, refused.text);
  const other = await service.get(`${WORLD}?format=json`);
  assert.equal([other.status, other.text.match(/mvt/g)], [404, ['mvt']]);
  assert.is((await service.get(WORLD, { headers: { Accept: 'image/png' } })).status, 406);
});

test('a tile may be asked for by the media type of protocol buffers', async () => {
  const plain = await service.get(WORLD);
  const type = 'application/x-protobuf';
  const asked = await service.get(WORLD, { headers: { Accept: type } });
  assert.equal([asked.status, asked.headers['content-type']], [200, type]);
  assert.equal(asked.body, plain.body);
});

test('a tile announces its media types, and each grid has its own tag', async () => {
  const [tile, coarse] = [await service.get(WORLD), await service.get(`${WORLD}?grid=8`)];
  assert.not.equal(coarse.headers.etag, tile.headers.etag);
  const options = await service.get(WORLD, { method: 'OPTIONS' });
  const { renders } = options.json<{ renders: string[] }>();
  assert.equal(renders, [TYPE, 'application/x-protobuf']);
});

test('tiles have the requested fields, and no clusters with cluster=false', async () => {
  const tile = await service.get(`${WORLD}?cluster=false&limit=20&fields=comment,lat`);
  const { points = [], meta = [], clusters } = decodeTile(tile.body);
  assert.is(clusters, undefined);
  assert.equal([points.length, meta.length], [20, 1]);
  assert.equal(meta[0]!.properties, { point_count: 500, shown: 20, left_out: 480 });
  for (const { properties } of points) assert.ok('comment' in properties && 'lat' in properties);
});

test('TileJSON names immutable tiles as long as the data are the same', async () => {
  const own = await startNotes(notes, { answerCacheBytes: 1 << 20 });
  const tileSet = async (query = ''): Promise<{ url: string; reply: Reply }> => {
    const reply = await own.get(`/tiles/points.json${query}`);
    const { tiles } = reply.json<{ tiles: string[] }>();
    return { reply, url: tiles[0]! };
  };
  const pathOf = (url: string): string =>
    url.replace('{z}/{x}/{y}', '0/0/0').replace(/^.*?(?=\/tiles)/, '');
  const first = await tileSet('?status=NEW&grid=32&format=json');
  const { tilejson, minzoom, maxzoom, vector_layers } = first.reply.json<Record<string, unknown>>();
  assert.equal([tilejson, minzoom, maxzoom], ['3.0.0', 0, 22]);
  assert.equal(pluck(vector_layers as { id: string }[], 'id'), ['clusters', 'points', 'meta']);
  assert.is(first.reply.headers['cache-control'], 'no-cache');
  assert.match(first.url, /\/tiles\/\{z\}\/\{x\}\/\{y\}\.mvt\?grid=32&status=NEW&v=[\w.]+$/);
  const before = await own.get(pathOf(first.url));
  assert.equal([before.status, before.headers['cache-control']], [200, FOR_EVER]);
  assert.is((await own.get(`${WORLD}?v=other`)).headers['cache-control'], 'no-cache');

  // the cached answer is as immutable
  await own.get(pathOf(first.url));
  assert.is((await own.get(pathOf(first.url))).headers['cache-control'], FOR_EVER);
  own.accept([posted]);
  const second = await tileSet('?status=NEW&grid=32');
  assert.not.equal(second.url, first.url);
  assert.not.equal(second.reply.headers.etag, first.reply.headers.etag);
  const late = await own.get(pathOf(first.url));
  assert.is(late.headers['cache-control'], 'no-cache');
  const after = await own.get(pathOf(second.url));
  assert.is(after.headers['cache-control'], FOR_EVER);
  for (const { body } of [late, after]) assert.is(pointsIn(body), pointsIn(before.body) + 1);
  const [x, y] = onSquare(posted.lon, posted.lat).map((part) => lineOf(part, 2 ** 8));
  const alone = await own.get(`/tiles/8/${x}/${y}.mvt?fields=modified_at`);
  const { points = [] } = decodeTile(alone.body);
  const expected: Feature['properties'] = {
    id: posted.id,
    status: 'NEW',
    is_processed: false,
    created_at: time / 1e6,
    modified_at: time / 1e6 + 7,
  };
  assert.equal(pluck(points, 'properties'), [expected]);
});

test('TileJSON lists the attributes of each layer, those of the query included', async () => {
  interface TileSet {
    readonly vector_layers: readonly { id: string; fields: Record<string, string> }[];
  }
  const usual = ['created_at', 'id', 'is_processed', 'status'];
  for (const [query, more] of [
    ['', []],
    ['fields=lat,comment,id&', ['comment', 'lat']],
    [`fields=${RECORD_KEYS.join()}&`, RECORD_KEYS.filter((key) => !usual.includes(key))],
  ] as const) {
    const { vector_layers } = (await service.get(`/tiles/points.json?${query}`)).json<TileSet>();
    const fields = Object.fromEntries(vector_layers.map((layer) => [layer.id, layer.fields]));
    assert.equal(Object.keys(fields['points']!).sort(), [...usual, ...more].sort(), query);
    // tiles have exactly the listed attributes
    const met: Record<string, Set<string>> = {};
    for (const look of ['', 'cluster=false&']) {
      const layers = decodeTile((await service.get(`${WORLD}?${query}${look}grid=128`)).body);
      for (const [id, features] of Object.entries(layers)) {
        met[id] ??= new Set();
        for (const { properties } of features) {
          for (const [key, value] of Object.entries(properties)) {
            const type = `${typeof value}`;
            assert.match(fields[id]![key]!.toLowerCase(), new RegExp(`^${type}`), `${id} ${key}`);
            met[id].add(key);
          }
        }
      }
    }
    assert.equal([...met['points']!].sort(), [...usual, ...more].sort(), query);
    assert.equal([...met['clusters']!].sort(), Object.keys(fields['clusters']!).sort());
  }
});

test.run();
