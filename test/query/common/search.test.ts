import { Random } from '../../../src/cli/generate/random.js';
import type { Dataset } from '../../../src/index/dataset.js';
import { Budget } from '../../../src/model/budget.js';
import { geodesic } from '../../../src/model/geo.js';
import type { Circle } from '../../../src/model/query.js';
import {
  bitOf,
  listMarked,
  listMarkedRows,
  markRows,
  markRun,
} from '../../../src/query/common/marks.js';
import { type Bounds, markWithin } from '../../../src/query/common/matches.js';
import { costInRuns, Runs } from '../../../src/query/common/runs.js';
import { findRuns } from '../../../src/query/common/search.js';
import { circleRegion } from '../../../src/query/region/circle.js';
import { Rim } from '../../../src/query/region/rim.js';
import { HOSTILE_DATA, hostileDataset } from '../../support/hostile-data.js';
import { assert, rounds, test } from '../../support/uvu.js';

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

test('a row lies in the runs that were added, and in no other', () => {
  const random = new Random(31, 'point');
  for (let round = 0; round < 200; round++) {
    const runs = new Runs();
    const rows = new Set<number>();
    for (let from = random.int(3); from < 400; from += random.int(20)) {
      const to = Math.min(400, from + 1 + random.int(round % 2 === 0 ? 3 : 30));
      runs.add(from, to);
      for (let row = from; row < to; row++) rows.add(row);
      from = to;
    }
    for (let row = 0; row < 410; row++) assert.is(runs.has(row), rows.has(row), `row ${row}`);
    assert.is(runs.rows, rows.size);
  }
});

test('no row lies in no runs, not even where some were before', () => {
  const runs = new Runs();
  assert.not(runs.has(0));
  runs.add(0, 10);
  assert.ok(runs.has(9));
  runs.clear();
  assert.not(runs.has(0));
  assert.not(runs.has(9));
});

test('a row that is a run of its own costs several times what one of a long run does', () => {
  const [long, short] = [new Runs(), new Runs()];
  long.add(0, 1_000);
  for (let row = 0; row < 2_000; row += 2) short.add(row, row + 1);
  assert.is(long.rows, short.rows);
  assert.ok(costInRuns(long, 2) < 2.1);
  assert.ok(costInRuns(short, 2) > 5 * costInRuns(long, 2));
});

const ROWS = 320;
const random = new Random(8, 'point');

/** The rows whose bits are set, told one by one. */
function marked(bits: Int32Array): number[] {
  return Array.from({ length: ROWS }, (_, row) => row).filter((row) => bitOf(bits, row) === 1);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

test('a run of any ends is marked, and nothing beside it', () => {
  for (let from = 0; from < 100; from++) {
    for (let to = from + 1; to <= 200; to++) {
      const bits = new Int32Array(ROWS / 32);
      markRun(bits, from, to);
      assert.equal(marked(bits), range(from, to), `${from} to ${to}`);
    }
  }
});

test('runs and rows add to what is marked', () => {
  const bits = new Int32Array(ROWS / 32);
  markRun(bits, 30, 34);
  markRun(bits, 34, 35);
  markRun(bits, 63, 64);
  markRows(bits, Int32Array.of(9, 1, 31, 99), 1, 3);
  assert.equal(marked(bits), [1, 30, 31, 32, 33, 34, 63]);
});

test('marked rows are listed between any two rows', () => {
  const bits = new Int32Array(ROWS / 32);
  const rows = range(0, ROWS).filter((row) => row > 250 || random.chance(0.4));
  markRows(bits, Int32Array.from(rows), 0, rows.length);
  for (let from = 0; from <= ROWS; from += 3) {
    for (let to = from; to <= ROWS; to++) {
      const expected = rows.filter((row) => row >= from && row < to);
      const list = new Int32Array(ROWS + 1);
      const end = listMarkedRows(bits, list, 1, from, to);
      assert.equal([...list.subarray(1, end)], expected, `${from} to ${to}`);
    }
  }
});

test('rows within two windows are marked and counted, whatever the ends of the stretch', () => {
  const shuffled = (): Int32Array =>
    Int32Array.from(range(0, ROWS)).sort(() => random.next() - 0.5);
  for (let round = 0; round < 300; round++) {
    const [one, other] = [shuffled(), shuffled()].map((ranks): Bounds => {
      const from = random.int(ROWS);
      return { ranks, from, last: from + random.int(ROWS - from) };
    }) as [Bounds, Bounds];
    const from = random.int(ROWS);
    const to = from + random.int(ROWS - from + 1);
    const bits = new Int32Array(ROWS / 32);
    const count = markWithin(bits, one, other, from, to);
    const expected = range(from, to).filter((row) =>
      [one, other].every(
        ({ ranks, from: least, last }) => ranks[row]! >= least && ranks[row]! <= last,
      ),
    );
    assert.equal(marked(bits), expected, `round ${round}`);
    assert.is(count, expected.length);
    const list = new Int32Array(ROWS);
    assert.is(listMarked(bits, list, 0, 0, bits.length), count);
    assert.equal([...list.subarray(0, count)], expected);
  }
});

test.run();
