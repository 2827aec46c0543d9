import { Budget, EXCEEDED, inStretches } from '../../src/model/budget.js';
import type { Filters, Query } from '../../src/model/query.js';
import { bitOf } from '../../src/query/common/marks.js';
import { listRows, markMatches } from '../../src/query/common/matches.js';
import {
  type Engine,
  type Hints,
  type PageRows,
  takeKeyset,
  type Use,
} from '../../src/query/engine.js';
import { everyHint } from '../support/compare.js';
import { acceptedMatches, deltaOf, engineOf, idsOf, Meter } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, IS_SOAK, pluck, test } from '../support/uvu.js';

const BUDGET_SEED = 4711;
/** So little that every query of some hundred rows uses it up. */
const LITTLE = 500;

const few = scatterNotes(BUDGET_SEED, 5_000);
const engineOfFew = await engineOf(few);
const heavy: Query = {
  filters: {
    createdAt: { after: -1e15, before: 1.6e15 },
    modifiedAt: { after: 0, before: 1.7e15 },
  },
  ordering: '-modified_at',
  page: 2,
  pageSize: 100,
};

/** The answer without what it took, its rows copied: the next query uses their memory again. */
function plain(answer: PageRows | undefined): unknown {
  const rows = answer && [...answer.rows.subarray(0, answer.length)];
  return answer && { ...answer, rows, work: undefined };
}

function run(asked: Engine, query: Query, hints?: Hints, budget?: Budget): unknown {
  return plain(asked.run(query, hints, undefined, budget));
}

test('the shortest stretches of work give the same page, whichever way', () => {
  let renewed = 0;
  for (let index = 0; index < (IS_SOAK ? 2 : 1) * COMBINATIONS; index++) {
    const { filters, ordering, pageOf } = randomQuestion(BUDGET_SEED, index, few);
    const count = engineOfFew.run({ filters, ordering, page: 1, pageSize: 1 })!.count;
    const query = { filters, ordering, ...pageOf(count) };
    const expected = run(engineOfFew, query);
    for (const hints of [{}, ...everyHint(filters)]) {
      const meter = new Meter(LITTLE);
      const answer = run(engineOfFew, query, hints, meter);
      if (meter.renewals > 1) renewed++;
      const label = `seed ${BUDGET_SEED}, question ${index}: ${JSON.stringify(query)}, ${JSON.stringify(hints)}`;
      assert.equal(answer, expected, label);
    }
  }
  assert.ok(renewed > (IS_SOAK ? 500 : 250), `only ${renewed} took more than one budget`);
});

test('a query that exceeds its budget leaves nothing to the next, wherever it is given up', () => {
  const ways = ['walk', 'mark', 'select'] as const;
  const wanted = run(engineOfFew, heavy);
  let givenUp = 0;
  for (const accessPath of ways) {
    const whole = new Meter(LITTLE);
    run(engineOfFew, heavy, { accessPath }, whole);
    for (let amount = LITTLE; amount < whole.cost; amount += whole.cost / 40) {
      // begins also what is expected to cost more
      const budget = new Budget(amount);
      budget.expect = () => {};
      try {
        run(engineOfFew, heavy, { accessPath }, budget);
      } catch (error) {
        assert.is(error, EXCEEDED);
        givenUp++;
      }
      for (const other of ways) {
        const label = `${accessPath}, ${amount} of ${whole.cost}, then ${other}`;
        assert.equal(run(engineOfFew, heavy, { accessPath: other }), wanted, label);
      }
    }
  }
  assert.ok(givenUp > 60, `${givenUp} were given up`);
});

/** The ids of the marked rows, ascending. */
const markedIds: Use<number[]> = (matches, scratch) => {
  const { dataset } = engineOfFew;
  const bits = markMatches(dataset, scratch, matches);
  const rows = dataset.byId.rows.filter((row) => bitOf(bits, row) === 1);
  assert.is(rows.length, matches.count);
  return idsOf(dataset, rows, rows.length);
};

