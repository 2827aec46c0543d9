// own process: each reader takes 19 MB at once, which makes the collector go over the heap of other tests
import { test } from 'uvu';
import { readDamaged } from '../../support/damaging.js';
import { WRITERS } from '../../support/rows.js';

for (const [name, write] of Object.entries(WRITERS)) {
  test(`${name}: damage is survived or refused, and never more`, () => readDamaged(write, 50));
}

test.run();
