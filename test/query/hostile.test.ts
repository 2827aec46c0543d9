import type { Dataset } from '../../src/index/dataset.js';
import { Budget, EXCEEDED } from '../../src/model/budget.js';
import { geodesic } from '../../src/model/geo.js';
import type { Circle } from '../../src/model/query.js';
import { findRuns, Runs } from '../../src/query/common/runs.js';
import { Engine, type Hints } from '../../src/query/engine.js';
import { Centre } from '../../src/query/region/centre.js';
import { circleRegion } from '../../src/query/region/circle.js';
import { Rim } from '../../src/query/region/rim.js';
import { engineOf, idsOf } from '../support/engine.js';
import { HOSTILE_DATA, hostileDataset } from '../support/hostile-data.js';
import type { Note } from '../support/notes.js';
import { ascending, assert, rounds, test } from '../support/uvu.js';

const POINTS = rounds(9_000);
const HINTS: readonly Hints[] = [{}, { accessPath: 'walk' }, { accessPath: 'select' }];
const NOON = Date.UTC(2023, 4, 1, 12) * 1000;

/** The rows in a circle, and their ids nearest first, by the geodesic and by sorting. */
function bruteForce({ coords, count, byId }: Dataset, { lon, lat, radius }: Circle) {
  const centre = new Centre(lon, lat);
  const rows = Array.from({ length: count }, (_, row) => row).filter(
    (row) => geodesic(lon, lat, coords[2 * row]!, coords[2 * row + 1]!) <= radius,
  );
  const found = rows.map((row) => ({
    id: byId.keys[byId.ranks[row]!]!,
    distance: centre.to(coords, row),
  }));
  found.sort((a, b) => a.distance - b.distance || a.id - b.id);
  return { rows, ids: found.map(({ id }) => id) };
}

/** What a search finds, and the rim that measured. */
function search(dataset: Dataset, circle: Circle, budget: Budget = new Budget(), rim?: Rim) {
  const measured = rim ?? new Rim(circle);
  const runs = new Runs();
  findRuns(dataset, circleRegion(circle, measured), runs, budget);
  return { runs, rim: measured };
}

function rowsOf({ bounds, length }: Runs): number[] {
  const rows: number[] = [];
  for (let run = 0; run < length; run++) {
    for (let row = bounds[2 * run]!; row < bounds[2 * run + 1]!; row++) rows.push(row);
  }
  return rows;
}

function nearest(engine: Engine, circle: Circle, page: number, pageSize: number, hints?: Hints) {
  const query = { filters: { circle }, ordering: 'distance', page, pageSize } as const;
  const { rows, length, count } = engine.run(query, hints)!;
  return { count, ids: idsOf(engine.dataset, rows, length) };
}

for (const { name, circles, make } of HOSTILE_DATA) {
  test(`${name}: found is what the geodesic says, nearest first, whichever way`, async () => {
    const dataset = await hostileDataset(make(POINTS));
    const engine = new Engine(dataset);
    for (const circle of circles) {
      const label = `${name}, ${JSON.stringify(circle)}`;
      const { rows, ids } = bruteForce(dataset, circle);
      const { runs, rim } = search(dataset, circle);
      assert.is(runs.rows, rows.length, label);
      assert.equal(rowsOf(runs), rows, label);
      assert.ok(rim.estimated <= 1.2 * POINTS, `${label}: ${rim.estimated} places measured`);
      const most = name.startsWith('grid') ? POINTS / 500 : 1.2 * POINTS;
      assert.ok(rim.solved <= most, `${label}: ${rim.solved} geodesics`);
      const pages = Math.max(1, Math.ceil(ids.length / 997));
      for (const page of [1, (pages + 1) >> 1, pages]) {
        const expected = { count: ids.length, ids: ids.slice((page - 1) * 997, page * 997) };
        for (const hints of HINTS) {
          const about = `${label}, page ${page}, ${JSON.stringify(hints)}`;
          assert.equal(nearest(engine, circle, page, 997, hints), expected, about);
        }
      }
    }
  });
}

