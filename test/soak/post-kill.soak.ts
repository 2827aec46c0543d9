import { test } from 'uvu';
import { killServices } from '../support/service-kills.js';

for (const workers of [1, 2]) {
  test(`100 killed services of ${workers} workers keep what they acknowledged, once`, () =>
    killServices({ seed: workers, times: 100, workers, mostMs: 700 }));
}

test.run();
