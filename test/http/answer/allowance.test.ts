import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createAllowance } from '../../../src/http/answer/pipeline.js';
import { AT_ONCE, EXCEEDED } from '../../../src/model/budget.js';

/** What the next question may cost at once; it costs that. */
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

test('the first questions of a turn may cost a millisecond, the others what a small one does', async () => {
  const allow = createAllowance();
  for (let i = 0; i < 2; i++) {
    const each = Array.from({ length: 10 }, () => spend(allow));
    assert.equal(each.slice(0, 2).map(Math.round), [1, 1]);
    for (const one of each.slice(2)) assert.ok(Math.abs(one - 0.25) < 0.02, String(one));
    await turn();
  }
});

test('questions that cost little leave the others theirs', () => {
  const allow = createAllowance();
  for (let i = 0; i < 90; i++) allow().charge(AT_ONCE / 100);
  assert.is(Math.round(spend(allow)), 1);
});

test.run();
