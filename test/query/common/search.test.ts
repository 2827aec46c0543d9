import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Dataset } from '../../../src/index/dataset.js';
import { Budget } from '../../../src/model/budget.js';
import { geodesic } from '../../../src/model/geo.js';
import type { Circle } from '../../../src/model/query.js';
import { Runs } from '../../../src/query/common/runs.js';
import { findRuns } from '../../../src/query/common/search.js';
import { circleRegion } from '../../../src/query/region/circle.js';
import { Rim } from '../../../src/query/region/rim.js';
import { HOSTILE_DATA, hostileDataset } from '../../support/hostile-data.js';
import { rounds } from '../../support/soak.js';

const POINTS = rounds(40_000);

/** The rows of some runs. */
function rowsOf(runs: Runs): number[] {
  const rows: number[] = [];
  for (let run = 0; run < runs.length; run++) {
    for (let row = runs.bounds[2 * run]!; row < runs.bounds[2 * run + 1]!; row++) rows.push(row);
  }
  return rows;
}

function rowsByGeodesic({ coords, count }: Dataset, { lon, lat, radius }: Circle): number[] {
  const rows: number[] = [];
  for (let row = 0; row < count; row++) {
    if (geodesic(lon, lat, coords[2 * row]!, coords[2 * row + 1]!) <= radius) rows.push(row);
  }
  return rows;
}

for (const { name, circles, make } of HOSTILE_DATA) {
  test(`${name}: what is found is what the geodesic says`, async () => {
    const dataset = await hostileDataset(make(POINTS));
    for (const circle of circles) {
      const label = `${name}, ${JSON.stringify(circle)}`;
      const rim = new Rim(circle);
      const runs = new Runs();
      findRuns(dataset, circleRegion(circle, rim), runs, new Budget());
      const expected = rowsByGeodesic(dataset, circle);
      assert.is(runs.rows, expected.length, label);
      assert.equal(rowsOf(runs), expected, label);
      assert.ok(rim.estimated <= 1.2 * POINTS, `${label}: ${rim.estimated} places measured`);
      assert.ok(rim.solved <= 1.2 * POINTS, `${label}: ${rim.solved} geodesics`);
      if (name.startsWith('grid')) assert.ok(rim.solved <= POINTS / 500, `${label}: ${rim.solved}`);
    }
  });
}

test('a circle over a pile takes one geodesic', async () => {
  const dataset = await hostileDataset(pile(POINTS));
  for (const radius of [0, 1_000, geodesic(24.95, 60.18, 24.94, 60.17), 5e6]) {
    const circle =
      radius === 0 ? { lon: 24.94, lat: 60.17, radius } : { lon: 24.95, lat: 60.18, radius };
    const rim = new Rim(circle);
    const runs = new Runs();
    findRuns(dataset, circleRegion(circle, rim), runs, new Budget());
    assert.ok(rim.solved <= 1, `${radius}: ${rim.solved}`);
  }
});

function pile(count: number): Float64Array {
  return HOSTILE_DATA.find(({ name }) => name === 'one spot')!.make(count);
}

test('a long search charges as it goes, and what it costs', async () => {
  const { make, circles } = HOSTILE_DATA.find(({ name }) => name === 'ring of 5,000 km')!;
  const dataset = await hostileDataset(make(POINTS));
  const amount = 50_000;
  const rim = new Rim(circles[0]!);
  let before = 0;
  let renewals = 0;
  // a block of 64 rows, each of which may be measured, is the longest stretch
  const budget = new Budget(amount, () => {
    renewals++;
    assert.ok(rim.estimated - before <= amount / 80 + 64, `${rim.estimated - before} measured`);
    before = rim.estimated;
  });
  findRuns(dataset, circleRegion(circles[0]!, rim), new Runs(), budget);
  assert.ok(renewals >= (POINTS * 12) / amount / 2, `${renewals} budgets`);
});

test.run();
