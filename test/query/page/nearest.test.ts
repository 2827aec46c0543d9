import { Random } from '../../../src/cli/generate/random.js';
import type { Dataset } from '../../../src/index/dataset.js';
import { Budget, EXCEEDED } from '../../../src/model/budget.js';
import { geodesic } from '../../../src/model/geo.js';
import type { Box, Circle, Filters } from '../../../src/model/query.js';
import { createEngine, type Hints } from '../../../src/query/engine.js';
import { Centre } from '../../../src/query/region/centre.js';
import { engineOf, idsOf } from '../../support/engine.js';
import { HOSTILE_DATA, hostileDataset } from '../../support/hostile-data.js';
import type { Note } from '../../support/notes.js';
import { rounds } from '../../support/soak.js';
import { assert, test } from '../../support/uvu.js';

const SEED = 82;
const POINTS = rounds(10_000);
/** Points all over the map: enough for some hundred blocks. */
const SPREAD = 30_000;
const NOON = Date.UTC(2023, 4, 1, 12) * 1000;

/** Ids of all rows in the circle, nearest first. */
function sortedIds({ coords, count, byId }: Dataset, { lon, lat, radius }: Circle): number[] {
  const centre = new Centre(lon, lat);
  const found: { id: number; distance: number }[] = [];
  for (let row = 0; row < count; row++) {
    if (geodesic(lon, lat, coords[2 * row]!, coords[2 * row + 1]!) > radius) continue;
    found.push({ id: byId.keys[byId.ranks[row]!]!, distance: centre.to(coords, row) });
  }
  found.sort((a, b) => a.distance - b.distance || a.id - b.id);
  return found.map(({ id }) => id);
}

for (const { name, circles, make } of HOSTILE_DATA) {
  test(`${name}: nearest first, ties by id, whichever way and on any page`, async () => {
    const dataset = await hostileDataset(make(POINTS));
    const engine = createEngine(dataset);
    for (const circle of circles) {
      const expected = sortedIds(dataset, circle);
      const pageSize = 997;
      const pages = Math.max(1, Math.ceil(expected.length / pageSize));
      for (const page of [1, (pages + 1) >> 1, pages]) {
        for (const hints of [{}, { accessPath: 'walk' }, { accessPath: 'select' }] as const) {
          const query = { filters: { circle }, ordering: 'distance', page, pageSize } as const;
          const answer = engine.run(query, hints)!;
          const label = `${name}, ${JSON.stringify(query)}, ${JSON.stringify(hints)}`;
          assert.is(answer.count, expected.length, label);
          const ids = idsOf(dataset, answer.rows, answer.length);
          assert.equal(ids, expected.slice((page - 1) * pageSize, page * pageSize), label);
        }
      }
    }
  });
}

test('pages anywhere among many matches, whatever the filters beside the circle', async () => {
  const notes: Note[] = [];
  const random = new Random(SEED, 'point');
  for (let id = 1; id <= SPREAD; id++) {
    const lat = (Math.asin(random.between(-1, 1)) * 180) / Math.PI;
    const [created, modified] = [NOON + random.int(1_000), NOON + random.int(1_000)];
    notes.push({ id, lon: random.between(-180, 180), lat, created, modified });
  }
  const { dataset, run } = await engineOf(notes);
  const circle = { lat: 60, lon: 25, radius: 3e7 };
  const createdAt = { after: NOON, before: NOON + 800 };
  const boxes = [{ west: -150, south: -80, east: 150, north: 80 }];
  const [box] = boxes as [Box];
  const byId = new Map(notes.map((note) => [note.id, note]));
  const sorted = sortedIds(dataset, circle);
  const isAsked = ({ boxes: any, createdAt: window }: Filters, id: number): boolean => {
    const { lon, lat, created } = byId.get(id)!;
    if (window !== undefined && created > window.before) return false;
    if (any === undefined) return true;
    return lon >= box.west && lon <= box.east && lat >= box.south && lat <= box.north;
  };
  const asked: readonly [Filters, Hints][] = [
    [{ circle }, {}],
    [{ circle, createdAt }, {}],
    // the rows of a window come in the order of time
    [{ circle, createdAt }, { driver: 'createdAt' }],
    [{ circle, boxes }, {}],
    [{ circle, boxes, createdAt }, {}],
  ];
  for (const [filters, hints] of asked) {
    const expected = sorted.filter((id) => isAsked(filters, id));
    for (const depth of [0, 0.1, 0.5, 0.9, 1]) {
      const page = 1 + Math.floor(depth * (Math.ceil(expected.length / 100) - 1));
      const query = { filters, ordering: 'distance', page, pageSize: 100 } as const;
      const { rows, length } = run(query, { ...hints, accessPath: 'select' })!;
      const label = `${JSON.stringify(query)}, ${JSON.stringify(hints)}`;
      assert.equal(
        idsOf(dataset, rows, length),
        expected.slice(100 * page - 100, 100 * page),
        label,
      );
    }
  }
});

