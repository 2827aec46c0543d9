import { copyFileSync, utimesSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { startApp } from '../support/app.js';
import { type Asked, bodyOf, exchange, LIST } from '../support/client.js';
import { generationOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { startOwnService } from '../support/own-service.js';
import { FIXTURE_POINTS } from '../support/service.js';
import { assert, makeFolder, test } from '../support/uvu.js';

const snapshot = join(makeFolder(), 'points.ndjson');
copyFileSync(FIXTURE_POINTS, snapshot);
const WRITTEN = new Date('2024-02-29T12:34:56Z');
utimesSync(snapshot, WRITTEN, WRITTEN);
const service = await startOwnService(['--media', makeFolder(), '--snapshot', snapshot]);
const ORIGINS = ['https://map.example', 'https://other.example:8443'];
const current = { generation: await generationOf(scatterNotes(61, 20)) };
const choosy = await startApp(current, { corsOrigin: ORIGINS });
/** A service that accepts no points. */
const closed = await startApp(current, { corsOrigin: [] });

const READ = 'GET, HEAD, OPTIONS';
const ALLOW: Readonly<Record<string, string>> = {
  '/rest/map_data_points/': 'GET, POST, HEAD, OPTIONS',
  '/rest/map_data_points/1/': READ,
  '/rest/notifications/': READ,
  '/rest/': READ,
};
/** Addresses whose descriptions other tests check. */
const OTHERS = [
  ...['/ogc/', '/ogc/conformance', '/ogc/collections', '/ogc/collections/points'],
  ...['/ogc/collections/points/items', '/tiles/0/0/0.mvt', '/tiles/points.json'],
];
/** Addresses of files, and of answers that are one. */
const FILES = [
  ...['/docs/', '/static/0/page.css', '/media/map_data_points/1/a.jpg'],
  ...['/export/points.ndjson', '/changes/points'],
];
const PREFLIGHT = { Origin: 'https://map.example', 'Access-Control-Request-Method': 'POST' };

interface Described {
  readonly name: string;
  readonly description: string;
  readonly renders: readonly string[];
  readonly parses: readonly string[];
  readonly actions?: {
    readonly POST: Readonly<Record<string, { required: boolean; read_only: boolean }>>;
  };
}

test('OPTIONS describes the resource', async () => {
  for (const [path, allow] of Object.entries(ALLOW)) {
    const reply = await service.get(path, { method: 'OPTIONS' });
    assert.equal([reply.status, reply.headers.allow], [200, allow], path);
    assert.is(reply.headers['content-type'], 'application/json');
    const { name, description, renders, parses, actions } = reply.json<Described>();
    assert.ok(name !== '' && description !== '');
    const ofPoints = path.startsWith('/rest/map_data_points/') ? ['application/geo+json'] : [];
    assert.equal(renders, ['application/json', 'text/html', ...ofPoints]);
    assert.is(parses[0], 'application/json');
    assert.is(actions !== undefined, allow.includes('POST'));
    for (const field of Object.keys(actions?.POST ?? {})) {
      const { required, read_only } = actions!.POST[field]!;
      assert.is(required, field === 'lat' || field === 'lon', field);
      assert.is(read_only, !['lat', 'lon', 'comment', 'tags', 'image'].includes(field), field);
    }
  }
});

test('the preflight of a browser is told what it may send', async () => {
  for (const [path, allow] of Object.entries(ALLOW)) {
    const { status, headers } = await service.get(path, { method: 'OPTIONS', headers: PREFLIGHT });
    assert.equal([status, headers['access-control-allow-origin']], [200, '*'], path);
    assert.is(headers['access-control-allow-methods'], allow);
    const named = headers['access-control-allow-headers']!.split(', ');
    for (const name of ['Authorization', 'Content-Type', 'If-None-Match', '*']) {
      assert.ok(named.includes(name), name);
    }
    assert.ok(Number(headers['access-control-max-age']) > 0);
  }
});

test('so is the preflight for a file', async () => {
  const headers = { Origin: 'https://map.example', 'Access-Control-Request-Method': 'GET' };
  for (const path of FILES.slice(0, 3)) {
    const reply = await service.get(path, { method: 'OPTIONS', headers });
    assert.equal([reply.status, reply.headers.allow], [204, READ], path);
    assert.is(reply.headers['access-control-allow-methods'], READ);
    assert.match(String(reply.headers['access-control-allow-headers']), 'Authorization');
  }
});

test('with a list of origins only those may read, and Vary says so', async () => {
  for (const method of ['GET', 'OPTIONS', 'PUT']) {
    for (const origin of ORIGINS) {
      const { headers } = await choosy.get('/rest/', { method, headers: { Origin: origin } });
      assert.is(headers['access-control-allow-origin'], origin, method);
      assert.match(headers.vary!, /\bOrigin\b/, `${method} ${headers.vary}`);
    }
    const strangers = ['https://evil.example', 'https://map.example.evil.example', 'null', ''];
    for (const origin of strangers) {
      const { headers } = await choosy.get('/rest/', { method, headers: { Origin: origin } });
      assert.is(headers['access-control-allow-origin'], undefined, origin);
    }
  }
  const from = { headers: { Origin: 'https://map.example' } };
  const docs = await choosy.get('/docs/', from);
  assert.is(docs.headers.vary, 'Origin');
  const [file] = /\/static\/[\w./-]+/.exec(docs.text)!;
  assert.is((await choosy.get(file, from)).headers.vary, 'Accept-Encoding, Origin');
  const { headers } = await closed.get('/rest/', { headers: PREFLIGHT });
  assert.equal([headers['access-control-allow-origin'], headers.vary], [undefined, 'Accept']);
});

test('a method that a resource does not take gets 405', async () => {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'LINK', 'QUERY'];
  for (const path of [...Object.keys(ALLOW), ...OTHERS, ...FILES]) {
    const allow = ALLOW[path] ?? READ;
    for (const method of methods.filter((one) => !allow.includes(one))) {
      const headers = { 'Content-Type': 'application/json' };
      const asked = method === 'TRACE' ? { method } : { method, body: '{"lat":1}', headers };
      const reply = await service.get(path, asked);
      assert.equal([reply.status, reply.headers.allow], [405, allow], `${method} ${path}`);
      assert.equal(reply.json(), { detail: `Method "${method}" not allowed.` });
    }
  }
});

test('without a journal a POST of a point is not allowed, whatever its body', async () => {
  const bodies: [type: string, body: string][] = [
    ['application/json', '{"lat":"60.1","lon":"24.9"}'],
    ['application/json', '{bad'],
    ['application/x-www-form-urlencoded', 'lat=60.1&lon=24.9'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['image/png', 'x'.repeat(100_000)],
  ];
  const asked: Asked[] = bodies.map(([type, body]) => ({
    headers: { 'Content-Type': type },
    body,
  }));
  for (const one of [...asked, {}]) {
    const { status, headers, json } = await closed.get(LIST, { method: 'POST', ...one });
    assert.equal([status, headers.allow], [405, READ], JSON.stringify(one.headers));
    assert.equal(json(), { detail: 'Method "POST" not allowed.' });
  }
  // Allow and OPTIONS say so
  assert.is((await closed.get(`${LIST}?page_size=1`)).headers.allow, READ);
  const options = await closed.get(LIST, { method: 'OPTIONS' });
  assert.is(options.headers.allow, READ);
  assert.not.ok('actions' in options.json<object>());
});

test('an address without its slash redirects to the one with it', async () => {
  const queries = [
    ...['', '?a=1&b=%C3%A4+x&a=2', '?bbox=1,2,3,4&&=', '?page=%', '?next=//evil.example'],
  ];
  const check = async (method: string, path: string, query: string): Promise<void> => {
    const asked = `${path.slice(0, -1)}${query}`;
    const { status, headers, body } = await service.get(asked, { method });
    assert.is(status, method === 'GET' || method === 'HEAD' ? 301 : 308);
    assert.is(headers.location, path + query);
    assert.equal([body.length, headers['access-control-allow-origin']], [0, '*']);
  };
  for (const query of queries) await check('GET', LIST, query);
  // an empty query is none
  assert.is((await service.get(`${LIST.slice(0, -1)}?`)).headers.location, LIST);
  for (const path of Object.keys(ALLOW)) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])
      await check(method, path, '?a=1');
    // browsers follow redirects of requests, but not of preflights
    const asked = { method: 'OPTIONS', headers: PREFLIGHT };
    const { status, headers } = await service.get(path.slice(0, -1), asked);
    assert.equal([status, headers['access-control-allow-origin']], [204, '*'], path);
    assert.match(headers['access-control-allow-headers']!, 'Authorization', path);
  }
});

