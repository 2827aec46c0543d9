import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { acceptUnderQuestions } from '../support/accepting.js';
import { reloadWhilePosting } from '../support/reload-posts.js';
import { swapUnderLoad } from '../support/swapping.js';

for (let seed = 1; seed <= 6; seed++) {
  test(`seed ${seed}: 8,000 answers while points are posted, merged and reloaded`, async () => {
    const done = await acceptUnderQuestions(seed, 400, 20);
    assert.ok(done.merges > 10 && done.reloads > 10 && done.moved > 3, JSON.stringify(done));
  });
}

for (const seed of [1, 2]) {
  test(`seed ${seed}: 50 reloads while points are posted lose and double nothing`, async () => {
    const moved = await reloadWhilePosting(seed, 50);
    assert.ok(moved > 50, `${moved} points moved`);
  });
}

test('under load, 57 snapshots are swapped in every way and nobody notices', () =>
  swapUnderLoad(6, 3));

test.run();
