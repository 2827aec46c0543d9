import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openSnapshot } from '../../../src/formats/files/open.js';
import { makeFolder } from '../../support/folder.js';
import { ndjson, readAll, refusal } from '../../support/rows.js';

const VALID = { lat: '1', lon: '2', created_at: '2023-05-01T12:00Z' };

test('gzip data that is cut short, damaged or followed by something is refused', async () => {
  const folder = makeFolder();
  const path = join(folder, 'points');
  const refuse = async (content: Uint8Array): Promise<string> => {
    writeFileSync(path, content);
    return (await refusal(readAll(path))).replaceAll(path, 'FILE');
  };
  const records = Array.from({ length: 5000 }, (_, id) => ({
    ...VALID,
    id: id + 1,
    comment: `${id ** 3}`,
  }));
  const bytes = gzipSync(ndjson(...records));
  for (const length of [bytes.length - 1, bytes.length - 8, bytes.length >> 1, 30, 12, 3]) {
    assert.match(
      await refuse(bytes.subarray(0, length)),
      /^FILE: the gzip data is cut short at byte \d+$/,
    );
  }
  const damaged = Buffer.from(bytes);
  damaged[bytes.length - 6]! ^= 1;
  assert.match(
    await refuse(damaged),
    /^FILE: the gzip data is damaged behind byte \d+ \(incorrect data check\)$/,
  );
  const followed = await refuse(Buffer.concat([bytes, Buffer.from('\0\0')]));
  assert.match(followed, `the gzip data ends at byte ${bytes.length} of ${bytes.length + 2};`);
  // a byte alone, or very many, are taken for the beginning of a second stream
  for (const tail of ['x', 'x'.repeat(600_000)]) {
    const message = await refuse(Buffer.concat([bytes, Buffer.from(tail)]));
    assert.match(
      message,
      /^FILE: the gzip data (?:is cut short at byte \d+$|is followed by something else)/,
    );
  }
  // several streams in a row are one, as gzip says
  const two = Buffer.concat([bytes, gzipSync(ndjson({ ...VALID, id: 9999 }))]);
  writeFileSync(path, two);
  assert.is((await readAll(path)).report.points, 5001);
});

test('a file that can be opened and not read is named, and let go of', async () => {
  // its first bytes are no memory of this process
  const path = '/proc/self/mem';
  if (!existsSync(path)) return;
  const open = readdirSync('/proc/self/fd').length;
  for (let i = 0; i < 3; i++) {
    assert.match(await refusal(readAll(path)), /^\/proc\/self\/mem: cannot be read: EIO/);
  }
  assert.is(readdirSync('/proc/self/fd').length, open);
});

test('a reader can be closed in the middle', async () => {
  const folder = makeFolder();
  const comment = 'x'.repeat(200_000);
  const records = Array.from({ length: 200 }, (_, id) => ({ ...VALID, id: id + 1, comment }));
  const path = join(folder, 'points');
  for (const content of [ndjson(...records), gzipSync(ndjson(...records))]) {
    writeFileSync(path, content);
    const reader = await openSnapshot(path, {});
    for await (const _ of reader.blocks()) break;
    reader.close();
    assert.throws(() => reader.report(), /not been read to its end/);
  }

  writeFileSync(path, ndjson(...records));
  const closed = await openSnapshot(path, {});
  try {
    for await (const _ of closed.blocks()) closed.close();
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /closed/);
  }
});

test.run();
