import type { IncomingMessage } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSite } from '../../src/http/pages/site.js';
import { originForm } from '../../src/http/request/origin.js';
import { type OwnApp, startApp } from '../support/app.js';
import { bodyOf, type Envelope, exchange, LIST, statusOf } from '../support/client.js';
import { generationOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { assert, test } from '../support/uvu.js';

const current = { generation: await generationOf(scatterNotes(59, 20)) };
const ORIGIN = { publicUrl: undefined, trustProxy: false, allowedHosts: ['*'] };
const publicUrl = 'https://maps.example/notes';
const service = await startApp(current, { audience: 'all' });
const published = await startApp(current, {
  origin: { ...ORIGIN, publicUrl },
  site: createSite({ publicUrl }, false),
});
const proxied = await startApp(current, { origin: { ...ORIGIN, trustProxy: true } });
const strict = await startApp(current, {
  audience: 'all',
  origin: { ...ORIGIN, allowedHosts: ['maps.example', '.sub.example'] },
});
const RESOURCES = [LIST, `${LIST}1/`, '/rest/', '/rest/notifications/'];

/** The origin of links, from the `next` of a list. */
async function originOf(from: OwnApp, headers: Record<string, string>): Promise<string> {
  const { next } = (await from.get(`${LIST}?page_size=1`, { headers })).json<Envelope>();
  const rest = `${LIST}?page=2&page_size=1`;
  assert.ok(next!.endsWith(rest), next!);
  return next!.slice(0, -rest.length);
}

/** Sends a raw target. */
function raw(from: OwnApp, target: string, host = 'maps.example'): Promise<string> {
  const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  return exchange(from.port, head);
}

test('links begin with the host of the request', async () => {
  const hosts = ['testserver.example', 'a_b.example:8080', '127.0.0.1', '[::1]:99', 'EXAMPLE.org.'];
  for (const host of hosts) assert.is(await originOf(service, { host }), `http://${host}`);
});

test('a host that is not valid in a link gets 400', async () => {
  const hosts = [
    ...['', 'a b', '<script>', 'x/y', 'user@x', 'x:99999', 'x:', '[::1', '1:2:3', 'x?y', 'x#y'],
    ...["'x'", '"x"', 'a..b', 'x\\y', '%78', 'a,b', '.', 'é', 'a'.repeat(300)],
  ];
  for (const host of hosts) {
    for (const path of host === '<script>' ? RESOURCES : [LIST]) {
      const answer = await raw(service, path, host);
      assert.is(statusOf(answer), 400, `${host} ${path}`);
      assert.match(JSON.parse(bodyOf(answer)).detail, /^The host ".*" must be a host name/);
    }
  }
});

test('HTTP/1.0 may do without a Host header, HTTP/1.1 may not', async () => {
  const old = await exchange(service.port, `GET ${LIST}?page_size=1 HTTP/1.0\r\n\r\n`);
  assert.is(statusOf(old), 200);
  const { next } = JSON.parse(bodyOf(old)) as Envelope;
  assert.is(next, `http://127.0.0.1:${service.port}${LIST}?page=2&page_size=1`);

  for (const path of [LIST, `${LIST}1/`, '/rest/', '/rest/nope/', '/rest/map_data_points']) {
    const request = `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(service.port, request);
    assert.is(statusOf(answer), 400, path);
    assert.equal(JSON.parse(bodyOf(answer)), { detail: 'The Host header is missing.' });
  }
});

test('two Host headers are refused, even when they agree', async () => {
  for (const second of ['Host: x', 'Host: evil.example', 'hOST: x', 'Host:']) {
    for (const path of [LIST, '/rest', '/health/live', '/rest/nope/']) {
      // the service closes the connection though the request does not ask for it
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n${second}\r\n\r\n`;
      const answer = await exchange(service.port, request);
      assert.is(statusOf(answer), 400, `${path} ${second}`);
      assert.match(bodyOf(answer), 'more than one Host header');
    }
  }
});

test('a target that names the host counts in place of the Host header', async () => {
  const answer = await raw(service, `http://other.example:8080${LIST}?page_size=1`);
  const { next } = JSON.parse(bodyOf(answer)) as Envelope;
  assert.is(next, `http://other.example:8080${LIST}?page=2&page_size=1`);
  assert.is(statusOf(await raw(service, 'http://other.example/health/live')), 200);
  for (const authority of ['', 'user@other.example', 'a..b', "x'y", 'x:99999']) {
    const refused = await raw(service, `http://${authority}${LIST}`);
    assert.is(statusOf(refused), 400, authority);
  }
  // HTTP/1.1 demands a Host header all the same
  const bare = `GET http://other.example${LIST} HTTP/1.1\r\nConnection: close\r\n\r\n`;
  assert.is(statusOf(await exchange(service.port, bare)), 400);
});

