import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, statusOf } from '../support/client.js';
import { startOwnService } from '../support/own-service.js';
import { FIXTURE_POINTS, runCommand } from '../support/service.js';
import { dial } from '../support/sockets.js';
import { assert, makeFolder, refusal, test, until } from '../support/uvu.js';

const home = makeFolder();
const media = join(home, 'media');
const WRITTEN = new Date('2024-02-29T12:34:56Z');
const BYTES = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));

function put(name: string, bytes: Buffer | string = BYTES): void {
  const path = join(media, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, bytes);
  utimesSync(path, WRITTEN, WRITTEN);
}

put('map_data_points/7/photo_1.jpg');
put('map_data_points/7/plan.PNG', 'png');
put('map_data_points/7/näkymä.jpeg', 'jpeg');
put('map_data_points/7/empty.jpg', '');
put('map_data_points/7/folder.jpg/inside.jpg', 'inside');
put('map_data_points/7/.hidden.jpg', 'hidden');
put('map_data_points/7/page.html', '<script>alert(1)</script>');
put('map_data_points/7/drawing.svg', '<svg/>');
put('map_data_points/7/notes.txt', 'text');
put('secret.jpg', 'secret');
writeFileSync(join(home, 'outside.jpg'), 'outside');

const service = await startOwnService(['--media', media]);

const PHOTO = '/media/map_data_points/7/photo_1.jpg';

test('an image has headers that make it immutable and run no scripts', async () => {
  const { status, headers, body } = await service.get(PHOTO);
  assert.is(status, 200);
  assert.equal(body, BYTES);
  const { date: _, etag, 'x-request-id': __, 'keep-alive': ___, ...others } = headers;
  assert.match(etag!, /^W\/"[\w-]+"$/);
  assert.equal(others, {
    allow: 'GET, HEAD, OPTIONS',
    'accept-ranges': 'bytes',
    'access-control-allow-origin': '*',
    'access-control-expose-headers':
      'Allow, ETag, Link, Location, Retry-After, Waypost-Journal, Waypost-Sequence, Waypost-Snapshot, X-Request-Id',
    'cache-control': 'public, max-age=31536000, immutable',
    connection: 'keep-alive',
    'content-length': '100000',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': 'image/jpeg',
    'last-modified': WRITTEN.toUTCString(),
    'x-content-type-options': 'nosniff',
  });
});

test('a client that takes nothing of images is cut off as of any answer', async () => {
  put('map_data_points/8/large.jpg', Buffer.alloc(24 * 1024 * 1024));
  const own = await startOwnService(['--media', media, '--answer-timeout', '1s']);
  const { socket } = dial(own.port);
  socket.pause().write('GET /media/map_data_points/8/large.jpg HTTP/1.1\r\nHost: a\r\n\r\n');
  await until('it is cut off', async () => {
    const { text } = await own.get('/metrics');
    return text.includes('waypost_clients_cut_off_total{reason="stalled"} 1');
  });
});

test('HEAD, ranges and conditions are answered as for any file', async () => {
  const head = await service.get(PHOTO, { method: 'HEAD' });
  assert.equal([head.status, head.headers['content-length'], head.body.length], [200, '100000', 0]);

  const part = await service.get(PHOTO, { headers: { Range: 'bytes=251-501' } });
  assert.equal([part.status, part.headers['content-range']], [206, 'bytes 251-501/100000']);
  assert.equal(part.body, BYTES.subarray(251, 502));

  const beyond = await service.get(PHOTO, { headers: { Range: 'bytes=100000-' } });
  assert.equal([beyond.status, beyond.headers['content-range']], [416, 'bytes */100000']);
  assert.equal(beyond.json(), { detail: 'The image has no bytes in this range.' });

  const { etag } = head.headers;
  for (const condition of [
    { 'If-None-Match': etag },
    { 'If-Modified-Since': WRITTEN.toUTCString() },
  ]) {
    const same = await service.get(PHOTO, { headers: condition as Record<string, string> });
    assert.equal([same.status, same.body.length], [304, 0]);
  }
  const other = await service.get(PHOTO, { headers: { 'If-Match': '"other"' } });
  assert.is(other.status, 412);
  assert.equal(other.json(), { detail: 'The image is another one.' });
});

test('the type follows the name, and an empty image has its headers, too', async () => {
  const types = { 'plan.PNG': 'image/png', 'n%C3%A4kym%C3%A4.jpeg': 'image/jpeg' };
  for (const [name, type] of Object.entries(types)) {
    const { status, headers } = await service.get(`/media/map_data_points/7/${name}`);
    assert.equal([status, headers['content-type']], [200, type], name);
  }
  const empty = await service.get('/media/map_data_points/7/empty.jpg');
  assert.equal([empty.status, empty.headers['content-length']], [200, '0']);
});

test('there is no listing, no other kind of file, and no way out of the folder', async () => {
  symlinkSync(join(home, 'outside.jpg'), join(media, 'map_data_points/7/link.jpg'));
  const names = [
    ...['', '7', '7/', '7/nope.jpg', '7/folder.jpg', '7/folder.jpg/inside.jpg', '7/.hidden.jpg'],
    ...['7/page.html', '7/drawing.svg', '7/notes.txt', '7/photo_1.jpg/', '07/photo_1.jpg'],
    ...['7/..%2f..%2fsecret.jpg', '7/..%2F..%2F..%2Foutside.jpg', '7/%2e%2e/..%2fsecret.jpg'],
    ...['7/..%5c..%5csecret.jpg', '7/photo_1.jpg%00', '7/%00photo_1.jpg', '../secret.jpg'],
    ...['7/../../secret.jpg', '%2e%2e/secret.jpg', '7/%E0%A4%A', '7/photo_1.jpg%00.jpg'],
    ...['7/link.jpg', `7/${'a'.repeat(300)}.jpg`, '99999999999999999/photo_1.jpg'],
  ];
  for (const name of names) {
    const path = `/media/map_data_points/${name}`;
    // raw: Node's client would normalise the path
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(service.port, head);
    assert.is(statusOf(answer), 404, path);
    assert.match(answer, /\{"detail":"Not found\."\}$/);
  }
  for (const path of ['/media/', '/media/secret.jpg', '/media/map_data_points']) {
    assert.is((await service.get(path)).status, 404, path);
  }
});

test('a file without permission is an error of the service', async () => {
  put('map_data_points/8/locked.jpg');
  chmodSync(join(media, 'map_data_points/8'), 0);
  const { status } = await service.get('/media/map_data_points/8/locked.jpg');
  chmodSync(join(media, 'map_data_points/8'), 0o755);
  // root may read everything
  assert.is(status, process.getuid?.() === 0 ? 200 : 500);
});

test('an invalid folder of images is refused', async () => {
  for (const [path, what] of [
    [join(home, 'nope'), 'there is no such folder'],
    [join(home, 'outside.jpg'), 'it is no folder'],
  ]) {
    const said = await refusal(startOwnService(['--media', path!]));
    assert.ok(said.includes(`--media ${path}: ${what}. Make it`), said);
  }
});

test('a process ends whose images cannot be stored, although its journal is open by then', async () => {
  const taken = makeFolder();
  writeFileSync(join(taken, 'map_data_points'), 'no folder');
  const flags = ['--media', taken, '--journal', join(home, 'journal'), '--port', '0'];
  const { code, stderr } = await runCommand(['serve', '--snapshot', FIXTURE_POINTS, ...flags]);
  assert.is(code, 1);
  assert.match(stderr, /^waypost: --media .*: cannot be written: /m);
});

test.run();
