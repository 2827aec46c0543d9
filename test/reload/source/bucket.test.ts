import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { openAddressSource } from '../../../src/reload/source/address.js';
import { bucketStore } from '../../../src/reload/source/bucket-store.js';
import { Changed } from '../../../src/reload/source/source.js';
import { startBucket } from '../../support/bucket.js';
import { closeLater } from '../../support/folder.js';
import { countOf, markedLines } from '../../support/marked.js';
import { type Reloading, startReloading } from '../../support/reloading.js';
import { assert, makeFolder, test } from '../../support/uvu.js';

const bucket = await startBucket();
const { name: Bucket, client, put } = bucket;
test.after(() => bucket.end());

async function start(path: string): Promise<Reloading> {
  const folder = makeFolder();
  const address = `s3://${Bucket}/${path}`;
  const source = await openAddressSource({ address, folder, mode: 'off', pollMs: 0 });
  const reloading = await startReloading('', { source, retryMs: 50 });
  closeLater(async () => {
    await reloading.end();
    assert.equal(readdirSync(folder), [], 'downloads are removed');
  });
  return reloading;
}

test('an object is served, the next one, and no other', async () => {
  await client.deleteObject({ Bucket, Key: 'points.ndjson.sha256' });
  await put('points.ndjson', markedLines(1));
  const { look, served, current, builds } = await start('points.ndjson');
  assert.equal(served(), [1, countOf(1)]);
  await look();
  assert.is(builds.begun, 1);
  await put('points.ndjson', markedLines(2));
  await look();
  assert.is(served()[0], 2);
  const next = markedLines(3);
  await put('points.ndjson.sha256', createHash('sha256').update(next).digest('hex'));
  await look();
  assert.match(current.stale!.reason, /^s3:\/\/.*points\.ndjson: not whole/);
  await put('points.ndjson', next);
  await look();
  assert.is(served()[0], 3);
  await client.deleteObject({ Bucket, Key: 'points.ndjson' });
  await look();
  assert.match(current.stale!.reason, /points\.ndjson: the store answers 404/);
  assert.is(served()[0], 3);
});

test('of a prefix the newest whole object is served', async () => {
  await put('days/1.ndjson', markedLines(1));
  const { look, served, current } = await start('days/');
  assert.is(served()[0], 1);
  // times of objects are whole seconds for some stores
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await put('days/2.ndjson', markedLines(2).subarray(0, 3_001));
  await put('days/README.md', 'about');
  await look();
  assert.is(served()[0], 1);
  assert.match(current.stale!.reason, /days\/2\.ndjson/);
  await put('days/2.ndjson', markedLines(2));
  await look();
  assert.is(served()[0], 2);
});

test('a download goes on behind what it has, unless the object is another', async () => {
  const content = markedLines(1);
  await put('part', content);
  const store = await bucketStore(`s3://${Bucket}/part`);
  const { signal } = new AbortController();
  const [file] = await store.list(signal);
  const { from, size, body } = await store.read(file!, 1_000, signal);
  assert.equal([from, size], [1_000, content.length]);
  assert.ok((await buffer(body)).equals(content.subarray(1_000)));
  await put('part', markedLines(2));
  assert.instance(await store.read(file!, 1_000, signal).catch((reason) => reason), Changed);
  store.close?.();
});

test('a store that is gone leaves what is served, and is asked again', async () => {
  await put('gone.ndjson', markedLines(1));
  const { look, served, current } = await start('gone.ndjson');
  await put('gone.ndjson', markedLines(2));
  await bucket.stop();
  await look();
  assert.is(served()[0], 1);
  assert.match(
    current.stale!.reason,
    /gone\.ndjson: the store answers \w*(?:Error|TypeError|ECONNREFUSED)/,
  );
  await bucket.start();
  await look();
  assert.is(served()[0], 2);
});

test('an address that is none is refused', async () => {
  const options = { folder: makeFolder(), mode: 'off', pollMs: 0 } as const;
  for (const [address, why] of [
    ['s3://bucket', /expected s3:\/\/bucket\/key/],
    ['http://', /is no address/],
  ] as const) {
    const error = await openAddressSource({ address, ...options }).catch((reason) => reason);
    assert.match(error.message, why);
  }
});

test.run();
