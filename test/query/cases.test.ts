import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FARTHEST, geodesic } from '../../src/model/geo.js';
import type { Filters, Ordering } from '../../src/model/query.js';
import { chooseAccessPath } from '../../src/query/common/plan.js';
import { engineOf, idsOf } from '../support/engine.js';
import type { Note } from '../support/notes.js';

const WORLD = { west: -180, south: -90, east: 180, north: 90 };

const places: readonly (readonly [lon: number, lat: number])[] = [
  [0, 0],
  [180, 60],
  [-180, 60],
  [10, 90],
  [-179.94387689, 90],
  [50, -90],
  [24.94, 60.17],
  [24.94, 60.17],
  [0, 51.48],
];

/** Ids 1, 2, … in the order of `places`; each a second later than the one before. */
const notes: readonly Note[] = places.map(([lon, lat], i) => ({
  id: i + 1,
  lon,
  lat,
  created: i * 1e6,
  modified: -i * 1e6,
}));

const engine = await engineOf(notes);

function ids(filters: Filters, ordering: Ordering = 'id'): number[] {
  const page = engine.run({ filters, ordering, page: 1, pageSize: 1000 });
  if (page === undefined) throw new Error('Expected page 1.');
  return idsOf(engine.dataset, page.rows, page.length);
}

// found by the oracle among 50,000 notes: seed 2026, question 315, and seed 2028, question 7
test('radius 0 finds a place by all its names', () => {
  const at = (lon: number, lat: number): number[] => ids({ circle: { lon, lat, radius: 0 } });
  assert.equal(at(180, 60), [2, 3]);
  assert.equal(at(-180, 60), [2, 3]);
  assert.equal(at(-179.94387689, 90), [4, 5]);
  assert.equal(at(10.05739043, 90), [4, 5]);
  assert.equal(at(0, -90), [6]);
  assert.equal(at(24.94, 60.17), [7, 8]);
  assert.equal(at(24.94, 60.17000001), []);
});

test('a rim through a point holds it', () => {
  const [lon, lat] = [24.9, 60.2];
  for (const { id, ...point } of notes) {
    const radius = geodesic(lon, lat, point.lon, point.lat);
    assert.ok(ids({ circle: { lon, lat, radius } }).includes(id), `note ${id}`);
    const less = { lon, lat, radius: radius * (1 - 2 ** -52) };
    assert.not.ok(ids({ circle: less }).includes(id), `note ${id}`);
  }
});

test('longitude 0 and latitude 0 are places, the ends of the map are inside it', () => {
  assert.equal(ids({ boxes: [{ west: 0, south: 0, east: 0, north: 0 }] }), [1]);
  assert.equal(ids({ boxes: [{ west: 0, south: -90, east: 0, north: 90 }] }), [1, 9]);
  assert.equal(ids({ boxes: [WORLD] }), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal(ids({ boxes: [{ ...WORLD, south: 90 }] }), [4, 5]);
  assert.equal(ids({ circle: { lon: 24.94, lat: 60.17, radius: FARTHEST } }).length, 9);
});

test('a box across the antimeridian is two boxes', () => {
  const boxes = [
    { ...WORLD, west: 179 },
    { ...WORLD, east: -179 },
  ];
  assert.equal(ids({ boxes }), [2, 3, 5]);
});

test('both ends of a window are inside it, before 1970 as well', () => {
  assert.equal(ids({ createdAt: { after: 2e6, before: 4e6 } }), [3, 4, 5]);
  assert.equal(ids({ modifiedAt: { after: -4e6, before: -2e6 } }), [3, 4, 5]);
  assert.equal(ids({ modifiedAt: { after: -4e6, before: -4e6 } }), [5]);
  assert.equal(ids({ createdAt: { after: 3, before: 2 } }), []);
  const both = {
    createdAt: { after: 2e6, before: Infinity },
    modifiedAt: { after: -3e6, before: 0 },
  };
  assert.equal(ids(both), [3, 4]);
});

test('orders go both ways, nearest first goes out', () => {
  assert.equal(ids({}, '-created_at'), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
  assert.equal(ids({}, 'modified_at'), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
  const circle = { lon: 24.94, lat: 60.17, radius: 4e6 };
  assert.equal(ids({ circle }, 'distance').slice(0, 3), [7, 8, 9]);
});

test('pages: the last by name and by number, none past it, one even of nothing', () => {
  const page = (wanted: number | 'last', pageSize: number, filters: Filters = {}): unknown => {
    const found = engine.run({ filters, ordering: 'id', page: wanted, pageSize });
    if (found === undefined) return undefined;
    const { count, page: number, pageCount, rows, length } = found;
    return [count, number, pageCount, idsOf(engine.dataset, rows, length)];
  };
  assert.equal(page('last', 4), [9, 3, 3, [9]]);
  assert.equal(page(3, 4), [9, 3, 3, [9]]);
  assert.is(page(4, 4), undefined);
  assert.equal(page('last', 3), [9, 3, 3, [7, 8, 9]]);
  assert.is(page(Number.MAX_SAFE_INTEGER, 1000), undefined);
  const nothing = { createdAt: { after: 1, before: 0 } };
  assert.equal(page(1, 10, nothing), [0, 1, 1, []]);
  assert.equal(page('last', 10, nothing), [0, 1, 1, []]);
  assert.is(page(2, 10, nothing), undefined);
});

test('matches that all lie at the far end of the order are found, where a walk gives up', async () => {
  const count = 20_000;
  const share = 2_000;
  // ids follow times of creation, and run against those of modification
  const all = Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    lon: (i % 360) - 180,
    lat: 0,
    created: i * 1e6,
    modified: -i * 1e6,
  }));
  const large = await engineOf(all);
  assert.is(chooseAccessPath(10, share, count, 'windows').accessPath, 'walk');
  assert.ok(chooseAccessPath(10, share, count, 'windows').most < count - share);
  const late = { after: (count - share) * 1e6, before: Infinity };
  const early = { after: -Infinity, before: (share - 1) * 1e6 };
  for (const [createdAt, first] of [
    [late, count - share + 1],
    [early, 1],
  ] as const) {
    for (const ordering of ['id', 'modified_at', '-modified_at'] as const) {
      const wanted = Array.from({ length: share }, (_, i) => first + i);
      if (ordering === 'modified_at') wanted.reverse();
      for (const page of [1, 2, 199, 200]) {
        const found = large.run({ filters: { createdAt }, ordering, page, pageSize: 10 })!;
        assert.is(found.count, share);
        const label = `from ${first}, by ${ordering}, page ${page}`;
        const expected = wanted.slice(10 * (page - 1), 10 * page);
        assert.equal(idsOf(large.dataset, found.rows, found.length), expected, label);
      }
    }
  }
});

test.run();
