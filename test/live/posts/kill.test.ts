import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killServices } from '../../support/service-kills.js';

test('killed services keep what they acknowledged, once, also while the journal is written anew', async () => {
  await killServices({ seed: 7, times: 1, workers: 2, mostMs: 300 });
  const met = await killServices({
    seed: 8,
    times: 1,
    workers: 2,
    mostMs: 120_000,
    aim: 'rewrite',
  });
  assert.is(met, 1);
});

test.run();
