import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkChecksum } from '../../src/formats/files/open.js';
import { unseenOf } from '../../src/reload/current.js';
import { requireSize } from '../../src/reload/decide.js';
import { sha256, writeAged } from '../support/folder.js';
import { countOf, markedLines, markedRecords, replaceFile } from '../support/marked.js';
import { blockOf, notification, point, writeNative } from '../support/native.js';
import { startReloading } from '../support/reloading.js';
import { assert, makeFile, makeFolder, refusal, test } from '../support/uvu.js';

test('a snapshot without points is refused unless that is allowed', async () => {
  const path = makeFile('[]');
  assert.match(await refusal(startReloading({ path })), /points: has no points; --allow-empty/);
  writeFileSync(path, markedLines(1));
  const { current, look } = await startReloading({ path, maxShrink: 1 });
  replaceFile(path, '[]');
  await look('accept');
  assert.match(current.stale!.reason, /has no points/, 'also when told to accept a loss');
  assert.is(current.generation.parts.dataset.count, countOf(1));
  const allowed = await startReloading({ path, allowEmpty: true });
  assert.is(allowed.current.generation.parts.dataset.count, 0);
});

test('a snapshot may lose as much as it is allowed to, and no point more', () => {
  requireSize('a', 43, 100, 0.57);
  assert.throws(() => requireSize('a', 42, 100, 0.57), /a loss of more than 57 %/);
});

test('a page of the interface is not served for the whole list', async () => {
  const { current, put, served } = await startReloading();
  const results = markedRecords(2);
  const page = { count: results.length, next: null, previous: null, results };
  await put(JSON.stringify({ ...page, next: 'http://localhost/rest/?page=2' }));
  assert.match(current.stale!.reason, /points: is a page of a longer list: .*; fetch/);
  await put(JSON.stringify({ ...page, count: results.length + 1 }));
  assert.match(current.stale!.reason, /points: is a page of a longer list: .*; fetch/);
  assert.equal(served(), [1, countOf(1)]);
  await put(JSON.stringify(page));
  assert.equal([served(), current.stale], [[2, countOf(2)], undefined]);
});

test('a file that takes the place of another before that is opened has to settle, too', async () => {
  const path = makeFile(markedLines(1));
  let isSwapped = true;
  const { look, outcomes, served } = await startReloading({
    path,
    async build(real, ...task) {
      if (!isSwapped) replaceFile(path, markedLines(3));
      isSwapped = true;
      return real(...task);
    },
  });
  isSwapped = false;
  replaceFile(path, markedLines(2));
  await look();
  assert.equal(outcomes, ['loaded', 'abandoned', 'loaded']);
  assert.equal(served(), [3, countOf(3)]);
});

test('a checksum file beside a snapshot is checked before it is served', async () => {
  for (const isFolder of [false, true]) {
    const folder = makeFolder();
    const path = join(folder, 'points.ndjson');
    const checksum = `${path}.sha256`;
    writeFileSync(path, markedLines(1));
    const { current, look, lookFor, outcomes, logs, served } = await startReloading({
      path: isFolder ? folder : path,
    });
    writeFileSync(checksum, `${sha256(markedLines(1))}  points.ndjson\n`);
    await look();
    assert.equal(outcomes, ['loaded', 'unchanged']);
    replaceFile(path, markedLines(2));
    await lookFor(1);
    assert.match(current.stale!.reason, /points\.ndjson: not whole: its SHA-256 is [0-9a-f]{64}/);
    const refusal = logs.find(({ msg }) => msg === 'snapshot refused, the old one stays');
    assert.is(refusal?.['path'], path);
    writeFileSync(checksum, `${sha256(markedLines(2))} *./points.ndjson\r\n`);
    await look();
    assert.equal([served(), current.stale], [[2, countOf(2)], undefined]);
    writeFileSync(checksum, 'nonsense');
    replaceFile(path, markedLines(3));
    await look();
    assert.match(current.stale!.reason, /sha256: has no SHA-256 of points\.ndjson; expected/);
    rmSync(checksum);
    mkdirSync(checksum);
    await look();
    assert.is(current.stale!.reason, `${checksum}: cannot be read: it is a folder`);
    rmSync(checksum, { recursive: true });
    await look();
    assert.equal([served(), current.stale], [[3, countOf(3)], undefined]);
  }
});

