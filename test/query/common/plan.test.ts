import type { Filters, Ordering, Query } from '../../../src/model/query.js';
import {
  type Choice,
  chooseAccessPath,
  chooseDriver,
  chooseNearestPath,
  type Facts,
  type PathFacts,
} from '../../../src/query/common/plan.js';
import { Engine, type Hints, RECORD } from '../../../src/query/engine.js';
import { idsOf, Meter } from '../../support/engine.js';
import { hostileDataset, type Times } from '../../support/hostile-data.js';
import { assert, table, test } from '../../support/uvu.js';

const MILLION = 1_000_000;

test('the filter with fewer rows is gone through, and one without matches wins over every other', () => {
  const all = { region: 300, createdAt: 200_000, modifiedAt: 100_000 };
  const cases: [rows: Partial<Facts>, driver: string][] = [
    [{ region: 100, createdAt: 500_000 }, 'region'],
    [{ region: 500_000, createdAt: 100 }, 'createdAt'],
    [{ region: 500_000, modifiedAt: 100 }, 'modifiedAt'],
    [{ inRegion: false, createdAt: 100, modifiedAt: 500_000 }, 'createdAt'],
    [{ inRegion: false, createdAt: 500_000, modifiedAt: 100 }, 'modifiedAt'],
    [all, 'region'],
    [{ ...all, modifiedAt: 3 }, 'modifiedAt'],
    [{ region: 0, createdAt: 10, modifiedAt: 10 }, 'region'],
    [{ region: 10, createdAt: 0, modifiedAt: 10 }, 'createdAt'],
    [{ inRegion: false, createdAt: MILLION, modifiedAt: 0 }, 'modifiedAt'],
    // rows in memory order beat scattered ones when hardly any row is left out
    [{ region: 990_000, createdAt: 990_000, modifiedAt: 990_000 }, 'region'],
    // a region that was not looked for is never gone through
    [{ createdAt: 5 }, 'createdAt'],
    [{ createdAt: MILLION }, 'createdAt'],
    // an empty dataset can be planned for
    [{ region: 0, createdAt: 0, modifiedAt: 0 }, 'region'],
  ];
  const none = { inRegion: true, region: undefined, createdAt: undefined, modifiedAt: undefined };
  for (const [rows, driver] of cases) {
    const facts = { ...none, cellRows: undefined, ...rows };
    assert.is(chooseDriver(facts), driver, JSON.stringify(rows));
  }
});

type Form = Parameters<typeof chooseAccessPath>[3];

function choosePath(end: number, count: number, form: Form, given?: Partial<PathFacts>): Choice {
  const others = { marking: 2 * count, cellRows: undefined, hasWalked: false };
  const facts = { length: end, tests: 1, listing: 0, ...others, ...given };
  return chooseAccessPath(end, count, MILLION, form, facts);
}

test('first pages of many matches are walked to, deep pages and those of few are not', () => {
  const bits = { marking: 0, listing: 200_000 };
  const cells = { cellRows: 2_048, length: 100 };
  const hasWalked = true;
  const cases: [
    end: number,
    count: number,
    forms: string,
    path: string,
    given?: Partial<PathFacts>,
  ][] = [
    [100, MILLION, 'runs windows', 'walk'],
    [100, 500_000, 'runs windows', 'walk'],
    // only marking tells whether a row is in a list
    [100, MILLION, 'rows', 'mark'],
    [100, 500_000, 'rows', 'mark'],
    [100, 100, 'runs windows rows', 'select'],
    [1, 1, 'runs windows rows', 'select'],
    // deep pages by bits, and selected once that passes most of the order
    [100, 50_000, 'runs windows', 'walk'],
    [450_000, 900_000, 'runs windows', 'mark'],
    [25_000, 50_000, 'runs windows', 'select'],
    // all matches could lie at the order's far end
    [100, 10_000, 'rows', 'select'],
    [100, 300_000, 'rows', 'mark'],
    // after a walk that was given up, as if all matches were there
    [100, 500_000, 'runs windows', 'mark 0', { hasWalked, marking: 30_000 }],
    [100, 10_000, 'runs windows', 'select', { hasWalked }],
    [100, 500_000, 'windows', 'cells', { cellRows: 2_048, hasWalked }],
    // the first page of many bits, on trial where they may lie there
    [100, 90_000, 'bits', 'walk 9896', bits],
    [100, 90_000, 'bits', 'select', { ...bits, hasWalked }],
    [100, 800_000, 'bits', 'mark', { marking: 0 }],
    [250_000, 500_000, 'windows', 'cells', cells],
    [100, 500_000, 'windows', 'walk', cells],
    // a walk may pass some times the rows that are expected
    [100, 500_000, 'runs windows', 'walk 2600'],
    [1, MILLION, 'windows', 'walk 1008'],
  ];
  for (const [end, count, forms, expected, given] of cases) {
    for (const form of forms.split(' ') as Form[]) {
      const { accessPath, most } = choosePath(end, count, form, given);
      const found = expected.includes(' ') ? `${accessPath} ${most}` : accessPath;
      assert.is(found, expected, `${end} of ${count}, ${form}, ${JSON.stringify(given)}`);
    }
  }
  // but no walk costs more than another way
  const { accessPath, most } = choosePath(100, 10_000, 'windows');
  assert.is(accessPath, 'walk');
  assert.ok(most > 10_000 && most < 20_000, String(most));
});

