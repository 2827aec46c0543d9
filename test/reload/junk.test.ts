import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeFolder } from '../support/folder.js';
import { countOf, markedLines } from '../support/marked.js';
import { startReloading } from '../support/reloading.js';

const JUNK = 20;
const SETTLE_MS = 2_000;

test('many newer files that are none delay a good one by hardly more than one settling', async () => {
  const folder = makeFolder();
  const age = (name: string, seconds: number): void =>
    utimesSync(join(folder, name), seconds, seconds);
  writeFileSync(join(folder, 'first'), markedLines(1));
  age('first', 1_000);
  const { look, builds, served, current, outcomes } = await startReloading(folder, {
    settleMs: SETTLE_MS,
  });
  writeFileSync(join(folder, 'good'), markedLines(2));
  age('good', 2_000);
  for (let i = 0; i < JUNK; i++) {
    writeFileSync(join(folder, `junk-${i}`), `garbage ${i}\n`);
    age(`junk-${i}`, 3_000 + i);
  }
  const started = performance.now();
  await look();
  const seconds = (performance.now() - started) / 1000;
  assert.equal(served(), [2, countOf(2)]);
  assert.match(current.stale!.reason, `junk-${JUNK - 1}`);
  // waited for one after the other they take 40 s and what their builds take
  assert.ok(seconds < (JUNK * SETTLE_MS) / 1000, `${seconds} s`);
  assert.is(builds.begun, JUNK + 2);

  writeFileSync(join(folder, 'junk-more'), 'garbage\n');
  await look();
  assert.is(builds.begun, JUNK + 3, 'those that were refused are not tried again');
  assert.is(outcomes.filter((one) => one === 'failed').length, JUNK + 1);
});

test.run();
