import { test } from 'uvu';
import { swapUnderLoad } from '../../support/swapping.js';

// test/soak/swaps.soak.ts does so for longer
test('under load, snapshots are swapped in every way and nobody notices', () =>
  swapUnderLoad(1, 1, 5));

test.run();