/** The dataset of this name, and its first circle. */
async function hostile(name: string): Promise<{ dataset: Dataset; circle: Circle }> {
  const { make, circles } = HOSTILE_DATA.find((one) => one.name === name)!;
  return { dataset: await hostileDataset(make(POINTS)), circle: circles[0]! };
}

test('a circle over a pile takes one geodesic', async () => {
  const { dataset } = await hostile('one spot');
  for (const radius of [0, 1_000, geodesic(24.95, 60.18, 24.94, 60.17), 5e6]) {
    const centre = radius === 0 ? { lon: 24.94, lat: 60.17 } : { lon: 24.95, lat: 60.18 };
    const { solved } = search(dataset, { ...centre, radius }).rim;
    assert.ok(solved <= 1, `${radius}: ${solved}`);
  }
});

test('a long search charges as it goes, and what it costs', async () => {
  const { dataset, circle } = await hostile('ring of 5,000 km');
  const amount = 50_000;
  const rim = new Rim(circle);
  let before = 0;
  let renewals = 0;
  // a block of 64 rows, each of which may be measured, is the longest stretch
  const budget = new Budget(amount, () => {
    renewals++;
    assert.ok(rim.estimated - before <= amount / 80 + 64, `${rim.estimated - before} measured`);
    before = rim.estimated;
  });
  search(dataset, circle, budget, rim);
  assert.ok(renewals >= (POINTS * 12) / amount / 2, `${renewals} budgets`);
});

test('many matches at nearly the same distance are charged for', async () => {
  const { dataset, circle } = await hostile('one parallel');
  const engine = new Engine(dataset);
  const query = { filters: { circle }, ordering: 'distance', page: 3, pageSize: 100 } as const;
  const isExceeded = (error: unknown): boolean => error === EXCEEDED;
  assert.throws(() => engine.run(query, {}, undefined, new Budget(10_000)), isExceeded);
  const { ids } = bruteForce(dataset, circle);
  assert.equal(nearest(engine, circle, 3, 100).ids, ids.slice(200, 300));
});

test('one point apart from a pile is found, wherever in the pile it stands', async () => {
  for (const apart of [1, 500, 1_000, 1_500]) {
    const notes = Array.from({ length: 1_500 }, (_, i): Note => {
      // by the least there is, to the left: it comes into a block with those of the pile
      const lon = i + 1 === apart ? 9.99999999 : 10;
      return { id: i + 1, lon, lat: 20, created: NOON, modified: NOON };
    });
    const engine = await engineOf(notes);
    for (const hints of HINTS) {
      const { ids } = nearest(engine, { lon: 9, lat: 20, radius: 1e6 }, 1, 2, hints);
      assert.equal(ids, [apart, apart === 1 ? 2 : 1], `${apart}, ${JSON.stringify(hints)}`);
    }
  }
});

test('a place with two longitudes, 180 and -180 or any at a pole, has one distance: ids decide', async () => {
  const notes = Array.from({ length: 3_000 }, (_, i): Note => {
    const [id, lon] = [i + 1, i % 2 === 0 ? -180 : 180];
    const place = id % 3 === 0 ? { lon: id % 181, lat: 90 } : { lon, lat: 10 };
    return { id, ...place, created: NOON, modified: NOON };
  });
  const engine = await engineOf(notes);
  for (const lon of [180, -180, 10, -33.33, 179.99]) {
    for (const hints of HINTS) {
      // whichever of the two places is nearer, the pole's thousand have a page of their own
      for (const page of [1, 3]) {
        const { ids } = nearest(engine, { lat: 23.45, lon, radius: 3e7 }, page, 1000, hints);
        assert.equal(ids, ascending(ids), `${lon}, ${JSON.stringify(hints)}, page ${page}`);
      }
    }
  }
});

test.run();
