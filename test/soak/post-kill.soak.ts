import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killServices } from '../support/service-kills.js';

for (const workers of [1, 2]) {
  test(`100 killed services of ${workers} workers keep what they acknowledged, once`, async () => {
    await killServices({ seed: workers, times: 100, workers, mostMs: 700 });
  });
}

/** How often, and how long at most it takes until there is something to kill. */
const AIMED = [
  { aim: 'compact', times: 30, mostMs: 20_000, least: 20 },
  { aim: 'fold', times: 70, mostMs: 10_000, least: 40 },
] as const;

for (const { aim, times, mostMs, least } of AIMED) {
  test(`${times} services that are killed at the beginning of a ${aim} keep it, too`, async () => {
    const met = await killServices({ seed: 3, times, workers: 2, mostMs, aim });
    assert.ok(met >= least, `${met} of ${times} kills met one`);
  });
}

test.run();
