import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Assets, PATHS } from '../../../src/http/pages/assets.js';
import { startApp } from '../../support/app.js';
import { ask } from '../../support/client.js';
import { makeFolder } from '../../support/folder.js';
import { assert, test } from '../../support/uvu.js';

const folder = makeFolder();
const app = await startApp({ generation: undefined as never });
const assets = new Assets('');

test('every static file is served, under an address that never changes its content', async () => {
  for (const [name, path] of PATHS) {
    const url = assets.url(name);
    const [, version] = /^\/static\/([0-9a-f]{12})\/[\w.-]+$/.exec(url)!;
    const { body, type } = assets.at(version!, name)!;
    assert.ok(readFileSync(path).includes(body.subarray(0, -1)), name);
    const plain = await ask(app.port, url);
    assert.is(plain.status, 200);
    assert.ok(plain.body.equals(body));
    assert.is(plain.headers['content-type'], type);
    assert.is(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.is(plain.headers['x-content-type-options'], 'nosniff');
    assert.is(plain.headers.vary, 'Accept-Encoding');
    assert.not.match(plain.text, 'sourceMappingURL');
    for (const [coding, decode] of [
      ['gzip', gunzipSync] as const,
      ['br', brotliDecompressSync] as const,
    ]) {
      const headers = { 'accept-encoding': coding };
      const coded = await ask(app.port, url, { headers });
      assert.is(coded.headers['content-encoding'], coding);
      assert.ok(decode(coded.body).equals(body));
      const head = await ask(app.port, url, { method: 'HEAD', headers });
      assert.is(head.headers['content-length'], String(coded.body.length));
      assert.is(head.body.length, 0);
    }
  }
});

test('the outlines of land are what their script prints', () => {
  const script = fileURLToPath(new URL('../../../data/make-land.js', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  assert.ok(stdout === readFileSync(PATHS.get('land.json')!, 'utf8'));
});

test('there is nothing else there, whatever the address', async () => {
  const url = assets.url('page.css');
  const folder = url.slice(0, -'/page.css'.length);
  const wrong = [
    '/static/',
    '/static/page.css',
    '/static/000000000000/page.css',
    `${url}x`,
    folder,
  ];
  const names = ['', '..%2f..%2fpackage.json', 'package.json', 'page.ts', '%00', '__proto__'];
  for (const path of [...wrong, ...names.map((name) => `${folder}/${name}`)]) {
    assert.is((await ask(app.port, path)).status, 404, path);
  }
  const posted = await ask(app.port, url, { method: 'POST' });
  assert.is(posted.status, 405);
  assert.is(posted.headers.allow, 'GET, HEAD, OPTIONS');
});

test('all addresses change with any of the files, and links of a script stay as they are', () => {
  const paths = new Map(['first.js', 'second.js'].map((name) => [name, join(folder, name)]));
  const link = "import { a } from './second.js';\n";
  writeFileSync(paths.get('first.js')!, link);
  writeFileSync(
    paths.get('second.js')!,
    'export const a = 1;\n//# sourceMappingURL=second.js.map\n',
  );
  const before = new Assets('/prefix', paths);
  const url = before.url('first.js');
  const [, version] = /^\/prefix\/static\/(\w+)\/first\.js$/.exec(url)!;
  assert.is(before.at(version!, 'first.js')!.body.toString(), link);
  assert.is(before.at(version!, 'second.js')!.body.toString(), 'export const a = 1;\n');
  writeFileSync(paths.get('second.js')!, 'export const a = 2;\n');
  assert.is.not(new Assets('/prefix', paths).url('first.js'), url);
  assert.throws(() => before.url('third.js'), /There is no static file third.js/);
});

test.run();
