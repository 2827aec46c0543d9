import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Assets, SOURCES } from '../../../src/http/assets/assets.js';
import { startApp } from '../../support/app.js';
import { ask } from '../../support/client.js';
import { makeFolder } from '../../support/folder.js';

const folder = makeFolder();
const app = await startApp({ generation: undefined as never });
test.after(async () => {
  await app.close();
});

const assets = new Assets('');

test('every static file is served, under an address that never changes its content', async () => {
  for (const { name, extension } of SOURCES) {
    const { url, body, type } = assets.named(`${name}.${extension}`);
    assert.match(url, /^\/static\/[\w-]+\.[0-9a-f]{12}\.\w+$/);
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
  assert.ok(stdout === assets.named('land.json').body.toString());
});

test('there is nothing else there, whatever the address', async () => {
  const { file } = assets.named('page.css');
  const wrong = ['', 'page.css', `${file}x`, file.replace('.css', '.js'), 'page.000000000000.css'];
  for (const name of [...wrong, '..%2f..%2fpackage.json', 'package.x.json', '%00', '__proto__']) {
    assert.is((await ask(app.port, `/static/${name}`)).status, 404, name);
  }
  const posted = await ask(app.port, `/static/${file}`, { method: 'POST' });
  assert.is(posted.status, 405);
  assert.is(posted.headers.allow, 'GET, HEAD, OPTIONS');
});

test('a module that another one imports has a part in its address', () => {
  const source = (name: string) => {
    return { name, extension: 'js' as const, paths: [join(folder, `${name}.js`)] };
  };
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, `${name}.js`), text);
  };
  const make = () => new Assets('/prefix', ['first', 'second'].map(source));
  write('first', "import { a } from './second.js';\nawait import('./second.js');\n");
  write('second', 'export const a = 1;\n//# sourceMappingURL=second.js.map\n');
  const before = make();
  const second = before.named('second.js');
  assert.is(second.body.toString(), 'export const a = 1;\n');
  const { url, body } = before.named('first.js');
  assert.match(url, /^\/prefix\/static\/first\./);
  assert.is(
    body.toString(),
    `import { a } from './${second.file}';\nawait import('./${second.file}');\n`,
  );
  write('second', 'export const a = 2;\n');
  assert.is.not(make().named('first.js').url, url);
  assert.throws(() => before.named('third.js'), /There is no static file third.js/);
});

test.run();
