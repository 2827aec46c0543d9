import { randomBytes } from 'node:crypto';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { S3 } from '@aws-sdk/client-s3';
import { pino } from 'pino';
import { createDecoder } from '../../src/posts/media/decoder.js';
import { MediaUnavailable } from '../../src/posts/media/folder.js';
import { checkImageBucket, openImageBucket } from '../../src/posts/media/image-bucket.js';
import { Media } from '../../src/posts/media/media.js';
import { ImageStats } from '../../src/posts/media/upload.js';
import { openAddressSource } from '../../src/reload/source/address.js';
import { bucketStore } from '../../src/reload/source/bucket-store.js';
import { Changed } from '../../src/reload/source/source.js';
import { LIST, type Reply } from '../support/client.js';
import { sha256 } from '../support/folder.js';
import { imagePost, JPEG } from '../support/images.js';
import { countOf, markedLines } from '../support/marked.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { type Reloading, startDownloading } from '../support/reloading.js';
import { assert, failure, makeFolder, test, until } from '../support/uvu.js';

interface S3Server {
  readonly middleware: ((
    context: { readonly method: string; readonly path: string; status: number; body: unknown },
    next: () => Promise<void>,
  ) => Promise<void>)[];
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}
const S3rver = createRequire(import.meta.url)('s3rver') as new (
  options: Readonly<Record<string, unknown>>,
) => S3Server;

const KEY = 'S3RVER';
const Bucket = 'waypost';

const never = (): Promise<never> => new Promise(() => {});

/**
 * Starts a real S3 server at 127.0.0.1 with an empty bucket, which it stores in a folder; sets the
 * environment variables that S3 clients read.
 */
async function startBucket() {
  const directory = makeFolder();
  const configureBuckets = [{ name: Bucket, configs: [] }];
  const options = { address: '127.0.0.1', silent: true, directory, configureBuckets };
  const refused = new Map<string, number>();
  const left = new Map<string, number>();
  const open = (port: number): S3Server => {
    const opened = new S3rver({ ...options, port });
    opened.middleware.unshift(async (context, next) => {
      const status = context.method === 'GET' ? refused.get(context.path) : undefined;
      if (status === 0) await never();
      if (status === undefined) await next();
      else context.status = status;
      if (context.method !== 'GET' || !left.has(context.path)) return;
      const whole = context.body as Readable;
      const firstBytes = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of whole) {
          const bytes = left.get(context.path) ?? 0;
          left.set(context.path, Math.max(0, bytes - chunk.length));
          if (bytes > 0) yield chunk.subarray(0, bytes);
          if (bytes < chunk.length) await never();
        }
      };
      context.body = Readable.from(firstBytes());
    });
    return opened;
  };
  let server: S3Server | undefined = open(0);
  const { port } = await server.run();
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-north-1',
    AWS_ACCESS_KEY_ID: KEY,
    AWS_SECRET_ACCESS_KEY: KEY,
  };
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  const client = new S3({ forcePathStyle: true });
  const stop = async (): Promise<void> => {
    await server?.close();
    server = undefined;
  };
  return {
    client,
    async put(Key: string, Body: Buffer | string): Promise<void> {
      await client.putObject({ Bucket, Key, Body });
    },
    /** Sets the time of an object to 1970. */
    makeOld: (key: string) => utimesSync(join(directory, Bucket, `${key}._S3rver_object`), 1, 1),
    /** All keys, sorted. */
    async keys(): Promise<string[]> {
      const { Contents = [] } = await client.listObjectsV2({ Bucket });
      return Contents.map(({ Key = '' }) => Key).sort();
    },
    /** Answers GETs of a key with a status, or never where that is 0. */
    refuse: (key: string, status: number) => void refused.set(`/${Bucket}/${key}`, status),
    /** Sends so many bytes of a key, in all its answers together, and no more. */
    stall: (key: string, bytes: number) => void left.set(`/${Bucket}/${key}`, bytes),
    /** Ends what `refuse` and `stall` began. */
    allow(): void {
      refused.clear();
      left.clear();
    },
    /** Stops the server; `start` starts it again with the same objects, unless it runs. */
    stop,
    async start(): Promise<void> {
      if (server !== undefined) return;
      server = open(port);
      await server.run();
    },
    async end(): Promise<void> {
      client.destroy();
      await stop();
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
  };
}

const bucket = await startBucket();
const { client, put } = bucket;
const store = await openImageBucket('s3://waypost/images');
const incoming = makeFolder();
const decoder = createDecoder(60_000);
const logger = pino({ level: 'silent' });
const stats = new ImageStats();
const media = new Media({ store, incoming, maxPixels: 1, logger, stats, decoder });
test.after(() => bucket.end());
test.after.each(async () => {
  bucket.allow();
  await bucket.start();
  for (const Key of await bucket.keys()) await client.deleteObject({ Bucket, Key });
});

const NAME = 'photo_0123abcd.jpg';

