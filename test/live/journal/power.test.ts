import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cutPower } from '../../support/power-cuts.js';

test('what was acknowledged is there after a power cut at any moment', async () => {
  assert.ok((await cutPower(1, 6, 3)) > 100);
});

test.run();
