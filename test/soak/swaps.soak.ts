import { test } from 'uvu';
import { swapUnderLoad } from '../support/swapping.js';

test('under load, 57 snapshots are swapped in every way and nobody notices', () =>
  swapUnderLoad(6, 3));

test.run();
