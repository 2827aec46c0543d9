import { Random } from '../../../src/cli/generate/random.js';
import type { Filters, Ordering, Query } from '../../../src/model/query.js';
import {
  chooseAccessPath,
  chooseDriver,
  chooseNearestPath,
  type Facts,
} from '../../../src/query/common/plan.js';
import { type Engine, type Hints, RECORD } from '../../../src/query/engine.js';
import { engineOf, idsOf, Meter } from '../../support/engine.js';
import type { Note } from '../../support/notes.js';
import { assert, test } from '../../support/uvu.js';

const MILLION = 1_000_000;

function driver(facts: Partial<Facts>): string {
  const none = {
    inRegion: false,
    region: undefined,
    createdAt: undefined,
    modifiedAt: undefined,
    cellRows: undefined,
  };
  return chooseDriver({ ...none, ...facts });
}

test('the filter that lets far fewer rows through is gone through', () => {
  assert.is(driver({ inRegion: true, region: 100, createdAt: 500_000 }), 'region');
  assert.is(driver({ inRegion: true, region: 500_000, createdAt: 100 }), 'createdAt');
  assert.is(driver({ inRegion: true, region: 500_000, modifiedAt: 100 }), 'modifiedAt');
  assert.is(driver({ createdAt: 100, modifiedAt: 500_000 }), 'createdAt');
  assert.is(driver({ createdAt: 500_000, modifiedAt: 100 }), 'modifiedAt');
  const all = { inRegion: true, region: 300, createdAt: 200_000, modifiedAt: 100_000 };
  assert.is(driver(all), 'region');
  assert.is(driver({ ...all, modifiedAt: 3 }), 'modifiedAt');
});

test('a filter without matches wins over every other', () => {
  assert.is(driver({ inRegion: true, region: 0, createdAt: 10, modifiedAt: 10 }), 'region');
  assert.is(driver({ inRegion: true, region: 10, createdAt: 0, modifiedAt: 10 }), 'createdAt');
  assert.is(driver({ createdAt: MILLION, modifiedAt: 0 }), 'modifiedAt');
});

test('rows in memory order beat scattered ones when hardly any row is left out', () => {
  const wide = { inRegion: true, region: 990_000, createdAt: 990_000, modifiedAt: 990_000 };
  assert.is(driver(wide), 'region');
});

test('a region that was not looked for is never gone through', () => {
  assert.is(driver({ inRegion: true, region: undefined, createdAt: 5 }), 'createdAt');
  assert.is.not(driver({ inRegion: true, region: undefined, createdAt: MILLION }), 'region');
});

test('an empty dataset can be planned for', () => {
  const facts = {
    inRegion: true,
    region: 0,
    createdAt: 0,
    modifiedAt: 0,
    cellRows: undefined,
  };
  assert.ok(['region', 'createdAt', 'modifiedAt'].includes(driver(facts)));
});

test('first pages of many matches are walked to, pages of few matches are selected', () => {
  for (const form of ['runs', 'windows', 'rows'] as const) {
    // rows in a list are told by bits alone
    const walk = form === 'rows' ? 'mark' : 'walk';
    assert.is(chooseAccessPath(100, MILLION, MILLION, form).accessPath, walk);
    assert.is(chooseAccessPath(100, 500_000, MILLION, form).accessPath, walk);
    assert.is(chooseAccessPath(100, 100, MILLION, form).accessPath, 'select');
    assert.is(chooseAccessPath(1, 1, MILLION, form).accessPath, 'select');
  }
});

test('deep pages are walked to by bits, and selected once that passes most of the order', () => {
  for (const form of ['runs', 'windows'] as const) {
    assert.is(chooseAccessPath(100, 50_000, MILLION, form).accessPath, 'walk');
    assert.is(chooseAccessPath(450_000, 900_000, MILLION, form).accessPath, 'mark');
    assert.is(chooseAccessPath(25_000, 50_000, MILLION, form).accessPath, 'select');
  }
  // all of these could lie at the order's far end
  assert.is(chooseAccessPath(100, 10_000, MILLION, 'rows').accessPath, 'select');
  assert.is(chooseAccessPath(100, 300_000, MILLION, 'rows').accessPath, 'mark');
});