test('many matches that are as good as equally far away are charged for', async () => {
  const { make, circles } = HOSTILE_DATA.find(({ name }) => name === 'one parallel')!;
  const dataset = await hostileDataset(make(POINTS));
  const circle = circles[0]!;
  const engine = createEngine(dataset);
  const query = { filters: { circle }, ordering: 'distance', page: 3, pageSize: 100 } as const;
  assert.throws(
    () => engine.run(query, {}, undefined, new Budget(10_000)),
    (error: unknown) => error === EXCEEDED,
  );
  const answer = engine.run(query)!;
  assert.equal(idsOf(dataset, answer.rows, 100), sortedIds(dataset, circle).slice(200, 300));
});

test('one point apart from a pile is found, wherever in the pile it stands', async () => {
  const circle = { lon: 9, lat: 20, radius: 1e6 };
  for (const apart of [1, 500, 1_000, 1_500]) {
    const notes: Note[] = [];
    for (let id = 1; id <= 1_500; id++) {
      // by the least there is, to the left: it comes into a block with those of the pile
      const lon = id === apart ? 9.99999999 : 10;
      notes.push({ id, lon, lat: 20, created: NOON, modified: NOON });
    }
    const engine = await engineOf(notes);
    const query = { filters: { circle }, ordering: 'distance', page: 1, pageSize: 2 } as const;
    for (const hints of [{}, { accessPath: 'walk' }, { accessPath: 'select' }] as const) {
      const answer = engine.run(query, hints)!;
      const ids = idsOf(engine.dataset, answer.rows, answer.length);
      assert.equal(ids, [apart, apart === 1 ? 2 : 1], `${apart}, ${JSON.stringify(hints)}`);
    }
  }
});

test('a place by another name is as far away: ids decide', async () => {
  const notes: Note[] = [];
  for (let id = 1; id <= 3_000; id++) {
    const lon = [180, -180][(id * 7) % 2]!;
    const [at, lat] = id % 3 === 0 ? [id % 181, 90] : [lon, 10];
    notes.push({ id, lon: at, lat, created: NOON, modified: NOON });
  }
  const engine = await engineOf(notes);
  for (const lon of [180, -180, 10, -33.33, 179.99]) {
    for (const accessPath of ['walk', 'select'] as const) {
      // whichever of the two places is nearer, the pole's thousand have a page of their own
      for (const page of [1, 3]) {
        const circle = { lat: 23.45, lon, radius: 3e7 };
        const query = { filters: { circle }, ordering: 'distance', page, pageSize: 1000 } as const;
        const answer = engine.run(query, { accessPath })!;
        const ids = idsOf(engine.dataset, answer.rows, answer.length);
        const sorted = [...ids].sort((a, b) => a - b);
        assert.equal(ids, sorted, `${lon}, ${accessPath}, page ${page}`);
      }
    }
  }
});

test.run();
