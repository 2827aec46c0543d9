import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openNative } from '../../../src/formats/native/read.js';
import { InputError } from '../../../src/model/quote.js';
import { makeFolder } from '../../support/folder.js';
import { blockOf, point, writeNative } from '../../support/native.js';

test('progress grows to the whole file, in one pass and in two', async () => {
  const folder = makeFolder();
  const path = join(folder, 'p.waypost');
  const { bytes } = writeNative(path, [blockOf([point({ id: 1 })]), blockOf([point({ id: 2 })])]);
  let seen = 0;
  const reader = openNative(path, {
    onProgress(read, total) {
      assert.ok(read > seen && read <= total);
      assert.is(total, bytes);
      seen = read;
    },
  });
  for await (const _ of reader.blocks());
  assert.is(seen, bytes);
  seen = 0;
  for (const _ of reader.columns());
  assert.ok(seen < bytes);
  reader.recordsInto(() => []);
  assert.is(seen, bytes);
  reader.close();
});

test('the report is there once everything has been read', async () => {
  const folder = makeFolder();
  const path = join(folder, 'r.waypost');
  writeNative(path, [blockOf([point({ id: 1 })])]);
  const reader = openNative(path, {});
  assert.is(reader.count, 1);
  assert.is(reader.origin, 'a test');
  assert.throws(() => reader.report(), /read to its end/);
  assert.throws(() => reader.recordsInto(() => []), /columns/);
  for (const _ of reader.columns());
  assert.throws(() => reader.report(), /read to its end/);
  reader.recordsInto(() => []);
  assert.is(reader.report().points, 1);
  reader.close();
  reader.close();
  assert.throws(() => [...reader.columns()], /closed/);
});

test('a file that changes between the passes is noticed', async () => {
  const folder = makeFolder();
  const path = join(folder, 'c.waypost');
  const block = blockOf([point({ id: 1, comment: 'before' })]);
  const size = block.records.length;
  writeNative(path, [block]);
  const bytes = readFileSync(path);
  const changed = Buffer.from(bytes);
  changed.write('behind', bytes.indexOf('before'));
  for (const change of [
    () => writeFileSync(path, changed),
    () => truncateSync(path, bytes.length - 100),
  ]) {
    writeFileSync(path, bytes);
    const reader = openNative(path, {});
    for (const _ of reader.columns());
    change();
    assert.throws(
      () => reader.recordsInto(() => [new Uint8Array(size)]),
      (error: unknown) => error instanceof InputError && error.message.includes(path),
    );
    reader.close();
  }
});

test.run();