/** Stores an image of a point; returns its address. */
async function stored(id: number, bytes: Buffer = JPEG): Promise<string> {
  writeFileSync(join(incoming, 'file'), bytes);
  const address = await media.store(id, { file: 'file', name: NAME });
  await media.discard({ file: 'file' });
  return address;
}

test('an image stands under the id of its point until it is removed', async () => {
  const address = await stored(7);
  assert.is(address, `/media/map_data_points/7/${NAME}`);
  await media.remove(await stored(8));
  assert.equal(await bucket.keys(), [`images/map_data_points/7/${NAME}`]);
  assert.equal(readdirSync(incoming), []);
});

test('a long image is read in pieces, from any byte to any other', async () => {
  const bytes = randomBytes(2_500_000);
  await stored(3, bytes);
  const { ETag, ContentLength } = (await store.find('3', NAME))!;
  assert.is(ContentLength, bytes.length);
  assert.ok((await buffer(store.read('3', NAME, 0, bytes.length, ETag))).equals(bytes));
  const part = await buffer(store.read('3', NAME, 1_000_000, 2_400_001, ETag));
  assert.ok(part.equals(bytes.subarray(1_000_000, 2_400_001)));
  await stored(3, bytes.subarray(0, 100));
  for (const etag of [ETag, undefined]) {
    const whole = buffer(store.read('3', NAME, 0, bytes.length, etag));
    assert.instance(await failure(whole), MediaUnavailable);
  }
});

test('a missing bucket is refused, a store that is down is waited for', async () => {
  const { message } = await failure(checkImageBucket('s3://nothing/images'));
  assert.match(message, /^--media s3:\/\/nothing\/images: the store answers 404: .*Check the name/);
  assert.is(await checkImageBucket('s3://waypost/images'), undefined);
  await bucket.stop();
  assert.match((await checkImageBucket('s3://waypost/images'))!, /ECONNREFUSED|Error/);
  assert.instance(await failure(stored(9)), MediaUnavailable);
  assert.equal(readdirSync(incoming), []);
});

function post(service: OwnService, name: string): Promise<Reply> {
  return service.get(LIST, imagePost({ lat: '60', lon: '25' }, JPEG, name, 'image/jpeg'));
}

