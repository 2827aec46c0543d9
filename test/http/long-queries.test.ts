import { setImmediate as turn } from 'node:timers/promises';
import { createAllowance } from '../../src/http/answer/pipeline.js';
import { AT_ONCE, EXCEEDED } from '../../src/model/budget.js';
import { Engine } from '../../src/query/engine.js';
import { startApp } from '../support/app.js';
import { type Envelope, LIST } from '../support/client.js';
import { generationOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { assert, test } from '../support/uvu.js';

const SPAN = 'after=1980-01-01T00:00:00Z';
const LONG = `${LIST}?created_at_${SPAN}&modified_at_${SPAN}&page_size=7`;
// a slice of an order, which costs nothing
const QUICK = `${LIST}?page_size=3&ordering=created_at`;

const whole = await generationOf(scatterNotes(17, 3_000));

/** What the service did, in order. */
const events: string[] = [];

class Watched extends Engine {
  override run(...given: Parameters<Engine['run']>): ReturnType<Engine['run']> {
    const [query, , , budget] = given;
    try {
      // makes LONG, but not QUICK, exceed its budget
      if (query.filters.createdAt !== undefined) budget!.expect(Number.MAX_VALUE);
    } catch (error) {
      events.push('given up');
      throw error;
    }
    if (query.filters.createdAt !== undefined) events.push('worked');
    return super.run(...given);
  }
}

/** A service whose long questions exceed their first budget. */
const { get } = await startApp({
  generation: { ...whole, engine: new Watched(whole.engine.dataset) },
});

test('other requests are answered before a long query begins', async () => {
  const long = get(LONG);
  const quick = await Promise.all(Array.from({ length: 20 }, () => get(QUICK)));
  for (const { status } of quick) assert.is(status, 200);
  const { status, json } = await long;
  assert.is(status, 200);
  const { count, results } = json<Envelope>();
  assert.is(results.length, 7);
  assert.ok(count > 1_000, `${count} matches`);
  assert.equal(events, ['given up', 'worked']);
});

/** Uses up the next question's budget; returns it as a fraction of `AT_ONCE`. */
function spend(allow: ReturnType<typeof createAllowance>): number {
  const budget = allow();
  let spent = 0;
  try {
    for (; ; spent += AT_ONCE / 100) budget.charge(AT_ONCE / 100);
  } catch (error) {
    assert.is(error, EXCEEDED);
  }
  return spent / AT_ONCE;
}

test('the first two questions of a turn may cost `AT_ONCE` each, the others a quarter', async () => {
  const allow = createAllowance();
  for (let i = 0; i < 2; i++) {
    const each = Array.from({ length: 10 }, () => spend(allow));
    assert.equal(each.slice(0, 2).map(Math.round), [1, 1]);
    for (const one of each.slice(2)) assert.ok(Math.abs(one - 0.25) < 0.02, String(one));
    await turn();
  }
});

test('cheap questions leave their budget to others', () => {
  const allow = createAllowance();
  for (let i = 0; i < 90; i++) allow().charge(AT_ONCE / 100);
  assert.is(Math.round(spend(allow)), 1);
});

test.run();
