import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killServices } from '../support/service-kills.js';

test('killed services keep what they acknowledged, once, also while points are merged', async () => {
  await killServices({ seed: 7, times: 1, workers: 2, mostMs: 300 });
  const met = await killServices({
    seed: 8,
    times: 1,
    workers: 2,
    mostMs: 120_000,
    aim: 'fold',
  });
  assert.is(met, 1);
});

test.run();
