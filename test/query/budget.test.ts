import { Budget, EXCEEDED, inStretches } from '../../src/model/budget.js';
import type { Query } from '../../src/model/query.js';
import type { Engine, Hints, PageRows } from '../../src/query/engine.js';
import { everyHint } from '../support/compare.js';
import { engineOf, Meter } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, test } from '../support/uvu.js';

const SEED = 4711;
/** So little that every query of some hundred rows uses it up. */
const LITTLE = 500;

const notes = scatterNotes(SEED, 5_000);
const engine = await engineOf(notes);
const heavy: Query = {
  filters: {
    createdAt: { after: -1e15, before: 1.6e15 },
    modifiedAt: { after: 0, before: 1.7e15 },
  },
  ordering: '-modified_at',
  page: 2,
  pageSize: 100,
};

/**
 * The answer without its rows' memory, which the next query uses again, and without what it took.
 */
function plain(answer: PageRows | undefined): unknown {
  const rows = answer && [...answer.rows.subarray(0, answer.length)];
  return answer && { ...answer, rows, effort: undefined };
}

function run(asked: Engine, query: Query, hints?: Hints, budget?: Budget): unknown {
  return plain(asked.run(query, hints, undefined, budget));
}

test('the shortest stretches of work give the same page, whichever way', () => {
  let renewed = 0;
  for (let index = 0; index < 4 * COMBINATIONS; index++) {
    const { filters, ordering, pageOf } = randomQuestion(SEED, index, notes);
    const count = engine.run({ filters, ordering, page: 1, pageSize: 1 })!.count;
    const query = { filters, ordering, ...pageOf(count) };
    const expected = run(engine, query);
    for (const hints of [{}, ...everyHint(filters)]) {
      const meter = new Meter(LITTLE);
      const answer = run(engine, query, hints, meter);
      if (meter.renewals > 1) renewed++;
      const label = `seed ${SEED}, question ${index}: ${JSON.stringify(query)}, ${JSON.stringify(hints)}`;
      assert.equal(answer, expected, label);
    }
  }
  assert.ok(renewed > 1_000, `only ${renewed} took more than one budget`);
});

test('a query that exceeds its budget leaves nothing to the next, wherever it is given up', () => {
  const ways = ['walk', 'mark', 'select'] as const;
  const wanted = run(engine, heavy);
  let givenUp = 0;
  for (const accessPath of ways) {
    const whole = new Meter(LITTLE);
    run(engine, heavy, { accessPath }, whole);
    for (let amount = LITTLE; amount < whole.cost; amount += whole.cost / 40) {
      // what is expected to cost more is begun nevertheless
      const budget = new Budget(amount);
      budget.expect = () => {};
      try {
        run(engine, heavy, { accessPath }, budget);
      } catch (error) {
        assert.is(error, EXCEEDED);
        givenUp++;
      }
      for (const other of ways) {
        const label = `${accessPath}, ${amount} of ${whole.cost}, then ${other}`;
        assert.equal(run(engine, heavy, { accessPath: other }), wanted, label);
      }
    }
  }
  assert.ok(givenUp > 60, `${givenUp} were given up`);
});

test('what costs more than is left is not begun', () => {
  const budget = new Budget(1_000);
  let done = 0;
  const work = (from: number, to: number): void => {
    done += to - from;
  };
  inStretches(budget, 0, 90, 10, work);
  assert.is(done, 90);
  assert.throws(
    () => inStretches(budget, 0, 11, 10, work),
    (error: unknown) => error === EXCEEDED,
  );
  assert.is(done, 90);
  inStretches(budget, 0, 10, 10, work);
  assert.throws(
    () => budget.charge(1),
    (error: unknown) => error === EXCEEDED,
  );
});

test.run();
