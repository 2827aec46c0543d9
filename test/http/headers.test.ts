import { copyFileSync, utimesSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { bodyOf, exchange, LIST } from '../support/client.js';
import { makeFolder } from '../support/folder.js';
import { startOwnService } from '../support/own-service.js';
import { FIXTURE_POINTS } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

const snapshot = join(makeFolder(), 'points.ndjson');
copyFileSync(FIXTURE_POINTS, snapshot);
const WRITTEN = new Date('2024-02-29T12:34:56Z');
utimesSync(snapshot, WRITTEN, WRITTEN);
const service = await startOwnService(['--snapshot', snapshot]);

const READ = 'GET, HEAD, OPTIONS';
const GOOD: readonly [path: string, allow: string][] = [
  [LIST, 'GET, POST, HEAD, OPTIONS'],
  [`${LIST}?bbox=24,60,25,61&ordering=created_at&page=2`, 'GET, POST, HEAD, OPTIONS'],
  [`${LIST}1/`, READ],
  ['/rest/notifications/', READ],
  ['/rest/', READ],
];
const BAD = [
  `${LIST}?page=0`,
  `${LIST}?bbox=1`,
  `${LIST}?format=xml`,
  `${LIST}0/`,
  `${LIST}%`,
  '/rest/nope/',
];

test('every good answer has the headers that clients and caches need', async () => {
  for (const [path, allow] of GOOD) {
    const { status, headers, body } = await service.get(path);
    assert.is(status, 200, path);
    const isPersonal = path.includes('notifications');
    const { date, etag, 'waypost-snapshot': snapshot, 'keep-alive': _, link, ...others } = headers;
    assert.is(link !== undefined, path.includes('page=2'), path);
    assert.match(snapshot as string, /^"[0-9a-f]{16}\.\w*\.0"$/);
    assert.ok(etag!.startsWith((snapshot as string).slice(0, 17)));
    assert.match(etag!, /^"[\w-]+"$/);
    assert.ok(Date.parse(date!) > 0);
    assert.equal(others, {
      'content-type': 'application/json',
      'content-length': String(body.length),
      allow,
      vary: isPersonal ? 'Accept, Authorization' : 'Accept',
      'last-modified': WRITTEN.toUTCString(),
      'cache-control': isPersonal ? 'private, no-cache' : 'no-cache',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'access-control-expose-headers':
        'Allow, ETag, Link, Location, Retry-After, Waypost-Sequence, Waypost-Snapshot, X-Request-Id',
      connection: 'keep-alive',
    });
  }
});

test('every error has the headers of an error', async () => {
  for (const path of BAD) {
    const { status, headers, body } = await service.get(path);
    assert.ok(status === 400 || status === 404, path);
    assert.is(headers['content-type'], 'application/json', path);
    assert.is(headers['content-length'], String(body.length));
    assert.is(headers.vary, 'Accept');
    assert.is(headers['x-content-type-options'], 'nosniff');
    assert.is(headers['access-control-allow-origin'], '*');
    assert.is(headers.etag, undefined);
  }
});

test('HEAD has the headers of GET and no body', async () => {
  const accepts = ['*/*', 'text/html', 'application/xml'];
  for (const path of [...GOOD.map(([path]) => path), ...BAD, `${LIST}?format=api`]) {
    for (const accept of accepts) {
      const got = await service.get(path, { headers: { accept } });
      const head = await service.get(path, { method: 'HEAD', headers: { accept } });
      assert.is(head.status, got.status, path);
      assert.equal(lasting(head.headers), lasting(got.headers), path);
      assert.is(head.body.length, 0);
    }
  }
  const answer = await exchange(
    service.port,
    `HEAD ${LIST} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  assert.match(answer, /\r\nContent-Length: [1-9]\d+\r\n/);
  assert.is(bodyOf(answer), '');
});

test('a request keeps the name that it came with', async () => {
  for (const path of [LIST, '/rest/nope/']) {
    const { headers } = await service.get(path, { headers: { 'X-Request-Id': 'abc-1' } });
    assert.is(headers['x-request-id'], 'abc-1');
    const odd = await service.get(path, { headers: { 'X-Request-Id': '<b>"' } });
    assert.is.not(odd.headers['x-request-id'], '<b>"');
  }
});

/** Without what differs from one request to the next. */
function lasting(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { date: _, 'x-request-id': __, 'server-timing': ___, ...others } = headers;
  return others;
}

test.run();