test('an image posted to one instance is served by another, like one of a folder', async () => {
  const downloads = makeFolder();
  const flags = ['--media', 's3://waypost/shared', '--downloads', downloads];
  const [one, other] = [await startOwnService(flags), await startOwnService(flags)];
  const answer = await post(one, 'Näkymä.jpg');
  assert.is(answer.status, 201);
  const path = new URL(answer.json<{ image: string }>().image, 'http://localhost').pathname;
  const whole = await other.get(path);
  const length = String(whole.body.length);
  assert.equal([whole.status, whole.headers['content-type']], [200, 'image/jpeg']);
  assert.is(whole.headers['content-length'], length);
  assert.is(whole.headers['x-content-type-options'], 'nosniff');
  assert.match(String(whole.headers['content-security-policy']), /default-src 'none'/);
  assert.match(String(whole.headers['cache-control']), /immutable/);
  const etag = String(whole.headers['etag']);
  const head = await other.get(path, { method: 'HEAD' });
  assert.equal([head.status, head.headers['etag'], head.body.length], [200, etag, 0]);
  const size = whole.body.length;
  for (const [range, from, to] of [
    ['bytes=10-19', 10, 20],
    ['bytes=10-', 10, size],
    ['bytes=-7', size - 7, size],
    ['bytes=0-9999999', 0, size],
    ['bytes=-9999999', 0, size],
  ] as const) {
    const part = await other.get(path, { headers: { range, 'if-range': etag } });
    const told = `bytes ${from}-${to - 1}/${size}`;
    assert.equal(
      [part.status, part.headers['content-range'], part.headers['etag']],
      [206, told, etag],
    );
    assert.ok(part.body.equals(whole.body.subarray(from, to)), range);
  }
  for (const headers of [
    { range: 'bytes=10-19', 'if-range': '"other"' },
    { range: 'bytes=10-5' },
    { range: 'bytes=1-2,5-6' },
    { range: 'lines=1-2' },
    { 'if-match': etag },
    { 'if-none-match': '"other"' },
  ]) {
    const all = await other.get(path, { headers });
    assert.equal([all.status, all.body.length], [200, size], JSON.stringify(headers));
  }
  const same = await other.get(path, { headers: { 'if-none-match': `W/${etag}` } });
  assert.equal([same.status, same.headers['etag'], same.body.length], [304, etag, 0]);
  for (const match of ['"other"', `W/${etag}`]) {
    assert.is((await other.get(path, { headers: { 'if-match': match } })).status, 412);
  }
  for (const range of [`bytes=${size}-`, 'bytes=9999999-', 'bytes=-0']) {
    const beyond = await other.get(path, { headers: { range } });
    assert.equal([beyond.status, beyond.headers['content-range']], [416, `bytes */${size}`]);
  }
  const absent = await other.get(path.replace('.jpg', '1.jpg'));
  assert.equal([absent.status, absent.text], [404, '{"detail":"Not found."}']);
  bucket.refuse(`shared${path.slice('/media'.length)}`, 403);
  const refused = await other.get(path);
  assert.equal([refused.status, refused.headers['retry-after']], [503, '5']);
  assert.match(refused.text, /the store of images cannot be asked \(403\)/);
  bucket.allow();
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

function startFrom(path: string, idleMs?: number): Promise<Reloading> {
  return startDownloading(`s3://${Bucket}/${path}`, idleMs);
}

test('an object and its successor are served, but not one that is incomplete or deleted', async () => {
  await put('points.ndjson', markedLines(1));
  const { look, lookFor, served, current, builds } = await startFrom('points.ndjson');
  assert.equal(served(), [1, countOf(1)]);
  await look();
  assert.is(builds.begun, 1);
  await put('points.ndjson', markedLines(2));
  await lookFor(2);
  const next = markedLines(3);
  await put('points.ndjson.sha256', sha256(next));
  await look();
  assert.match(current.stale!.reason, /^s3:\/\/.*points\.ndjson: not whole/);
  await put('points.ndjson', next);
  await lookFor(3);
  await client.deleteObject({ Bucket, Key: 'points.ndjson' });
  await look();
  assert.match(current.stale!.reason, /points\.ndjson: the store answers 404: NotFound$/);
  assert.is(served()[0], 3);
});

test('the newest complete object of a prefix is served', async () => {
  await put('days/1.ndjson', markedLines(1));
  // consoles make such objects for folders
  await put('days/', '');
  bucket.makeOld('days/1.ndjson');
  const { lookFor, served, current } = await startFrom('days/');
  assert.is(served()[0], 1);
  assert.is(current.stale, undefined);
  // this store rounds times of objects to seconds
  await delay(1_100);
  await put('days/2.ndjson', markedLines(2).subarray(0, 3_001));
  await put('days/README.md', 'about');
  await lookFor(1);
  assert.match(current.stale!.reason, /days\/2\.ndjson/);
  await put('days/2.ndjson', markedLines(2));
  await lookFor(2);
});

test('a checksum object that is never sent is given up, and asked for again', async () => {
  await put('silent.ndjson', markedLines(1));
  const { look, served, current } = await startFrom('silent.ndjson', 1_000);
  const next = markedLines(2);
  await put('silent.ndjson', next);
  await put('silent.ndjson.sha256', sha256(next));
  bucket.refuse('silent.ndjson.sha256', 0);
  await look();
  assert.match(current.stale!.reason, /silent\.ndjson\.sha256: cannot be fetched: /);
  bucket.allow();
  await until('it is served', () => served()[0] === 2);
});

test('a store that fails, stalls or is down leaves the old data, says why, and recovers', async () => {
  const key = 'ill/points.ndjson';
  await put(key, markedLines(1));
  const { look, served, current, outcomes, errors } = await startFrom('ill/', 1_000);
  const { refuse, stall, allow, stop, start } = bucket;
  for (const [mark, why, begin, end] of [
    [2, /^s3:\/\/waypost\/ill\/: the store answers 500/, () => refuse('', 500), allow],
    [3, /ill\/points\.ndjson: the store answers 500/, () => refuse(key, 500), allow],
    [4, /points\.ndjson: the server said nothing for 1 s$/, () => stall(key, 1_000), allow],
    [5, /^s3:\/\/waypost\/ill\/: cannot be fetched: /, stop, start],
  ] as const) {
    await put(key, markedLines(mark));
    await begin();
    void look();
    await until(`${why}`, () => why.test(current.stale?.reason ?? ''));
    assert.is(served()[0], mark - 1);
    assert.ok(errors().some((one) => why.test(one)));
    assert.is(outcomes.at(-1), 'failed');
    await end();
    await until('all is well', () => current.stale === undefined);
    assert.is(served()[0], mark);
  }
});

test('a download resumes where it broke off, unless the object has changed', async () => {
  const content = markedLines(1);
  await put('part', content);
  const store = await bucketStore(`s3://${Bucket}/part`);
  const { signal } = new AbortController();
  const [file] = await store.list(signal);
  const { from, size, body } = await store.read(file!, 1_000, signal);
  assert.equal([from, size], [1_000, content.length]);
  assert.ok((await buffer(body)).equals(content.subarray(1_000)));
  await put('part', markedLines(2));
  assert.instance(await failure(store.read(file!, 1_000, signal)), Changed);
});

test('an invalid address is refused', async () => {
  const options = { folder: makeFolder(), mode: 'off', pollMs: 0 } as const;
  for (const [address, why] of [
    ['s3://bucket', /expected s3:\/\/bucket\/key/],
    ['http://', /is no address/],
    ['http://me:secret@:80/x?signature=secret', /^http:\/\/:80\/x: is no address/],
  ] as const) {
    assert.match((await failure(openAddressSource({ address, ...options }))).message, why);
  }
});

test.run();
