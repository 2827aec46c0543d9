import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reloadWhilePosting } from '../support/reload-posts.js';

test('reloads of each kind while points are posted lose and double nothing', async () => {
  const moved = await reloadWhilePosting(3, 4);
  assert.ok(moved > 0, 'some points had to move');
});

test.run();
