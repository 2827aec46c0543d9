import { Random } from '../../../src/cli/generate/random.js';
import type { Filters, Ordering, Query } from '../../../src/model/query.js';
import { type Engine, type Hints, RECORD } from '../../../src/query/engine.js';
import { engineOf, idsOf, Meter } from '../../support/engine.js';
import type { Note } from '../../support/notes.js';
import { assert, test } from '../../support/uvu.js';

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
          assert.equal(pageOf({}), pageOf({ driver: 'all', accessPath: 'select' }), label);
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