test('each match is marked, whatever is gone through, and however short the stretches are', () => {
  const counted = new Oracle(few);
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters } = randomQuestion(BUDGET_SEED, index, few);
    const expected = pluck(counted.find(filters, 'id').notes, 'id');
    for (const hints of everyHint(filters).filter(({ accessPath }) => accessPath === 'walk')) {
      const label = `seed ${BUDGET_SEED}, question ${index}, ${hints.driver}: ${JSON.stringify(filters)}`;
      for (const budget of [undefined, new Meter(LITTLE)]) {
        assert.equal(engineOfFew.collect(filters, markedIds, hints, budget), expected, label);
      }
    }
  }
  assert.is(engineOfFew.collect({}, markedIds).length, few.length);
});

test('a use of matches that throws leaves nothing to the next query', () => {
  const stop: Use<void> = (matches, scratch) => {
    markMatches(engineOfFew.dataset, scratch, matches);
    throw new RangeError('enough');
  };
  const wanted = run(engineOfFew, heavy);
  assert.throws(() => engineOfFew.collect(heavy.filters, stop), 'enough');
  assert.equal(run(engineOfFew, heavy, { accessPath: 'mark' }), wanted);
});

test('work that costs more than is left is not begun', () => {
  const budget = new Budget(1_000);
  let done = 0;
  const work = (from: number, to: number): void => {
    done += to - from;
  };
  inStretches(budget, 0, 90, 10, work);
  assert.is(done, 90);
  const isExceeded = (error: unknown): boolean => error === EXCEEDED;
  assert.throws(() => inStretches(budget, 0, 11, 10, work), isExceeded);
  assert.is(done, 90);
  inStretches(budget, 0, 10, 10, work);
  assert.throws(() => budget.charge(1), isExceeded);

  const listing: Use<void> = (matches, scratch) => {
    scratch.rows.fill(-1);
    const some = { ...scratch, budget: new Budget(1_000) };
    assert.throws(() => listRows(some, matches), isExceeded);
    assert.is(scratch.rows[0], -1);
  };
  engineOfFew.collect({ createdAt: heavy.filters.createdAt }, listing);
});

const KEYSET_SEED = 31;
const mixed = scatterNotes(KEYSET_SEED, 4_500);
const SERVED = 4_200;
const delta = deltaOf(mixed.slice(SERVED));

/** The ids of all pages, each with accepted points, one page behind the other. */
function pages(engine: Engine, filters: Filters, limit: number, amount: number): number[] {
  const ids: number[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const accepted = acceptedMatches(delta, mixed.length - SERVED, filters);
    const page = takeKeyset(engine, { filters, after, limit }, accepted, new Meter(amount));
    const { rows, next } = page;
    assert.ok(rows.length === limit || (next === undefined && rows.length < limit));
    ids.push(...idsOf(engine.dataset, rows, rows.length, page.delta));
    if (next !== undefined) assert.is(next, ids.at(-1));
    after = next;
  }
  return ids;
}

test('pages behind an id hold every match once, by id, whatever the filters', async () => {
  const oracle = new Oracle(mixed);
  const engine = await engineOf(mixed.slice(0, SERVED));
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters } = index === 0 ? { filters: {} } : randomQuestion(KEYSET_SEED, index, mixed);
    const expected = pluck(oracle.find(filters, 'id').notes, 'id');
    const limit = Math.max(1, Math.min(1000, Math.floor(expected.length / (1 + (index % 4)))));
    const label = `seed ${KEYSET_SEED}, question ${index}, limit ${limit}: ${JSON.stringify(filters)}`;
    for (const amount of [1e6, 2_000]) {
      assert.equal(pages(engine, filters, limit, amount), expected, label);
    }
  }
});

test('there is one page of nothing, and of one point', async () => {
  for (const count of [0, 1]) {
    const engine = await engineOf(mixed.slice(0, count));
    const page = takeKeyset(engine, { filters: {}, after: 0, limit: 1 }, undefined);
    assert.equal([page.count, page.rows.length, page.next], [count, count, undefined]);
  }
});

test.run();
