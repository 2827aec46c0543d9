import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killServices } from '../support/service-kills.js';

test('killed services keep what they acknowledged, once', async () => {
  const { acknowledged } = await killServices(7, 5, 3_000);
  assert.ok(acknowledged > 5, `${acknowledged}`);
});

test.run();
