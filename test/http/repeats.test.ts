import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Asked, LIST, type Reply } from '../support/client.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { assert, makeFolder, test } from '../support/uvu.js';

// a journal of its own would name the state of each
const FLAGS = ['--journal', 'none'];
const service = await startOwnService(FLAGS);
const forgetful = await startOwnService([...FLAGS, '--answer-cache', '0']);
const tight = await startOwnService([...FLAGS, '--answer-cache', '64KiB']);

const PATHS = [
  LIST,
  `${LIST}?`,
  `${LIST}?page=2`,
  `${LIST}?bbox=24.9,60.1,25,60.2&ordering=-created_at`,
  `${LIST}?coordinates=60.166,24.951,1000&page=2&page_size=7`,
  `${LIST}?coordinates=60.166,24.951,1000&page_size=7&page=2`,
  `${LIST}?created_at_after=2023-01-01T00:00:00Z&created_at_before=2022-01-01T00:00:00Z`,
];
const host = 'same.example';

function comparable({ status, headers, body }: Reply): object {
  const { date: _, ...others } = headers;
  return { status, headers: others, body: body.toString('latin1') };
}

async function same(from: OwnService, path: string, asked: Asked = {}): Promise<Reply> {
  const first = await from.get(path, asked);
  for (let i = 0; i < 4; i++) {
    assert.equal(comparable(await from.get(path, asked)), comparable(first), path);
  }
  return first;
}

test('the same request gets the same answer, kept or not', async () => {
  for (const path of PATHS) {
    const kept = await same(service, path, { headers: { host } });
    for (const other of [forgetful, tight]) {
      const fresh = await same(other, path, { headers: { host } });
      assert.equal(comparable(fresh), comparable(kept), path);
    }
  }
});

test('a kept answer is that of its host, its representation and its parameters', async () => {
  const asked: [path: string, asked: Asked][] = [];
  for (const path of PATHS) {
    for (const name of ['one.example', 'two.example']) {
      for (const accept of ['application/json', 'text/html', '*/*', '']) {
        asked.push([path, { headers: { host: name, accept } }]);
      }
    }
  }
  const bodies = new Map<string, string>();
  for (let round = 0; round < 4; round++) {
    for (const [path, one] of asked) {
      const { status, headers, text } = await service.get(path, one);
      assert.is(status, 200);
      const { host: name, accept } = one.headers as { host: string; accept: string };
      const isHtml = accept === 'text/html';
      assert.is(headers['content-type']!.startsWith('text/html'), isHtml);
      const other = name === 'one.example' ? 'two.example' : 'one.example';
      assert.not.ok(text.includes(other));
      const key = JSON.stringify([path, one]);
      assert.is(text, bodies.get(key) ?? text, key);
      bodies.set(key, text);
    }
  }
});

test('a kept answer is revalidated, and left out for HEAD', async () => {
  for (const path of PATHS) {
    const { headers, body } = await same(service, path);
    const asked = { headers: { 'If-None-Match': headers.etag! } };
    assert.is((await service.get(path, asked)).status, 304);
    const head = await same(service, path, { method: 'HEAD' });
    assert.is(head.headers['content-length'], String(body.length));
    assert.is(head.body.length, 0);
    assert.is((await service.get(path)).body.length, body.length);
  }
});

test('errors stay errors', async () => {
  for (const query of ['?page=99', '?bbox=x', '?format=xml']) {
    const first = await service.get(LIST + query);
    for (let i = 0; i < 3; i++) {
      const again = await service.get(LIST + query);
      assert.is(again.status, first.status);
      assert.is(again.text, first.text);
    }
  }
});

test('more answers than the cache holds do no harm', async () => {
  const { text } = await forgetful.get(`${LIST}?page_size=50`, { headers: { host } });
  for (let round = 0; round < 3; round++) {
    for (let page = 1; page <= 60; page++) {
      const path = `${LIST}?page_size=50&page=${page}`;
      const reply = await tight.get(path, { headers: { host } });
      assert.is(reply.status, 200);
      if (page === 1) {
        assert.is(JSON.parse(reply.text).results.length, 50);
        assert.equal(JSON.parse(reply.text).results, JSON.parse(text).results);
      }
    }
  }
});

const folder = makeFolder();
const ADDRESSES = [
  LIST,
  `${LIST}?page=3&page_size=7`,
  `${LIST}7/`,
  '/rest/notifications/',
  '/rest/',
];

