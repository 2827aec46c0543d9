import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeFolder } from '../support/folder.js';
import { countOf, firstFile, markedLines, replaceFile } from '../support/marked.js';
import { notification } from '../support/native.js';
import { startReloading } from '../support/reloading.js';

test('notifications are looked at with the snapshot', async () => {
  const path = firstFile();
  const companion = join(makeFolder(), 'notifications.ndjson');
  writeFileSync(companion, `${JSON.stringify(notification(1))}\n`);
  const { look, current, outcomes, builds } = await startReloading(path, { companion });
  const unseen = (): number => current.generation.unseen.get(7)?.length ?? 0;
  assert.is(unseen(), 1);
  appendFileSync(companion, `${JSON.stringify(notification(3))}\n`);
  await look();
  assert.is(unseen(), 2);

  writeFileSync(companion, 'garbage\n');
  for (let looks = 0; looks < 3; looks++) await look();
  assert.is(unseen(), 2);
  assert.match(current.stale!.reason, companion);
  assert.equal(outcomes, ['loaded', 'loaded', 'failed'], 'tried once');
  assert.is(builds.begun, 3);
  writeFileSync(companion, JSON.stringify(notification(2)));
  await look();
  assert.is(current.stale, undefined);
  assert.is(unseen(), 0);
});

test('of a folder the newest whole file is served', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'a'), markedLines(1));
  utimesSync(join(folder, 'a'), 1_000, 1_000);
  writeFileSync(join(folder, 'b'), 'garbage\n');
  utimesSync(join(folder, 'b'), 2_000, 2_000);
  const { look, current, served, errors } = await startReloading(folder);
  assert.equal(served(), [1, countOf(1)]);
  assert.match(current.stale!.reason, join(folder, 'b'));
  assert.is(errors().length, 1);

  replaceFile(join(folder, 'c'), markedLines(3));
  await look();
  assert.equal(served(), [3, countOf(3)]);
  assert.is(current.stale, undefined);
  replaceFile(join(folder, 'd'), markedLines(4).subarray(0, 3_001));
  await look();
  assert.equal(served(), [3, countOf(3)], 'a broken newer one is passed over');
  assert.match(current.stale!.reason, join(folder, 'd'));
  rmSync(join(folder, 'd'));
  await look();
  assert.is(current.stale, undefined, 'and forgotten when it is gone');
  renameSync(folder, `${folder}-away`);
  await look();
  assert.match(current.stale!.reason, /there is no such file/);
  mkdirSync(folder);
  await look();
  assert.match(current.stale!.reason, /there is no file in this folder/);
  assert.equal(served(), [3, countOf(3)]);
  rmSync(`${folder}-away`, { recursive: true });
});

test('without a good file to begin with it throws, and says why', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'bad'), 'garbage\n');
  const cases: [path: string, why: RegExp][] = [
    [join(folder, 'missing'), /missing: there is no such file/],
    [join(folder, 'bad'), /bad: /],
    [folder, /bad: /],
    [makeFolder(), /there is no file in this folder/],
  ];
  for (const [path, why] of cases) {
    try {
      await startReloading(path);
      assert.unreachable();
    } catch (error) {
      assert.is((error as Error).name, 'InputError');
      assert.match((error as Error).message, why);
    }
  }
});

test.run();
