import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { acceptUnderQuestions } from '../support/accepting.js';

for (let seed = 1; seed <= 6; seed++) {
  test(`seed ${seed}: 8,000 answers while points are posted, folded in and reloaded`, async () => {
    const done = await acceptUnderQuestions(seed, 400, 20);
    assert.ok(done.folds > 10 && done.reloads > 10 && done.moved > 3, JSON.stringify(done));
  });
}

test.run();
