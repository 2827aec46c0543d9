import { startNotes } from '../support/app.js';
import { bodyOf, exchange, LIST, statusOf } from '../support/client.js';
import { scatterNotes } from '../support/notes.js';
import { assert, test } from '../support/uvu.js';

const service = await startNotes(scatterNotes(53, 30));

/** Sends a raw request line and headers. */
function raw(line: string, headers = 'Host: x'): Promise<string> {
  return exchange(service.port, `${line} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
}

test('an unknown address gets 404', async () => {
  const paths = [
    ...['/rest/nope/', '/REST/', '/rest/map_data_points/1/2/', '/rest//map_data_points/'],
    ...['//rest/map_data_points/', '//evil.example/rest/map_data_points'],
    ...['/rest/map_data_points/../notifications/', '/rest/map_data_points.json'],
    ...['/media/map_data_points/9/x.jpg', '/openapixjson', '/tiles/0/0/0xmvt', '/favicon.ico'],
    ...['/admin/reload', '/admin/posts', '/changes/points', `/${'a'.repeat(5000)}/`],
    ...['/docs/json', '/docs/yaml', '/docs/static/', '/docs/static/no.js', '/docs/x', '/docs/..'],
    '/docs/static/..%2f..%2fpackage.json',
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const reply = await service.get(path, { method });
      assert.is(reply.status, 404, `${method} ${path}`);
      assert.equal(reply.json(), { detail: 'Not found.' });
      // else caches may keep a 404 for minutes, though the point may be posted
      assert.is(reply.headers['cache-control'], 'no-cache');
    }
  }
});

test('the root of the host leads to the list of resources', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await service.get('/', { method });
    assert.equal([status, headers.location], [302, '/rest/']);
  }
  for (const method of ['POST', 'DELETE', 'OPTIONS']) {
    const reply = await service.get('/', { method });
    assert.is(reply.status, 404, method);
    assert.equal(reply.json(), { detail: 'Not found.' });
  }
});

test('an unknown format is reported with the known ones, before other mistakes', async () => {
  const [PAGES, POINTS] = ['json, api', 'json, api, geojson'];
  for (const [path, formats] of [
    [`${LIST}?`, POINTS],
    [`${LIST}1/?`, POINTS],
    [`${LIST}?bbox=1&page=0&`, POINTS],
    ['/rest/?', PAGES],
    ['/rest/notifications/?', PAGES],
  ]) {
    for (const format of ['GeoJSON', '%3Cb%3E']) {
      const reply = await service.get(`${path}format=${format}`);
      const named = decodeURIComponent(format);
      const detail = `There is no format "${named}" here; the formats are ${formats}.`;
      assert.equal([reply.status, reply.json()], [404, { detail }], path);
    }
  }
});

test('a path that is not well formed gets 404 or 400, never more', async () => {
  const targets = ['%', '%zz/', '%e4%/', '%00/', '%c0%af/', '..%2f/', '%ff/', '1/%', '%0d%0aX:y/'];
  for (const target of targets) {
    const answer = await raw(`GET ${LIST}${target}`);
    assert.is(statusOf(answer), 404, target);
    assert.equal(JSON.parse(bodyOf(answer)), { detail: 'Not found.' });
  }
  for (const target of ['', '\xe4', '\x01', 'rest/', '/\x7f']) {
    const answer = await raw(`GET ${target}`);
    assert.is(statusOf(answer), 400, target);
    assert.type(JSON.parse(bodyOf(answer)).detail, 'string');
  }
  assert.is(statusOf(await raw('GET *')), 404);
  assert.is(statusOf(await raw('OPTIONS *')), 404);
});

test('malformed and oversized requests get an error in JSON', async () => {
  const cases: [status: number, bytes: string][] = [
    [400, 'hello\r\n\r\n'],
    [400, '\x16\x03\x01\x02\x00\x01'],
    [400, '\0\0\0\0\r\n\r\n'],
    [400, `GET ${LIST} HTTP/9.9\r\nHost: x\r\n\r\n`],
    [400, `FOO ${LIST} HTTP/1.1\r\nHost: x\r\n\r\n`],
    [400, `GET ${LIST} HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n`],
    [400, `POST ${LIST} HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n`],
    [431, `GET ${LIST}?x=${'y'.repeat(33_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    [431, `GET ${LIST} HTTP/1.1\r\nHost: x\r\nCookie: ${'y'.repeat(1_000_000)}\r\n\r\n`],
    [431, `GET ${LIST} HTTP/1.1\r\nHost: x\r\n${'y'.repeat(1_000_000)}: name\r\n\r\n`],
    [431, `GET ${LIST} HTTP/1.1\r\nHost: x\r\n${'X: yyyyyyyy\r\n'.repeat(20_000)}\r\n`],
  ];
  for (const [status, bytes] of cases) {
    const answer = await exchange(service.port, bytes);
    assert.is(statusOf(answer), status, bytes.slice(0, 60));
    assert.match(answer, /\r\nContent-Type: application\/json\r\n/);
    assert.match(answer, /\r\nX-Content-Type-Options: nosniff\r\n/);
    assert.equal(Object.keys(JSON.parse(bodyOf(answer))), ['detail']);
  }
});

test('the error of an address with unencoded characters says what to write', async () => {
  const answer = await exchange(service.port, `GET ${LIST}?tags=Työ HTTP/1.1\r\nHost: x\r\n\r\n`);
  assert.is(statusOf(answer), 400);
  assert.match(JSON.parse(bodyOf(answer)).detail, /encoded, such as %C3%B6/);
});

test('an Accept header that no representation satisfies gets 406', async () => {
  const paths = [LIST, `${LIST}1/`, '/rest/', '/rest/notifications/'];
  // also where parameters are wrong
  for (const path of [...paths, `${LIST}?bbox=x`]) {
    for (const accept of ['image/png', '*/*;q=0']) {
      const reply = await service.get(path, { headers: { accept } });
      assert.is(reply.status, 406, `${path} ${accept}`);
      assert.equal(reply.json(), { detail: 'Could not satisfy the request Accept header.' });
    }
  }
  for (const path of paths) {
    const forced = { headers: { accept: 'image/png' } };
    assert.is((await service.get(`${path}?format=json`, forced)).status, 200);
  }
});

test('an unknown token gets 401 at every address', async () => {
  const paths = [LIST, `${LIST}1/`, '/rest/', '/rest/notifications/', '/rest/nope/'];
  for (const path of [...paths, '/rest/map_data_points', `${LIST}?bbox=x`]) {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']) {
      const reply = await service.get(path, { method, headers: { authorization: 'Token nope' } });
      assert.is(reply.status, 401, `${method} ${path}`);
      assert.is(reply.headers['www-authenticate'], 'Token');
      if (method !== 'HEAD') assert.equal(reply.json(), { detail: 'Invalid token.' });
    }
  }
});

test.run();