test('a walk may pass some times the rows that are expected, but none that cost more than another way', () => {
  assert.is(chooseAccessPath(1, MILLION, MILLION, 'windows').most, 1_008);
  const { accessPath, most } = chooseAccessPath(100, 10_000, MILLION, 'windows');
  assert.is(accessPath, 'walk');
  assert.ok(most > 10_000 && most < 20_000, String(most));
});

test('after a walk that was given up, the way is chosen as if all matches were at the far end', () => {
  for (const form of ['runs', 'windows'] as const) {
    const walked = { hasWalked: true, marking: 30_000 };
    assert.equal(chooseAccessPath(100, 500_000, MILLION, form), {
      accessPath: 'walk',
      most: 2_600,
    });
    assert.equal(chooseAccessPath(100, 500_000, MILLION, form, walked), {
      accessPath: 'mark',
      most: 0,
    });
    assert.is(
      chooseAccessPath(100, 10_000, MILLION, form, { hasWalked: true }).accessPath,
      'select',
    );
  }
  const cells = { cellRows: 2_048, hasWalked: true };
  assert.is(chooseAccessPath(100, 500_000, MILLION, 'windows', cells).accessPath, 'cells');
});

test('the first page of many bits is walked to, on trial where they may lie at the far end', () => {
  assert.equal(chooseAccessPath(100, 90_000, MILLION, 'bits', { marking: 0, listing: 200_000 }), {
    accessPath: 'walk',
    most: 9_896,
  });
  const walked = { marking: 0, listing: 200_000, hasWalked: true };
  assert.is(chooseAccessPath(100, 90_000, MILLION, 'bits', walked).accessPath, 'select');
  assert.is(chooseAccessPath(100, 800_000, MILLION, 'bits', { marking: 0 }).accessPath, 'mark');
});

test('deep pages of a window are found by cells', () => {
  const cells = { cellRows: 2_048, length: 100 };
  assert.is(chooseAccessPath(250_000, 500_000, MILLION, 'windows', cells).accessPath, 'cells');
  assert.is(chooseAccessPath(100, 500_000, MILLION, 'windows', cells).accessPath, 'walk');
});

test('the further the page, the less a walk is worth: the choice goes one way only', () => {
  for (const count of [10, 1_000, 30_000, 400_000]) {
    for (const choose of [
      (end: number) => chooseAccessPath(end, count, MILLION, 'runs').accessPath,
      (end: number) => chooseAccessPath(end, count, MILLION, 'windows').accessPath,
      (end: number) => chooseAccessPath(end, count, MILLION, 'rows').accessPath,
      (end: number) => chooseNearestPath(end, count),
    ]) {
      const ends = Array.from({ length: 20 }, (_, i) => Math.ceil(((i + 1) * count) / 20));
      const steps = ends.map((end) => ['walk', 'mark', 'select'].indexOf(choose(end)));
      assert.equal(steps, steps.toSorted(), `${count} matches`);
    }
  }
});

test('the nearest few of many are searched outwards, the rest measured', () => {
  assert.is(chooseNearestPath(100, 100_000), 'walk');
  assert.is(chooseNearestPath(100, 100), 'select');
  assert.is(chooseNearestPath(100, 1_000), 'select');
  assert.is(chooseNearestPath(100, 2_000), 'walk');
  assert.is(chooseNearestPath(90_000, 100_000), 'select');
  assert.is(chooseNearestPath(20_000, 100_000), 'select');
  assert.is(chooseNearestPath(240_000, MILLION), 'select');
  assert.is(chooseNearestPath(2_000, MILLION), 'walk');
  assert.is(chooseNearestPath(5_000, MILLION), 'select');
  // a search outwards cannot pause, however many there are
  assert.is(chooseNearestPath(2_000, 10 * MILLION), 'walk');
  assert.is(chooseNearestPath(5_000, 10 * MILLION), 'select');
});

const COUNT = 40_000;
const random = new Random(12, 'point');

/** Notes whose times are as `times` says. */
function notesOf(times: (i: number) => readonly [created: number, modified: number]): Note[] {
  return Array.from({ length: COUNT }, (_, i) => {
    const [created, modified] = times(i);
    return {
      id: 1 + ((i * 7_919) % COUNT),
      lon: (i % 360) - 180,
      lat: (i % 170) - 85,
      created,
      modified,
    };
  });
}