test('a checksum is found in whatever form the usual programs write it', async () => {
  const path = makeFile('content', 'a b');
  const digest = sha256(Buffer.from('content'));
  const other = '0'.repeat(64);
  const check = (text: string) => checkChecksum(path, path, text).then(() => 'fine', String);
  for (const text of [
    ...[digest, `${digest}\n`, `${digest.toUpperCase()}  a b\n`, `${digest} *a b`],
    ...[`${digest}  /srv/data/a b\r\n`, `${other}  another\n${digest}  a b\n`],
  ]) {
    assert.is(await check(text), 'fine', text);
  }
  assert.match(await check(`${other}  a b\n`), /not whole: its SHA-256 is/);
  for (const text of [
    ...['', '\n', '<html>', digest.slice(1)],
    ...[`${digest}  another\n`, `${digest}0  a b`],
  ]) {
    assert.match(await check(text), /has no SHA-256 of a b; expected a line such as/, text);
  }
});

test('notifications are looked at with the snapshot', async () => {
  const companion = makeFile(`${JSON.stringify(notification(1))}\n`, 'notifications.ndjson');
  const { current, look, outcomes, builds } = await startReloading({ companion });
  const unseen = (): number => unseenOf(current.generation.parts.unseen, 7).count;
  assert.is(unseen(), 1);
  appendFileSync(companion, `${JSON.stringify(notification(3))}\n`);
  await look();
  assert.is(unseen(), 2);

  writeFileSync(companion, 'garbage\n');
  for (let looks = 0; looks < 3; looks++) await look();
  assert.is(unseen(), 2);
  assert.ok(current.stale!.reason.startsWith(`${companion}: begins with`));
  assert.equal(outcomes, ['loaded', 'loaded', 'failed'], 'tried once');
  assert.is(builds.begun, 3);
  writeFileSync(companion, JSON.stringify(notification(2)));
  await look();
  assert.is(current.stale, undefined);
  assert.is(unseen(), 0);
});

test('of a notification that the snapshot has, too, the one of the file beside it counts', async () => {
  const path = join(makeFolder(), 'points.waypost');
  writeNative(path, [blockOf([point({ id: 1 })])], [notification(1), notification(3)]);
  const companion = makeFile(JSON.stringify({ ...notification(1), seen: true }));
  const { current } = await startReloading({ path, companion });
  assert.is(unseenOf(current.generation.parts.unseen, 7).count, 1);
});

test('a bad snapshot is not built again for other notifications, a good one is', async () => {
  const folder = makeFolder();
  const companion = makeFile(JSON.stringify(notification(1)), 'notifications.ndjson');
  writeAged(join(folder, 'good'), 1_000, markedLines(1));
  for (let i = 0; i < 3; i++) writeAged(join(folder, `bad-${i}`), 2_000 + i, 'garbage\n');
  const { current, look, outcomes } = await startReloading({ path: folder, companion });
  writeFileSync(companion, JSON.stringify(notification(2)));
  await look();
  assert.is(unseenOf(current.generation.parts.unseen, 7).count, 0);
  assert.equal(outcomes, ['failed', 'failed', 'failed', 'loaded', 'loaded']);
  writeAged(join(folder, 'bad-0'), 2_000, 'other garbage\n');
  await look();
  assert.equal(outcomes.slice(5), ['failed'], 'unless it changed itself');
  assert.match(current.stale!.reason, join(folder, 'bad-2'));
});

test('of a folder the newest whole file is served, also after it was moved away and back', async () => {
  const folder = makeFolder();
  writeAged(join(folder, 'a'), 1_000, markedLines(1));
  writeAged(join(folder, 'b'), 2_000, 'garbage\n');
  const { current, look, lookFor, served, errors } = await startReloading({ path: folder });
  assert.equal(served(), [1, countOf(1)]);
  assert.match(current.stale!.reason, join(folder, 'b'));
  assert.is(errors().length, 1);

  replaceFile(join(folder, 'c'), markedLines(3));
  await lookFor(3);
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
  rmSync(folder, { recursive: true });
  renameSync(`${folder}-away`, folder);
  await look();
  assert.is(current.stale, undefined, 'it is back');
  replaceFile(join(folder, 'e'), markedLines(5));
  await lookFor(5);
});

test.run();
