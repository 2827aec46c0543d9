import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import { createDecoder } from '../../../src/posts/media/decoder.js';
import { MediaUnavailable } from '../../../src/posts/media/folder.js';
import { checkImageBucket, openImageBucket } from '../../../src/posts/media/image-bucket.js';
import { Media } from '../../../src/posts/media/media.js';
import { createImageStats } from '../../../src/posts/media/upload.js';
import { startBucket } from '../../support/bucket.js';
import { JPEG } from '../../support/images.js';
import { type OwnService, startOwnService } from '../../support/own-service.js';
import { FIXTURE_POINTS } from '../../support/service.js';
import { assert, failure, makeFolder, test } from '../../support/uvu.js';

const bucket = await startBucket();
const store = await openImageBucket('s3://waypost/images');
const incoming = makeFolder();
const decoder = createDecoder(60_000);
const logger = pino({ level: 'silent' });
const stats = createImageStats();
const media = new Media({ store, incoming, maxPixels: 1, logger, stats, decoder });
test.after(async () => {
  await bucket.end();
});
test.after.each(async () => {
  for (const Key of await bucket.keys()) {
    await bucket.client.deleteObject({ Bucket: bucket.name, Key });
  }
});

const NAME = 'photo_0123abcd.jpg';

/** Stores an image of a point, and returns its address. */
async function stored(id: number, bytes: Buffer = JPEG): Promise<string> {
  writeFileSync(join(incoming, 'file'), bytes);
  const address = await media.store(id, { file: 'file', name: NAME });
  await media.discard({ file: 'file', name: NAME });
  return address;
}

test('an image is marked until its record is journaled, and removed with its mark', async () => {
  const address = await stored(7);
  assert.is(address, `/media/map_data_points/7/${NAME}`);
  const image = `images/map_data_points/7/${NAME}`;
  assert.equal(await bucket.keys(), [`images/.incoming/7.${NAME}.new`, image]);
  await media.confirm(address);
  assert.equal(await bucket.keys(), [image]);
  await media.remove(await stored(8));
  assert.equal(await bucket.keys(), [image]);
  assert.equal(readdirSync(incoming), []);
});

test('a sweep removes what no record names once it is an hour old, and nothing else', async () => {
  const known = await stored(1);
  await stored(2);
  await bucket.put('images/.incoming/notes.txt', 'of somebody');
  await media.sweep(() => {
    throw new Error('nothing is old enough');
  });
  assert.is((await bucket.keys()).length, 5);
  for (const key of await bucket.keys()) bucket.makeOld(key);
  await media.sweep((address) => address === known);
  const kept = ['images/.incoming/notes.txt', `images/map_data_points/1/${NAME}`];
  assert.equal(await bucket.keys(), kept);
});

test('a long image is read in pieces, from any byte to any other', async () => {
  const bytes = randomBytes(2_500_000);
  await stored(3, bytes);
  const { ETag, ContentLength } = await store.find('3', NAME, {});
  assert.is(ContentLength, bytes.length);
  assert.ok((await buffer(store.read('3', NAME, 0, bytes.length, ETag))).equals(bytes));
  const part = await buffer(store.read('3', NAME, 1_000_000, 2_400_001, ETag));
  assert.ok(part.equals(bytes.subarray(1_000_000, 2_400_001)));
});

test('a bucket that is not there is refused, a store that is gone is waited for', async () => {
  const error = await failure(checkImageBucket('s3://nothing/images'));
  assert.match(
    error.message,
    /^--media s3:\/\/nothing\/images: the store answers 404: .*Check the name/,
  );
  assert.is(await checkImageBucket('s3://waypost/images'), undefined);
  await bucket.stop();
  try {
    assert.match((await checkImageBucket('s3://waypost/images'))!, /ECONNREFUSED|Error/);
    assert.instance(await failure(stored(9)), MediaUnavailable);
    assert.equal(readdirSync(incoming), []);
  } finally {
    await bucket.start();
  }
});

async function post(service: OwnService, name: string): Promise<Response> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ lat: '60', lon: '25' })) form.append(field, value);
  form.append('image', new Blob([new Uint8Array(JPEG)], { type: 'image/jpeg' }), name);
  const address = `http://127.0.0.1:${service.port}`;
  return fetch(`${address}/rest/map_data_points/`, { method: 'POST', body: form });
}

test('an image posted to one instance is served by another, as one of a folder is', async () => {
  const downloads = makeFolder();
  mkdirSync(downloads, { recursive: true });
  const flags = ['--snapshot', FIXTURE_POINTS, '--media', 's3://waypost/shared'];
  const one = await startOwnService([...flags, '--downloads', downloads]);
  const other = await startOwnService([...flags, '--downloads', downloads]);
  const answer = await post(one, 'Näkymä.jpg');
  assert.is(answer.status, 201);
  const { image } = (await answer.json()) as { image: string };
  const path = new URL(image, 'http://localhost').pathname;
  const whole = await other.get(path);
  assert.is(whole.status, 200);
  assert.is(whole.headers['content-type'], 'image/jpeg');
  assert.is(whole.headers['x-content-type-options'], 'nosniff');
  assert.match(String(whole.headers['content-security-policy']), /default-src 'none'/);
  assert.match(String(whole.headers['cache-control']), /immutable/);
  assert.is(Number(whole.headers['content-length']), whole.body.length);
  const etag = String(whole.headers['etag']);
  const head = await other.get(path, { method: 'HEAD' });
  assert.equal([head.status, head.headers['etag'], head.body.length], [200, etag, 0]);
  const part = await other.get(path, { headers: { range: 'bytes=10-19' } });
  assert.is(part.status, 206);
  assert.ok(part.body.equals(whole.body.subarray(10, 20)));
  assert.is(part.headers['content-range'], `bytes 10-19/${whole.body.length}`);
  const same = await other.get(path, { headers: { 'if-none-match': etag } });
  assert.equal([same.status, same.body.length], [304, 0]);
  const beyond = await other.get(path, { headers: { range: 'bytes=9999999-' } });
  assert.is(beyond.status, 416);
  const absent = await other.get(path.replace('.jpg', '1.jpg'));
  assert.equal([absent.status, absent.text], [404, '{"detail":"Not found."}']);
  await bucket.stop();
  const gone = await other.get(path);
  assert.is(gone.status, 503);
  assert.match(gone.text, /^\{"detail":"the store of images cannot be asked \(/);
  assert.is((await post(one, 'b.jpg')).status, 503);
  await bucket.start();
  assert.is((await other.get(path)).status, 200);
  await one.stop();
  await other.stop();
  assert.equal(readdirSync(join(downloads, readdirSync(downloads)[0]!)), []);
});

test.run();
