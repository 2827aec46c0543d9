import { Random } from '../../src/cli/generate/random.js';
import { hashId } from '../../src/index/records.js';
import {
  boxesWithin,
  boxOf,
  Grid,
  latitudeOf,
  longitudeOf,
  MAX_ZOOM,
  type TileAddress,
} from '../../src/tiles/grid.js';
import { abbreviate, makeTile } from '../../src/tiles/tile.js';
import { acceptedMatches, deltaOf, engineOf, Meter } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { decodeTile } from '../support/tiles.js';
import { assert, test } from '../support/uvu.js';

const SEED = 88;
const SIZES = [4, 8, 16, 32, 64, 128];
/** Less than the height of the smallest cell, and more than rounding makes of a latitude. */
const HAIR = 1e-10;

function randomAddress(random: Random): TileAddress {
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
      const [first, last] = [
        boxOf({ z: z + 1, x: 2 * x, y: 2 * y }),
        boxOf({ z: z + 1, x: 2 * x + 1, y: 2 * y + 1 }),
      ];
      const children = { west: first.west, south: last.south, east: last.east, north: first.north };
      assert.equal(children, box);
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
  assert.equal(boxesWithin(tile, pacific), [
    { west: 170, south: tile.south, east: 180, north: 10 },
  ]);
  assert.ok(tile.south > 0);
  assert.equal(boxesWithin(tile, [{ west: -5, south: -5, east: -1e-9, north: 5 }]), []);
  assert.is(boxesWithin(tile, [{ west: -5, south: -5, east: 0, north: 5 }]).length, 1);
});

test('counts are written in four characters at most', () => {
  const texts = new Map([
    [2, '2'],
    [999, '999'],
    [1_000, '1k'],
    [1_249, '1.2k'],
    [1_951, '2k'],
    [9_949, '9.9k'],
    [9_950, '10k'],
    [99_499, '99k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [1_150_001, '1.2M'],
    [12_345_678, '12M'],
    [4_200_000_000, '4.2G'],
  ]);
  for (const [count, text] of texts) assert.is(abbreviate(count), text);
});

const FROZEN = 100;
const ACCEPTED = 5_000;
const LIMIT = 10;

const notes = scatterNotes(77, FROZEN + ACCEPTED);
const engine = await engineOf(notes.slice(0, FROZEN));
const delta = deltaOf(notes.slice(FROZEN));

test('accepted points are thinned out and charged for, too', () => {
  const query = { address: { z: 0, x: 0, y: 0 }, filters: {}, grid: 16, limit: LIMIT };
  const meter = new Meter(2_000);
  const accepted = acceptedMatches(delta, ACCEPTED, query.filters);
  const tile = makeTile(engine, query, accepted, undefined, meter);
  // 10 ns for each of them
  assert.ok(meter.renewals >= 20, `${meter.renewals} times two microseconds`);
  const kept = notes.toSorted((a, b) => hashId(a.id) - hashId(b.id)).slice(0, LIMIT);
  const ids = (all: readonly { readonly id: number | undefined }[]): number[] =>
    all.map(({ id }) => id!).sort((a, b) => a - b);
  assert.equal(ids(decodeTile(tile)['points'] ?? []), ids(kept));
});

test.run();