test('a target that is kept holds no host that was named with it', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const long = Buffer.alloc(100_000, 'x');
  const kept: string[] = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 200; i++) {
    const url = `${Buffer.concat([Buffer.from('http://'), long, Buffer.from(`${LIST}?page=${i}`)])}`;
    kept.push(originForm({ url, headers: {} } as IncomingMessage));
  }
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  assert.is(kept[7], `${LIST}?page=7`);
  assert.ok(bytes < 5e6, `${bytes} bytes`);
});

test('redirects never lead to another host', async () => {
  for (const target of ['http://evil.example/rest', 'HTTP://evil.example/rest', '/rest']) {
    const answer = await raw(service, target);
    assert.is(statusOf(answer), 301, target);
    assert.match(answer, '\r\nlocation: /rest/\r\n');
    const under = await raw(published, target);
    assert.match(under, '\r\nlocation: https://maps.example/notes/rest/\r\n');
  }
});

test('hosts that are not allowed get no redirect', async () => {
  const targets = ['http://evil.example/rest', `http://evil.example${LIST}?page_size=1`];
  for (const target of targets) assert.is(statusOf(await raw(strict, target)), 400, target);
  for (const path of ['/rest', '/rest/map_data_points', '/rest/map_data_points/7']) {
    assert.is(statusOf(await raw(strict, path, 'evil.example')), 400, path);
    assert.is(statusOf(await raw(strict, path)), 301, path);
  }
  assert.is(statusOf(await raw(strict, `http://maps.example${LIST}`, 'evil.example')), 200);
});

test('headers of a proxy are ignored unless --trust-proxy is set', async () => {
  const forwarded = {
    host: 'inside.example',
    'X-Forwarded-Host': 'outside.example',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Port': '444',
    Forwarded: 'host=outside.example;proto=https',
  };
  assert.is(await originOf(service, forwarded), 'http://inside.example');
  assert.is(await originOf(proxied, forwarded), 'https://outside.example');
  assert.is(await originOf(proxied, { host: 'inside.example' }), 'http://inside.example');
  const two = { ...forwarded, 'X-Forwarded-Host': 'first.example, second.example' };
  assert.is(await originOf(proxied, two), 'https://first.example');
  const broken = { ...forwarded, 'X-Forwarded-Host': '<b>' };
  assert.is((await proxied.get(LIST, { headers: broken })).status, 400);
});

test('with a public URL links begin with it, its path included, whatever the host', async () => {
  for (const host of ['testserver.example', 'other.example:99', '<script>']) {
    assert.is(await originOf(published, { host }), 'https://maps.example/notes');
    const root = (await published.get('/rest/', { headers: { host } })).json<object>();
    assert.equal(root, {
      map_data_points: 'https://maps.example/notes/rest/map_data_points/',
      notifications: 'https://maps.example/notes/rest/notifications/',
    });
  }
  const { status, headers } = await published.get('/rest/map_data_points?a=1&b=%20');
  assert.is(status, 301);
  assert.is(headers.location, 'https://maps.example/notes/rest/map_data_points/?a=1&b=%20');
});

test('TileJSON leads to tiles at the public URL, or at the host that the client asked', async () => {
  const lead = async (from: OwnApp, headers: Record<string, string>): Promise<string> => {
    const reply = await from.get('/tiles/points.json?status=NEW', { headers });
    const { tiles } = reply.json<{ tiles: string[] }>();
    assert.is(tiles.length, 1);
    const [, origin] = /^(.*)\/tiles\/\{z\}\/\{x\}\/\{y\}\.mvt\?status=NEW&v=[\w.]+$/.exec(
      tiles[0]!,
    )!;
    return origin!;
  };
  const forwarded = {
    host: 'inside.example',
    'X-Forwarded-Host': 'outside.example:8443',
    'X-Forwarded-Proto': 'https',
  };
  assert.is(await lead(published, forwarded), 'https://maps.example/notes');
  assert.is(await lead(proxied, forwarded), 'https://outside.example:8443');
  assert.is(await lead(service, forwarded), 'http://inside.example');
});

test('only allowed hosts are answered where there is a list', async () => {
  for (const host of ['maps.example', 'MAPS.example:81', 'sub.example', 'a.b.sub.example']) {
    for (const path of RESOURCES) {
      assert.is((await strict.get(path, { headers: { host } })).status, 200, `${host} ${path}`);
    }
  }
  for (const host of ['evil.example', 'xmaps.example', 'maps.example.evil.example', '127.0.0.1']) {
    for (const path of RESOURCES) {
      const reply = await strict.get(path, { headers: { host } });
      assert.is(reply.status, 400, `${host} ${path}`);
      assert.equal(reply.json(), {
        detail: `The host "${host}" is not one that this service answers to.`,
      });
    }
  }
  assert.is((await strict.get('/health/live')).status, 200);
});

test.run();
