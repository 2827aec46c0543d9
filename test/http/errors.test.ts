import { bodyOf, exchange, LIST, statusOf } from '../support/client.js';
import { jsonOfPage } from '../support/documents.js';
import { startOwnService } from '../support/own-service.js';
import { assert, test } from '../support/uvu.js';

const service = await startOwnService();

/** Sends a request line and headers as they are. */
function raw(line: string, headers = 'Host: x'): Promise<string> {
  return exchange(service.port, `${line} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
}

test('an address that is none gets 404', async () => {
  const paths = [
    ...['/rest/nope/', '/REST/', '/rest/map_data_points/1/2/', '/rest//map_data_points/'],
    ...['//rest/map_data_points/', '//evil.example/rest/map_data_points'],
    ...['/rest/map_data_points/../notifications/', '/rest/map_data_points.json'],
    ...['/media/map_data_points/9/x.jpg', '/openapixjson', '/tiles/0/0/0xmvt', '/admin/reload'],
    '/favicon.ico',
    `/${'a'.repeat(5000)}/`,
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const reply = await service.get(path, { method });
      assert.is(reply.status, 404, `${method} ${path}`);
      assert.equal(reply.json(), { detail: 'Not found.' });
    }
  }
});

test('the root of the host leads to the list of resources', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await service.get('/', { method });
    assert.is(status, 302);
    assert.is(headers.location, '/rest/');
  }
  for (const method of ['POST', 'DELETE', 'OPTIONS']) {
    const reply = await service.get('/', { method });
    assert.is(reply.status, 404, method);
    assert.equal(reply.json(), { detail: 'Not found.' });
  }
});

test('an unknown format is named with those that there are, before other mistakes', async () => {
  for (const format of ['GeoJSON', 'xml', 'JSON', '%3Cb%3E']) {
    const paths = [LIST, `${LIST}1/`, '/rest/', '/rest/notifications/'];
    for (const path of [...paths, `${LIST}?bbox=1&page=0`]) {
      const url = `${path}${path.includes('?') ? '&' : '?'}format=${format}`;
      const reply = await service.get(url);
      assert.is(reply.status, 404, url);
      const detail = `There is no format "${decodeURIComponent(format)}" here; the formats are json, api${path.startsWith(LIST) ? ', geojson' : ''}.`;
      assert.equal(reply.json(), { detail });
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

test('the target may name scheme and host, as through a proxy', async () => {
  const answer = await raw(`GET http://x${LIST}?page_size=1`);
  assert.is(statusOf(answer), 200);
  assert.is(JSON.parse(bodyOf(answer)).count, 3000);
});