test('the further the page, the less a walk is worth: the choice goes one way only', () => {
  for (const count of [10, 1_000, 30_000, 400_000]) {
    for (const choose of [
      (end: number) => choosePath(end, count, 'runs').accessPath,
      (end: number) => choosePath(end, count, 'windows').accessPath,
      (end: number) => choosePath(end, count, 'rows').accessPath,
      (end: number) => chooseNearestPath(end, count),
    ]) {
      const ends = Array.from({ length: 20 }, (_, i) => Math.ceil(((i + 1) * count) / 20));
      const steps = ends.map((end) => ['walk', 'mark', 'select'].indexOf(choose(end)));
      assert.equal(steps, steps.toSorted(), `${count} matches`);
    }
  }
});

test('the nearest few of many are searched outwards, the rest measured', () => {
  // a search outwards cannot pause, however many there are
  for (const [end, count, path] of table(`
    1e2 1e5 walk   | 1e2 1e2 select | 1e2 1e3 select | 1e2 2e3 walk | 9e4 1e5 select
    2e4 1e5 select | 24e4 1e6 select | 2e3 1e6 walk | 5e3 1e6 select | 2e3 1e7 walk
    5e3 1e7 select`)) {
    assert.is(chooseNearestPath(Number(end), Number(count)), path, `${end} of ${count}`);
  }
});

const COUNT = 24_000;
const coords = Float64Array.from({ length: 2 * COUNT }, (_, at) => {
  const i = at >> 1;
  return at % 2 === 0 ? (i % 360) - 180 : (i % 170) - 85;
});
const engineWith = async (times?: Times): Promise<Engine> =>
  new Engine(await hostileDataset(coords, times));
const ENGINES: Record<string, Engine> = {
  'times that know nothing of each other': await engineWith(),
  'times that run against each other': await engineWith((i) => [i, -i]),
  'times that are all equal': await engineWith(() => [5, 5]),
  'one time that is all equal': await engineWith((i) => [i, 5]),
};
const TIMES: readonly Ordering[] = ['created_at', '-created_at', 'modified_at', '-modified_at'];
const ORDERINGS: readonly Ordering[] = ['id', ...TIMES];

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
    const windows = table('0.1 0.9 | 0.3 0.6 | 0 0.5 | 0.55 1');
    for (const [from = 0, to = 0] of windows.map((row) => row.map(Number))) {
      const createdAt = windowOf(byCreatedAt.keys, from, to);
      const modifiedAt = windowOf(byModifiedAt.keys, Math.max(0, to - 0.4), to);
      filters.push({ createdAt }, { modifiedAt }, { createdAt, modifiedAt });
    }
    for (const one of filters) {
      for (const ordering of ORDERINGS) {
        const first: Query = { filters: one, ordering, page: 1, pageSize: 100 };
        const { count, pageCount } = engine.run(first)!;
        for (const page of [1, (pageCount + 1) >> 1, pageCount]) {
          const query = { ...first, page };
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

test.run();
