import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cutPower } from '../support/power-cuts.js';

test('what was acknowledged is there after a power cut at any moment', async () => {
  let cuts = 0;
  for (let seed = 1; seed <= 20; seed++) cuts += await cutPower(seed, 40, 5);
  assert.ok(cuts > 15_000, `${cuts} cuts`);
});

test.run();
