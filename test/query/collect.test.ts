import { bitOf } from '../../src/query/common/marks.js';
import { markMatches } from '../../src/query/common/matches.js';
import type { Use } from '../../src/query/engine.js';
import { everyHint } from '../support/compare.js';
import { engineOf, idsOf, Meter } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, rounds, test } from '../support/uvu.js';

const SEED = 515;
/** A budget so small that matches take many. */
const LITTLE = 5_000;
const ALWAYS = { after: -1e16, before: 1e16 };
const notes = scatterNotes(SEED, rounds(80_000));
const oracle = new Oracle(notes);
const engine = await engineOf(notes);
const { dataset } = engine;

/** The ids of the marked rows, ascending. */
const markedIds: Use<number[]> = (matches, scratch) => {
  const bits = markMatches(dataset, scratch, matches);
  const rows = dataset.byId.rows.filter((row) => bitOf(bits, row) === 1);
  assert.is(rows.length, matches.count);
  return idsOf(dataset, rows, rows.length);
};

test('each match is marked, whatever is gone through, and however short the stretches are', () => {
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters } = randomQuestion(SEED, index, notes);
    const expected = oracle.find(filters, 'id').notes.map(({ id }) => id);
    for (const hints of everyHint(filters).filter(({ accessPath }) => accessPath === 'walk')) {
      const label = `seed ${SEED}, question ${index}, ${hints.driver}: ${JSON.stringify(filters)}`;
      assert.equal(engine.collect(filters, markedIds, hints), expected, label);
      assert.equal(engine.collect(filters, markedIds, hints, new Meter(LITTLE)), expected, label);
    }
  }
  assert.is(engine.collect({}, markedIds).length, notes.length);
});

test('what throws leaves nothing to the next query', () => {
  const filters = { createdAt: { after: -1e16, before: 1.6e15 }, modifiedAt: ALWAYS };
  const query = { filters, ordering: 'modified_at', page: 2, pageSize: 10 } as const;
  const stop: Use<void> = (matches, scratch) => {
    markMatches(dataset, scratch, matches);
    throw new RangeError('enough');
  };
  assert.throws(() => engine.collect(filters, stop), 'enough');
  const { count } = engine.run(query, { accessPath: 'mark' })!;
  assert.is(count, oracle.find(filters, 'id').notes.length);
});

test.run();
