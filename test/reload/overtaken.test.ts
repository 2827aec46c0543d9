import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { countOf, firstFile, markedLines, replaceFile } from '../support/marked.js';
import { startReloading } from '../support/reloading.js';
import { until } from '../support/wait.js';

test('a file that is written to while it is built is built again', async () => {
  const path = firstFile();
  let builds = 0;
  const { reloader, look, current, served, outcomes } = await startReloading(path, {
    async build(real, ...task) {
      if (++builds === 2) await until('it is written to', () => isWritten);
      return real(...task);
    },
  });
  let isWritten = false;
  replaceFile(path, markedLines(2));
  reloader.look();
  await until('it builds', () => current.building !== undefined);
  assert.is(current.building!.path, path);
  const line = markedLines(2).toString().split('\n')[0]!;
  appendFileSync(path, `${line.replace('"id":1,', '"id":999999,')}\n`);
  isWritten = true;
  await look();
  assert.equal(served(), [2, countOf(2) + 1]);
  assert.equal(outcomes, ['loaded', 'abandoned', 'loaded']);
  assert.is(current.building, undefined);
});

test('files that come faster than they can be built do not keep all of them away', async () => {
  const path = firstFile();
  let builds = 0;
  const { reloader, served, outcomes } = await startReloading(path, {
    async build(real, ...task) {
      const result = await real(...task);
      // longer than it takes for the next file to come, and to hold still
      if (++builds > 1) await delay(400);
      return result;
    },
  });
  let mark = 1;
  const timer = setInterval(() => {
    replaceFile(path, markedLines(++mark));
    reloader.look();
  }, 150);
  try {
    await until('one of them is served', () => served()[0] > 1 && outcomes.at(-1) === 'loaded');
  } finally {
    clearInterval(timer);
  }
});

test.run();
