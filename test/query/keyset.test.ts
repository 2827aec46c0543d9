import { Budget } from '../../src/model/budget.js';
import type { Filters } from '../../src/model/query.js';
import type { Engine } from '../../src/query/engine.js';
import { takeKeyset } from '../../src/query/keyset.js';
import { acceptedMatches, deltaOf, engineOf, idsOf, Meter } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, test } from '../support/uvu.js';

const SEED = 31;
const notes = scatterNotes(SEED, 9_000);
const SERVED = 8_700;
const delta = deltaOf(notes.slice(SERVED));

/** All pages, one behind the other, each with the first `lengths` rows of the delta. */
function pages(
  engine: Engine,
  filters: Filters,
  limit: number,
  lengths: number[],
  budget: () => Budget = () => new Budget(),
): number[] {
  const ids: number[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const accepted = acceptedMatches(delta, lengths.shift() ?? notes.length - SERVED, filters);
    const page = takeKeyset(engine, { filters, after, limit }, accepted, budget());
    const { rows, next } = page;
    assert.ok(rows.length === limit || (next === undefined && rows.length < limit));
    ids.push(...idsOf(engine.dataset, rows, rows.length, page.delta));
    if (next !== undefined) assert.is(next, ids.at(-1));
    after = next;
  }
  return ids;
}

test('pages behind an id hold every match once, by id, whatever the filters', async () => {
  const oracle = new Oracle(notes);
  const engine = await engineOf(notes.slice(0, SERVED));
  for (const amount of [1e6, 2_000]) {
    const budget = (): Budget => new Meter(amount);
    for (let index = 0; index < COMBINATIONS; index++) {
      const { filters } = randomQuestion(SEED, index, notes);
      const expected = oracle.find(filters, 'id').notes.map(({ id }) => id);
      const limit = Math.max(1, Math.min(1000, Math.floor(expected.length / (1 + (index % 4)))));
      const label = `seed ${SEED}, question ${index}, limit ${limit}: ${JSON.stringify(filters)}`;
      assert.equal(pages(engine, filters, limit, [], budget), expected, label);
    }
    assert.equal(pages(engine, {}, 1000, [], budget).length, notes.length);
  }
});

test('points that are accepted between two pages neither repeat nor hide others', async () => {
  const engine = await engineOf(notes.slice(0, SERVED));
  const later = new Set(notes.slice(SERVED).map(({ id }) => id));
  const ids = pages(engine, {}, 997, [0, 0, 1, 20, 100, 299, 300]);
  assert.equal(
    ids.filter((id) => !later.has(id)),
    notes
      .slice(0, SERVED)
      .map(({ id }) => id)
      .sort((a, b) => a - b),
  );
  assert.equal(
    ids,
    ids.toSorted((a, b) => a - b),
  );
  assert.is(new Set(ids).size, ids.length);
});

test('there is one page of nothing', async () => {
  const engine = await engineOf([]);
  assert.equal(pages(engine, {}, 10, [0]), []);
  const one = await engineOf(notes.slice(0, 1));
  const page = takeKeyset(one, { filters: {}, after: 0, limit: 1 }, undefined);
  assert.equal([page.count, page.rows.length, page.next], [1, 1, undefined]);
});

test.run();