async function tagOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  return (await service.get(path, { headers })).headers.etag!;
}

test('an If-None-Match that names the answer gets 304 and no body', async () => {
  for (const path of ADDRESSES) {
    const etag = await tagOf(path);
    const full = (await service.get(path)).headers;
    const lists = [etag, `W/${etag}`, `"x", ${etag}`, `"a,b" ,W/"y",\t${etag}, "z"`, '*', ' * '];
    for (const list of lists) {
      for (const method of ['GET', 'HEAD']) {
        const asked = { method, headers: { 'If-None-Match': list } };
        const { status, headers, body } = await service.get(path, asked);
        assert.is(status, 304, `${path} ${list}`);
        assert.is(body.length, 0);
        assert.is(headers['content-type'], undefined);
        assert.is(headers['content-length'], undefined);
        for (const name of ['etag', 'last-modified', 'vary', 'cache-control', 'allow'] as const) {
          assert.is(headers[name], full[name], name);
        }
      }
    }
  }
});

test('any other If-None-Match gets the whole answer', async () => {
  for (const path of ADDRESSES) {
    const etag = await tagOf(path);
    const bare = etag.slice(1, -1);
    const lists = ['"x"', 'W/"x"', bare, `'${bare}'`, '', '"*"', `${etag}x`, `"x${bare}"`, '"'];
    for (const list of lists) {
      const reply = await service.get(path, { headers: { 'If-None-Match': list } });
      assert.is(reply.status, 200, `${path} ${list}`);
      assert.ok(reply.body.length > 0);
    }
  }
});

test('errors are errors whatever the client has', async () => {
  const bad = [`${LIST}?bbox=1`, `${LIST}0/`, '/rest/nope/', `${LIST}?format=xml`];
  const nowhere = [`${LIST}?page=999999`, '/rest/notifications/?page=2', `${LIST}999999/`];
  const etag = await tagOf(LIST);
  for (const path of [...bad, ...nowhere]) {
    for (const list of ['*', etag]) {
      for (const accept of ['application/json', 'text/html']) {
        const headers = { 'If-None-Match': list, accept };
        const { status } = await service.get(path, { headers });
        assert.ok(status === 400 || status === 404, `${path} ${list}`);
      }
    }
  }
});

test('every address has a tag of its own, parameters and host included', async () => {
  const paths = [...ADDRESSES, `${LIST}?page=2`, `${LIST}?page=3`, `${LIST}?`, `${LIST}8/`];
  const tags: string[] = [];
  for (const path of paths) {
    for (const host of ['one.example', 'two.example']) tags.push(await tagOf(path, { host }));
  }
  assert.is(new Set(tags).size, tags.length);
});

test('settings that change answers change tags', async () => {
  const host = 'same.example';
  const own = await tagOf(LIST, { host });
  const settings = [
    ['--time-zone', 'Europe/Helsinki'],
    ['--public-url', 'http://same.example'],
    ['--trust-proxy'],
    ['--max-page-bytes', '4MiB'],
  ];
  await Promise.all(
    settings.map(async (flags) => {
      const other = await startOwnService([...FLAGS, ...flags]);
      const asked = { headers: { host, 'If-None-Match': own } };
      assert.is((await other.get(LIST, asked)).status, 200, flags.join(' '));
    }),
  );
});

test('the page for people has a tag of its own', async () => {
  for (const path of ADDRESSES) {
    const json = await tagOf(path);
    const html = await tagOf(path, { accept: 'text/html' });
    assert.is.not(html, json);
    const asked = { headers: { accept: 'text/html', 'If-None-Match': json } };
    assert.is((await service.get(path, asked)).status, 200);
  }
});

test('the same file has the same tag after a restart, another file another', async () => {
  const again = await startOwnService(FLAGS);
  // links name the host, and so does the tag
  const host = 'same.example';
  const { etag } = (await again.get(LIST, { headers: { host } })).headers;
  assert.is(etag, await tagOf(LIST, { host }));
  await again.stop();
  const other = join(folder, 'other.ndjson');
  writeFileSync(other, '{"id":1,"lat":"0","lon":"0","created_at":"2024-01-01T00:00:00Z"}\n');
  const different = await startOwnService(['--snapshot', other]);
  assert.is.not((await different.get(LIST)).headers.etag, await tagOf(LIST));
});

test.run();
