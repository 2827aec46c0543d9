import { join } from 'node:path';
import { loadEngine } from '../../bench/query.js';
import { Random } from '../../src/cli/generate/random.js';
import { rendered, storePoint } from '../../src/formats/record-layout.js';
import { parseTileLook } from '../../src/http/routes/tile-views.js';
import { stretchOf } from '../../src/index/records.js';
import { RECORD_KEYS, type RecordKey } from '../../src/model/point.js';
import { openTimeZone } from '../../src/model/time-zone.js';
import * as grids from '../../src/tiles/grid.js';
import { MOST_RECORD_BYTES } from '../../src/tiles/points.js';
import { abbreviate, makeTile } from '../../src/tiles/tile.js';
import { acceptedMatches, deltaOf, engineOf, Meter } from '../support/engine.js';
import { type Note, pointOf, scatterNotes } from '../support/notes.js';
import { ROOT } from '../support/service.js';
import { decodeTile, type Layers, leastHashes, sortedIds } from '../support/tiles.js';
import { ascending, assert, test } from '../support/uvu.js';

const WORLD = { address: { z: 0, x: 0, y: 0 }, filters: {}, grid: 16 };

test('points have the fields of their records, texts with escapes included', async () => {
  const sample = await loadEngine(join(ROOT, 'data/sample.waypost'));
  const { dataset } = sample;
  const query = { ...WORLD, limit: 10_000, fields: RECORD_KEYS };
  const { points = [] } = decodeTile(makeTile(sample, query));
  assert.is(points.length, dataset.count);
  let escaped = 0;
  // without clusters points come in the order of their rows
  for (const [row, { properties }] of points.entries()) {
    const text = rendered(stretchOf(dataset.records, row, row + 1)[0]!).toString();
    const { tags, created_at, modified_at, ...record } = JSON.parse(text) as Record<string, string>;
    const seconds = (time?: string): number => Math.floor(Date.parse(time!) / 1000);
    const times = { created_at: seconds(created_at), modified_at: seconds(modified_at) };
    const list = tags === undefined ? {} : { tags: JSON.stringify(tags) };
    assert.equal(properties, { ...record, ...times, ...list }, `row ${row}`);
    if (/[\n"\\]/.test(record['comment']!)) escaped++;
  }
  assert.ok(escaped > 50, `${escaped} comments with escapes`);
});

test('users keep their numbers, however large', async () => {
  const users = [0, 2 ** 52 - 1, 2 ** 52 + 1, 2 ** 53 - 2, 2 ** 53 - 1];
  const notes = scatterNotes(1, users.length).map((note, i) => {
    return { ...note, lat: 1, lon: i, createdBy: users[i]! };
  });
  const query = { ...WORLD, limit: users.length, fields: ['created_by'] as const };
  const { points = [] } = decodeTile(makeTile(await engineOf(notes), query));
  const found = points.map(({ properties }) => Number(properties['created_by']));
  assert.equal(ascending(found), users);
});

const FROZEN = 260;
/** Some 8 MiB in all, each note alone in its cell. */
const notes: readonly Note[] = Array.from({ length: 300 }, (_, i) => ({
  id: i * 7 + 1,
  lon: -179 + (i % 30) * 12,
  lat: -60 + Math.floor(i / 30) * 12,
  created: 1.6e15,
  modified: 1.6e15,
  comment: 'x"'.repeat(8_000 + 20 * i),
}));
const engine = await engineOf(notes.slice(0, FROZEN));
const delta = deltaOf(notes.slice(FROZEN));

function tileOf(limit: number | undefined, fields?: readonly RecordKey[]): Layers {
  const query = { ...WORLD, grid: 128, limit, fields };
  const accepted = acceptedMatches(delta, notes.length - FROZEN, query.filters);
  return decodeTile(makeTile(engine, query, accepted));
}

/** The least hashes of ids first, as long as their records fit. */
const fitting: readonly number[] = (() => {
  let left = MOST_RECORD_BYTES;
  const ids: number[] = [];
  for (const note of leastHashes(notes)) {
    left -= storePoint(pointOf(note)).length;
    if (left < 0) break;
    ids.push(note.id);
  }
  return ascending(ids);
})();

test('a tile without clusters has the points whose records fit, by the hashes of their ids', () => {
  assert.ok(fitting.length > 100 && fitting.length < 200, `${fitting.length} fit`);
  const { points = [], meta = [] } = tileOf(10_000, ['comment']);
  assert.equal(sortedIds(points), fitting);
  const left = notes.length - fitting.length;
  const expected = { point_count: notes.length, shown: fitting.length, left_out: left };
  assert.equal(meta[0]!.properties, expected);
  for (const { id, properties } of points) {
    assert.is(properties['comment'], notes[(id! - 1) / 7]!.comment);
  }
  // a limit below the number that fits
  assert.is(tileOf(20, ['comment'])['points']!.length, 20);
});

test('nothing is left out where no record is read', () => {
  for (const fields of [undefined, ['modified_at', 'status'] as const]) {
    assert.is(tileOf(10_000, fields)['points']!.length, notes.length);
    assert.is(tileOf(undefined, fields)['meta'], undefined);
  }
});

test('a tile with clusters has every point, and the fields of those that fit', () => {
  const { points = [], meta = [] } = tileOf(undefined, ['comment', 'modified_at']);
  assert.is(points.length, notes.length);
  const withComment = points.filter(({ properties }) => 'comment' in properties);
  assert.equal(sortedIds(withComment), fitting);
  assert.ok(points.every(({ properties }) => properties['modified_at'] === 1.6e9));
  assert.equal(meta[0]!.properties, { without_fields: notes.length - fitting.length });
});

test('long records are charged for by their bytes', () => {
  const meter = new Meter(500_000);
  const query = { ...WORLD, limit: 999, fields: ['comment'] as const };
  makeTile(engine, query, undefined, undefined, meter);
  // 4 MiB at 2 ns a byte
  assert.ok(meter.renewals >= 10, `${meter.renewals} times half a millisecond`);
});

test('a tile of all points is not searched for its box, whatever the address leaves out', async () => {
  const { filters: absent } = parseTileLook([], await openTimeZone('UTC'));
  const address = { z: 1, x: 1, y: 0 };
  const [whole, filtered] = [absent, { ...absent, isProcessed: false }].map((one) => {
    const meter = new Meter(Infinity);
    const query = { address, filters: grids.filtersWithin(address, one), grid: 16 };
    makeTile(engine, query, undefined, undefined, meter);
    return meter.cost;
  });
  const meter = new Meter(Infinity);
  makeTile(engine, { address, filters: {}, grid: 16 }, undefined, undefined, meter);
  assert.is(whole, meter.cost);
  assert.ok(filtered! > whole!, `${filtered} beside ${whole}`);
});

const { boxesWithin, boxOf, Grid, latitudeOf, longitudeOf, MAX_ZOOM } = grids;
const SEED = 88;
const SIZES = [4, 8, 16, 32, 64, 128];
/** Less than the height of the smallest cell, and more than the rounding error of a latitude. */
const HAIR = 1e-10;

function randomAddress(random: Random): grids.TileAddress {
  const z = random.int(MAX_ZOOM + 1);
  return { z, x: random.int(2 ** z), y: random.int(2 ** z) };
}

test('the western and the northern border belong to a cell, in every tile', () => {
  const random = new Random(SEED, 'point');
  for (let tile = 0; tile < 400; tile++) {
    const { z, x, y } = randomAddress(random);
    const size = random.pick(SIZES);
    const grid = new Grid({ z, x, y }, size);
    const lines = 2 ** z * size;
    const label = JSON.stringify({ z, x, y, size });
    const [column, row] = [random.int(size), random.int(size)];
    const west = longitudeOf(x * size + column, lines);
    const east = longitudeOf(x * size + column + 1, lines);
    const north = latitudeOf(y * size + row, lines);
    const south = latitudeOf(y * size + row + 1, lines);
    const cell = row * size + column;
    const middle = [(west + east) / 2, (north + south) / 2] as const;
    for (const lon of [west, west + HAIR, middle[0], east - HAIR]) {
      for (const lat of [north, north - HAIR, middle[1], south + HAIR]) {
        assert.is(grid.cellOf(lon, lat), cell, `${label}: ${lon}, ${lat}`);
      }
    }
    for (let line = 0; line < size; line++) {
      const lon = longitudeOf(x * size + line, lines);
      assert.is(grid.cellOf(lon, middle[1]), row * size + line, label);
      const lat = latitudeOf(y * size + line, lines);
      assert.is(grid.cellOf(middle[0], lat), line * size + column, label);
    }
  }
});

test('neighbouring tiles share a border, and no number between them is lost', () => {
  const random = new Random(SEED + 1, 'point');
  for (let tile = 0; tile < 2_000; tile++) {
    const { z, x, y } = randomAddress(random);
    const across = 2 ** z;
    const box = boxOf({ z, x, y });
    if (x + 1 < across) {
      const { west } = boxOf({ z, x: x + 1, y });
      assert.ok(box.east < west && box.east + Math.abs(west) * 2 ** -52 + 1e-300 >= west);
    }
    if (y + 1 < across) {
      const { north } = boxOf({ z, x, y: y + 1 });
      assert.ok(north < box.south && north + Math.abs(north) * 2 ** -52 + 1e-300 >= box.south);
    }
    if (z < MAX_ZOOM) {
      const { west, north } = boxOf({ z: z + 1, x: 2 * x, y: 2 * y });
      const { south, east } = boxOf({ z: z + 1, x: 2 * x + 1, y: 2 * y + 1 });
      assert.equal({ west, south, east, north }, box);
    }
  }
  assert.equal(boxOf({ z: 0, x: 0, y: 0 }), { west: -180, south: -90, east: 180, north: 90 });
});

test('boxes are cut to the tile, those beside it dropped', () => {
  const tile = boxOf({ z: 1, x: 1, y: 0 });
  assert.equal(boxesWithin(tile), [tile]);
  const pacific = [
    { west: 170, south: -10, east: 180, north: 10 },
    { west: -180, south: -10, east: -170, north: 10 },
  ];
  const cut = { west: 170, south: tile.south, east: 180, north: 10 };
  assert.equal(boxesWithin(tile, pacific), [cut]);
  assert.ok(tile.south > 0);
  assert.equal(boxesWithin(tile, [{ west: -5, south: -5, east: -1e-9, north: 5 }]), []);
  assert.is(boxesWithin(tile, [{ west: -5, south: -5, east: 0, north: 5 }]).length, 1);
});

test('counts are written in four characters at most', () => {
  const counts = [2, 999, 1_000, 1_249, 1_951, 9_949, 9_950, 99_499, 999_499, 999_500, 1_150_001];
  const texts = ['2', '999', '1k', '1.2k', '2k', '9.9k', '10k', '99k', '999k', '1M', '1.2M'];
  assert.equal([...counts, 12_345_678, 4_200_000_000].map(abbreviate), [...texts, '12M', '4.2G']);
});

test('accepted points are thinned out and charged for, too', async () => {
  const [frozen, accepted, limit] = [100, 5_000, 10];
  const all = scatterNotes(77, frozen + accepted);
  const delta = deltaOf(all.slice(frozen));
  const query = { ...WORLD, limit };
  const meter = new Meter(2_000);
  const matches = acceptedMatches(delta, accepted, query.filters);
  const tile = makeTile(await engineOf(all.slice(0, frozen)), query, matches, undefined, meter);
  // 10 ns for each of them
  assert.ok(meter.renewals >= 20, `${meter.renewals} times two microseconds`);
  const kept = leastHashes(all).slice(0, limit);
  assert.equal(sortedIds(decodeTile(tile)['points'] ?? []), sortedIds(kept));
});

test.run();
