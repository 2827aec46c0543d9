import { test } from 'uvu';
import { killServices } from '../../support/service-kills.js';

test('killed services keep what they acknowledged, once', () =>
  killServices({ seed: 7, times: 2, workers: 2, mostMs: 300 }));

test.run();