/** Cost of a piece. */
const ENGINES: Record<string, Engine> = {
  'times that know nothing of each other': await engineOf(
    notesOf(() => [random.int(1e9), random.int(1e9)]),
  ),
  'times that run against each other': await engineOf(notesOf((i) => [i * 1e6, -i * 1e6])),
  'times that are all equal': await engineOf(notesOf(() => [5, 5])),
  'one time that is all equal': await engineOf(notesOf((i) => [i, 5])),
};
const ORDERINGS: readonly Ordering[] = [
  'id',
  'created_at',
  '-created_at',
  'modified_at',
  '-modified_at',
];

/** Cost of a query, as it is charged, but for its records. */
function costOf(engine: Engine, query: Query, hints: Hints = {}): number {
  const meter = new Meter(1e6);
  const { length } = engine.run(query, hints, undefined, meter)!;
  return meter.cost - length * RECORD;
}

for (const [what, engine] of Object.entries(ENGINES)) {
  test(`${what}: every page of windows is that of a list, and costs little`, () => {
    const { byCreatedAt, byModifiedAt } = engine.dataset;
    const windowOf = (keys: Float64Array, from: number, to: number) => ({
      after: keys[Math.floor(COUNT * from)]!,
      before: keys[Math.min(COUNT - 1, Math.floor(COUNT * to))]!,
    });
    const filters: Filters[] = [];
    for (const [from, to] of [
      [0.1, 0.9],
      [0.3, 0.6],
      [0, 0.5],
      [0.55, 1],
    ] as const) {
      const createdAt = windowOf(byCreatedAt.keys, from, to);
      const modifiedAt = windowOf(byModifiedAt.keys, Math.max(0, to - 0.4), to);
      filters.push({ createdAt }, { modifiedAt }, { createdAt, modifiedAt });
    }
    for (const one of filters) {
      for (const ordering of ORDERINGS) {
        const { count, pageCount } = engine.run({
          filters: one,
          ordering,
          page: 1,
          pageSize: 100,
        })!;
        for (const page of [1, (pageCount + 1) >> 1, pageCount]) {
          const query: Query = { filters: one, ordering, page, pageSize: 100 };
          const pageOf = (hints: Hints): unknown => {
            const answer = engine.run(query, hints)!;
            return [answer.count, idsOf(engine.dataset, answer.rows, answer.length)];
          };
          const label = `${JSON.stringify(query)}, ${count} matches`;
          const driver = one.createdAt ? 'createdAt' : 'modifiedAt';
          assert.equal(pageOf({}), pageOf({ driver, accessPath: 'select' }), label);
          // eleven cells, and a page's share where matches are few
          const isBoth = Object.keys(one).length === 2;
          const most = isBoth && ordering === 'id' ? COUNT * 30 : (12 * 1_024 + 5_000) * 9;
          assert.ok(costOf(engine, query) <= most, `${label}: ${costOf(engine, query)}`);
        }
      }
    }
  });
}

test('a walk by bits meets the matches of a region and a window of another order', () => {
  for (const [what, engine] of Object.entries(ENGINES)) {
    const { keys } = engine.dataset.byModifiedAt;
    const boxes = [{ west: -178, south: -84, east: 178, north: 84 }];
    const modifiedAt = { after: keys[Math.floor(COUNT * 0.55)]!, before: keys[COUNT - 1]! };
    const filters: Filters = { boxes, modifiedAt };
    for (const ordering of ORDERINGS) {
      const first = { filters, ordering, page: 1, pageSize: 100 };
      const { count, pageCount } = engine.run(first)!;
      assert.ok(count > 16_384, `${count}: ${what}`);
      for (const page of [1, 2, pageCount >> 1, pageCount]) {
        const query = { ...first, page };
        const [marked, selected] = (['mark', 'select'] as const).map((accessPath) => {
          const answer = engine.run(query, { accessPath })!;
          return idsOf(engine.dataset, answer.rows, answer.length);
        });
        assert.equal(marked, selected, `${what}: ${ordering}, page ${page}`);
      }
    }
  }
});

test.run();
