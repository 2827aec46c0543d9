import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reloadWhilePosting } from '../support/reload-posts.js';

for (const seed of [1, 2]) {
  test(`seed ${seed}: 50 reloads while points are posted lose and double nothing`, async () => {
    const moved = await reloadWhilePosting(seed, 50);
    assert.ok(moved > 50, `${moved} points moved`);
  });
}

test.run();
