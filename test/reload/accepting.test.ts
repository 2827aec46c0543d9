import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { acceptUnderQuestions } from '../support/accepting.js';

// test/soak/reloads.soak.ts does so for longer
test('while points are posted, merged and reloaded, answers are those of a plain list', async () => {
  const done = await acceptUnderQuestions(1, 80, 8);
  assert.ok(done.merges > 1 && done.reloads > 3 && done.moved > 0, JSON.stringify(done));
  assert.ok(done.renewed > 10, JSON.stringify(done));
});

test.run();
