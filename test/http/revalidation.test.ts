import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../support/folder.js';
import { startOwnService } from '../support/own-service.js';
import { SNAPSHOT } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

const folder = makeFolder();
const service = await startOwnService(['--snapshot', SNAPSHOT]);

const POINTS = '/rest/map_data_points/';
const PATHS = [
  POINTS,
  `${POINTS}?page=3&page_size=7`,
  `${POINTS}7/`,
  '/rest/notifications/',
  '/rest/',
];

async function tagOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  return (await service.get(path, { headers })).headers.etag!;
}

test('an If-None-Match that names the answer gets 304 and no body', async () => {
  for (const path of PATHS) {
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
  for (const path of PATHS) {
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
  const bad = [`${POINTS}?bbox=1`, `${POINTS}0/`, '/rest/nope/', `${POINTS}?format=xml`];
  const nowhere = [`${POINTS}?page=999999`, '/rest/notifications/?page=2', `${POINTS}999999/`];
  const etag = await tagOf(POINTS);
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
  const paths = [...PATHS, `${POINTS}?page=2`, `${POINTS}?page=3`, `${POINTS}?`, `${POINTS}8/`];
  const tags: string[] = [];
  for (const path of paths) {
    for (const host of ['one.example', 'two.example']) tags.push(await tagOf(path, { host }));
  }
  assert.is(new Set(tags).size, tags.length);
});

test('settings that change answers change tags', async () => {
  const host = 'same.example';
  const own = await tagOf(POINTS, { host });
  const settings = [
    ['--time-zone', 'Europe/Helsinki'],
    ['--public-url', 'http://same.example'],
    ['--trust-proxy'],
    ['--max-page-bytes', '4MiB'],
  ];
  await Promise.all(
    settings.map(async (flags) => {
      const other = await startOwnService(['--snapshot', SNAPSHOT, ...flags]);
      const asked = { headers: { host, 'If-None-Match': own } };
      assert.is((await other.get(POINTS, asked)).status, 200, flags.join(' '));
    }),
  );
});

test('the page for people has a tag of its own', async () => {
  for (const path of PATHS) {
    const json = await tagOf(path);
    const html = await tagOf(path, { accept: 'text/html' });
    assert.is.not(html, json);
    const asked = { headers: { accept: 'text/html', 'If-None-Match': json } };
    assert.is((await service.get(path, asked)).status, 200);
  }
});

test('the same file has the same tag after a restart, another file another', async () => {
  const again = await startOwnService(['--snapshot', SNAPSHOT]);
  // links name the host, and so does the tag
  const host = 'same.example';
  const { etag } = (await again.get(POINTS, { headers: { host } })).headers;
  assert.is(etag, await tagOf(POINTS, { host }));
  await again.stop();
  const other = join(folder, 'other.ndjson');
  writeFileSync(other, '{"id":1,"lat":"0","lon":"0","created_at":"2024-01-01T00:00:00Z"}\n');
  const different = await startOwnService(['--snapshot', other]);
  assert.is.not((await different.get(POINTS)).headers.etag, await tagOf(POINTS));
});
