import { spawnSync } from 'node:child_process';
import { startApp } from '../support/app.js';
import { ask, type Reply } from '../support/client.js';
import { assert, test } from '../support/uvu.js';

const app = await startApp({ generation: undefined as never });
const get = (path: string, headers = {}): Promise<Reply> => ask(app.port, path, { headers });

test('nothing of the viewer is loaded before it is asked for', () => {
  // another test of this process may have asked for it
  const app = new URL('../../src/http/app.js', import.meta.url).href;
  const code = `import { createRequire } from 'node:module';
    await import('${app}');
    console.log(Object.keys(createRequire('${app}').cache).join('\\n'));`;
  const args = ['--input-type=module', '--eval', code];
  const loaded = spawnSync(process.execPath, args).stdout.toString();
  assert.match(loaded, /node_modules.fastify\b/);
  assert.not.match(loaded, /swagger-ui/);
});

test('the viewer stands at /docs/, and all that its page names comes from there', async () => {
  const { status, headers } = await get('/docs');
  assert.equal([status, headers.location], [301, 'docs/']);
  const page = await get('/docs/');
  assert.is(page.status, 200);
  assert.match(page.headers['content-type']!, /^text\/html/);
  const named = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path!);
  assert.ok(named.length >= 5);
  for (const path of named) {
    // links to the resources and to the document
    if (['/rest/', '/openapi.json'].includes(path)) continue;
    assert.ok(path.startsWith('/static/'), path);
    const file = await get(path);
    assert.is(file.status, 200, path);
    assert.ok(file.body.length > 0, path);
    assert.is(file.headers['x-content-type-options'], 'nosniff');
  }
});

test('its pages run no script but its own, load nothing from elsewhere, and stand in no frame', async () => {
  const policy = String((await get('/docs/')).headers['content-security-policy']);
  const rules = new Map(
    policy.split('; ').map((rule) => {
      const [name, ...sources] = rule.split(' ');
      return [name, sources.join(' ')];
    }),
  );
  assert.is(rules.get('default-src'), "'none'");
  assert.is(rules.get('frame-ancestors'), "'none'");
  for (const name of ['script-src', 'style-src', 'connect-src']) {
    assert.is(rules.get(name), "'self'", name);
  }
});

test('the page fits screens, and leads to the document that programs read', async () => {
  const { text } = await get('/docs/');
  assert.match(text, '<meta name="viewport" content="width=device-width');
  assert.match(text, 'data-document="/openapi.json"');
  assert.match(text, /<noscript>.*href="\/openapi.json"/);
  const head = await ask(app.port, '/docs/', { method: 'HEAD' });
  assert.equal([head.headers['content-length'], head.text], [String(Buffer.byteLength(text)), '']);
});

test('there is nothing else at its addresses', async () => {
  for (const path of [
    ...['json', 'yaml', 'static/', 'static/no.js', 'static/..%2f..%2fpackage.json', 'x', '..'],
  ]) {
    const { status, text } = await get(`/docs/${path}`);
    assert.equal([status, JSON.parse(text)], [404, { detail: 'Not found.' }], path);
  }
  const posted = await ask(app.port, '/docs/', { method: 'POST' });
  assert.equal([posted.status, posted.headers.allow], [405, 'GET, HEAD, OPTIONS']);
});

test.run();