test('what is no HTTP or too large is told so in JSON', async () => {
  const cases: [status: number, bytes: string][] = [
    [400, 'hello\r\n\r\n'],
    [400, '\x16\x03\x01\x02\x00\x01'],
    [400, '\0\0\0\0\r\n\r\n'],
    [400, `GET ${LIST} HTTP/9.9\r\nHost: x\r\n\r\n`],
    [400, `FOO ${LIST} HTTP/1.1\r\nHost: x\r\n\r\n`],
    [400, `GET ${LIST} HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n`],
    [400, `POST ${LIST} HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n`],
    [400, `POST ${LIST} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`],
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

test('an address with characters that are not encoded is told what to write', async () => {
  const answer = await exchange(service.port, `GET ${LIST}?tags=Työ HTTP/1.1\r\nHost: x\r\n\r\n`);
  assert.is(statusOf(answer), 400);
  assert.match(JSON.parse(bodyOf(answer)).detail, /encoded, such as %C3%B6/);
});

test('a parameter that cannot be used names itself, all of them at once', async () => {
  const query =
    '?bbox=1,2&coordinates=60,24&ordering=id&page_size=0&created_at_after=x&created_at_before=y&modified_at_after=2024-01-01&modified_at_before=24:00';
  const reply = await service.get(`${LIST}${query}`);
  assert.is(reply.status, 400);
  const errors = reply.json<Record<string, string[]>>();
  const names = query.slice(1).replaceAll(/=[^&]*/g, '');
  assert.equal(Object.keys(errors).sort(), names.split('&').sort());
  for (const [name, texts] of Object.entries(errors)) {
    assert.is(texts.length, 1);
    assert.match(texts[0]!, /^Got ".+": .+\. Expected .+\. Example: /);
    assert.ok(texts[0]!.includes(`Example: ${name}=`));
    // the example is good
    const example = /Example: (\S+)$/.exec(texts[0]!)![1]!;
    assert.is((await service.get(`${LIST}?${example}`)).status, 200, example);
  }
});

test('every error is a text under "detail", or lists of texts under parameters', async () => {
  const paths = [
    `${LIST}?page=0`,
    `${LIST}?page=&page_size=x`,
    `${LIST}?bbox=,,,`,
    `${LIST}?bbox=1,2,3,4&bbox=nan,0,0,0`,
    `${LIST}?coordinates=91,0,1`,
    `${LIST}?format=xml`,
    `${LIST}?page=2&coordinates=0,0,0`,
    `${LIST}?__proto__=1&constructor=2&page=x`,
    '/rest/notifications/?page_size=-1',
    '/rest/notifications/?page=2',
    '/rest/?format=x',
    `${LIST}1/?format=x`,
  ];
  for (const path of paths) {
    for (const accept of ['application/json', 'text/html', '*/*', 'image/png']) {
      const reply = await service.get(path, { headers: { accept } });
      assert.ok(reply.status >= 400 && reply.status < 500, path);
      // a browser gets the page of the error, which shows the same JSON
      const isPage = accept === 'text/html';
      const type = isPage ? 'text/html; charset=utf-8' : 'application/json';
      assert.is(reply.headers['content-type'], type);
      type Body = Record<string, unknown>;
      const body = isPage ? jsonOfPage<Body>(reply.text) : reply.json<Body>();
      const isDetail = typeof body['detail'] === 'string' && Object.keys(body).length === 1;
      const isByName = Object.values(body).every(
        (texts) => Array.isArray(texts) && texts.every((text) => typeof text === 'string'),
      );
      assert.ok(isDetail || isByName, reply.text);
    }
  }
});

test('what no representation satisfies gets 406', async () => {
  const paths = [LIST, `${LIST}1/`, '/rest/', '/rest/notifications/'];
  for (const path of paths) {
    for (const accept of ['image/png', 'application/xml, text/plain', '*/*;q=0', 'garbage', ',']) {
      const reply = await service.get(path, { headers: { accept } });
      assert.is(reply.status, 406, `${path} ${accept}`);
      assert.equal(reply.json(), { detail: 'Could not satisfy the request Accept header.' });
    }
    const forced = { headers: { accept: 'image/png' } };
    assert.is((await service.get(`${path}?format=json`, forced)).status, 200);
  }
});

test('an unknown token gets 401 at every address', async () => {
  const header = 'Invalid token header.';
  const details = {
    'Token nope': 'Invalid token.',
    'Bearer nope': 'Invalid token.',
    'token nope': 'Invalid token.',
    Token: `${header} No credentials provided.`,
    'Token a b': `${header} Token string should not contain spaces.`,
  };
  const paths = [LIST, `${LIST}1/`, '/rest/', '/rest/notifications/', '/rest/nope/'];
  for (const path of [...paths, '/rest/map_data_points', `${LIST}?bbox=x`]) {
    for (const [authorization, detail] of Object.entries(details)) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']) {
        const reply = await service.get(path, { method, headers: { authorization } });
        assert.is(reply.status, 401, `${method} ${path} ${authorization}`);
        assert.is(reply.headers['www-authenticate'], 'Token');
        if (method !== 'HEAD') assert.equal(reply.json(), { detail });
      }
    }
  }
});

test('whoever asks by another scheme is answered like anybody', async () => {
  for (const path of [LIST, '/rest/', '/rest/notifications/', '/health/ready', '/rest/nope/']) {
    const { status, text } = await service.get(path);
    for (const authorization of ['Basic eDp5', 'Digest username="x", realm="y"', 'nope', '']) {
      const reply = await service.get(path, { headers: { authorization } });
      assert.equal([reply.status, reply.text], [status, text], `${path} ${authorization}`);
    }
  }
});

test.run();