const GOOD: readonly [path: string, allow: string][] = [
  ...Object.entries(ALLOW),
  [`${LIST}?bbox=24,60,25,61&ordering=created_at&page=2`, ALLOW[LIST]!],
];
const BAD = ['?page=0', '?bbox=1', '?format=xml', '0/', '%'].map((end) => LIST + end);
BAD.push('/rest/nope/');

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
        'Allow, ETag, Link, Location, Retry-After, Waypost-Journal, Waypost-Sequence, Waypost-Snapshot, X-Request-Id',
      connection: 'keep-alive',
    });
  }
});

test('every error has the headers of errors', async () => {
  for (const path of BAD) {
    const { status, headers, body } = await service.get(path);
    assert.ok(status === 400 || status === 404, path);
    assert.is(headers['content-type'], 'application/json', path);
    assert.equal([headers['content-length'], headers.vary], [String(body.length), 'Accept']);
    assert.is(headers['x-content-type-options'], 'nosniff');
    assert.equal([headers['access-control-allow-origin'], headers.etag], ['*', undefined]);
  }
});

test('HEAD has the headers of GET and no body', async () => {
  for (const path of [...GOOD.map(([path]) => path), ...BAD, ...OTHERS, `${LIST}?format=api`]) {
    for (const accept of ['*/*', 'text/html', 'application/geo+json', 'application/xml']) {
      const got = await service.get(path, { headers: { accept } });
      const head = await service.get(path, { method: 'HEAD', headers: { accept } });
      assert.is(head.status, got.status, path);
      assert.equal(lasting(head.headers), lasting(got.headers), path);
      assert.is(head.body.length, 0);
    }
  }
  const raw = `HEAD ${LIST} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const answer = await exchange(service.port, raw);
  assert.match(answer, /\r\nContent-Length: [1-9]\d+\r\n/);
  assert.is(bodyOf(answer), '');
});

/** The headers that are the same for each request. */
function lasting(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { date: _, 'x-request-id': __, 'server-timing': ___, ...others } = headers;
  return others;
}

test.run();
