import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { createSite } from '../../src/http/pages/site.js';
import { startNotes } from '../support/app.js';
import { type Envelope, LIST, type Reply } from '../support/client.js';
import { jsonOfPage, shownText, tags } from '../support/documents.js';
import { scatterNotes } from '../support/notes.js';
import { assert, pluck, test } from '../support/uvu.js';

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const tileUrl = 'https://tiles.example:8443/{z}/{x}/{y}.png';
const site = createSite({ tileUrl, media: 'folder' }, false);
const service = await startNotes(scatterNotes(71, 2_000), { site, answerCacheBytes: 2 ** 20 });
const BOX = 'bbox=20,50,30,70';

function browse(path: string): Promise<Reply> {
  return service.get(path, { headers: { accept } });
}

test('pages can be turned by links alone', async () => {
  const ids: unknown[] = [];
  let pages = 0;
  for (let path: string | undefined = `${LIST}?page_size=9&${BOX}`; path; ) {
    const { text } = await browse(path);
    ids.push(...jsonOfPage<Envelope>(text).results.map(({ id }) => id));
    const next = tags(text, 'a').find(({ rel }) => rel === 'next');
    path = next && next['href']!.slice(`http://127.0.0.1:${service.port}`.length);
    pages++;
  }
  const all = await service.get(`${LIST}?page_size=1000&${BOX}`);
  assert.ok(pages > 3);
  assert.equal(ids, pluck(all.json<Envelope>().results, 'id'));
  const { text } = await browse(`${LIST}?page_size=10&page=20`);
  const numbers = tags(text, 'a').filter((one) => /[?&]page=\d+/.test(one['href'] ?? ''));
  for (const page of [18, 19, 20, 21, 22, 200]) {
    const href = `${LIST}?page=${page}&page_size=10`;
    assert.ok(pluck(numbers, 'href').includes(href), href);
  }
  const current = tags(text, 'a').find((one) => one['aria-current'] === 'page');
  assert.is(current!['href'], `${LIST}?page=20&page_size=10`);
});

test('pages and errors have a strict Content-Security-Policy', async () => {
  const paths = [LIST, `${LIST}1/`, '/rest/', '/rest/notifications/', '/nope', `${LIST}?bbox=1`];
  for (const path of [...paths, '/rest/nope/', '/media/map_data_points/1/no.jpg']) {
    const { headers, text } = await browse(path);
    assert.match(headers['content-type'] as string, 'text/html');
    assert.is(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; img-src 'self' blob: https://tiles.example:8443; connect-src 'self' https://tiles.example:8443; worker-src 'self'; form-action 'self'",
    );
    assert.is(headers['x-content-type-options'], 'nosniff');
    assert.is(headers['referrer-policy'], 'same-origin');
    assert.not.match(text, /<style|\sstyle=|\son[a-z]+=|<script(?! type="module" src="\/static\/)/);
    const loaded = [...tags(text, 'script'), ...tags(text, 'img')].map((one) => one['src']!);
    loaded.push(...tags(text, 'link').map((one) => one['href']!));
    for (const url of loaded) assert.match(url, /^\/(?:static|media)\//);
  }
});

test('the page of notifications says that no token came, and how to send one', async () => {
  const { text } = await browse('/rest/notifications/');
  assert.match(text, 'No token came');
  const address = `http://127.0.0.1:${service.port}/rest/notifications/`;
  assert.match(shownText(text), `curl -H 'Authorization: Token …' '${address}'`);
});

test('no address makes a page lead to another host', async () => {
  for (const path of ['//evil.example/', '/\\evil.example/x', '//evil.example/?format=api']) {
    const { status, text } = await browse(path);
    assert.is(status, 404);
    const own = `http://127.0.0.1:${service.port}`;
    for (const { href } of tags(text, 'a')) assert.is(new URL(href!, own).origin, own, href);
  }
});

test('the list without its map is below 60 kB over the wire, styles and script included', async () => {
  const { text } = await browse(LIST);
  let bytes = gzipSync(text, { level: 4 }).length;
  const own = [...tags(text, 'link'), ...tags(text, 'script')].map(({ href, src }) => href ?? src!);
  for (const url of own.filter((one) => !one.includes('/map'))) {
    bytes += (await service.get(url, { headers: { 'Accept-Encoding': 'gzip' } })).body.length;
  }
  assert.ok(bytes < 60_000, `${bytes} bytes`);
});

test('Server-Timing is sent only on request', async () => {
  const headers = { 'Waypost-Timing': '1' };
  assert.is((await browse(LIST)).headers['server-timing'], undefined);
  const box = `${LIST}?${BOX}`;
  const told = (await service.get(box, { headers })).headers['server-timing'] as string;
  assert.match(told, /^total;dur=\d+\.\d{3}/);
  const [, looks] = /query;desc="runs, \w+, (\d+) rows"$/.exec(told)!;
  // only points near the box are tested
  assert.ok(Number(looks) > 20 && Number(looks) < 1000, told);
  const path = `${LIST}?page_size=3`;
  assert.is((await service.get(path)).headers['server-timing'], undefined);
  assert.match((await service.get(path, { headers })).headers['server-timing'] as string, 'total');
  const kept = (await service.get(path, { headers })).headers['server-timing'] as string;
  assert.match(kept, 'cache;desc="hit"');
});

test('the viewer is not loaded before its first request', () => {
  // in a process of its own, because other tests may have loaded the viewer
  const app = new URL('../../src/http/app.js', import.meta.url).href;
  const code = `import { createRequire } from 'node:module';
    await import('${app}');
    console.log(Object.keys(createRequire('${app}').cache).join('\\n'));`;
  const args = ['--input-type=module', '--eval', code];
  const loaded = spawnSync(process.execPath, args).stdout.toString();
  assert.match(loaded, /node_modules.fastify\b/);
  assert.not.match(loaded, /swagger-ui/);
});

test('the viewer is at /docs/, and all files that its page names are served', async () => {
  const { status, headers } = await service.get('/docs');
  assert.equal([status, headers.location], [301, 'docs/']);
  const page = await service.get('/docs/');
  assert.is(page.status, 200);
  assert.match(page.headers['content-type']!, /^text\/html/);
  const named = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path!);
  assert.ok(named.length >= 5);
  for (const path of named) {
    // links, not resources of the page
    if (['/rest/', '/openapi.json'].includes(path)) continue;
    assert.ok(path.startsWith('/static/'), path);
    const file = await service.get(path);
    assert.is(file.status, 200, path);
    assert.ok(file.body.length > 0, path);
    assert.is(file.headers['x-content-type-options'], 'nosniff');
  }
});

test('the viewer runs only its own scripts, loads nothing from other hosts, and allows no frames', async () => {
  const policy = String((await service.get('/docs/')).headers['content-security-policy']);
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

test("the viewer's page fits screens, and links to the document", async () => {
  const { text } = await service.get('/docs/');
  assert.match(text, '<meta name="viewport" content="width=device-width');
  assert.match(text, 'data-document="/openapi.json"');
  assert.match(text, /<noscript>.*href="\/openapi.json"/);
  const head = await service.get('/docs/', { method: 'HEAD' });
  assert.equal([head.headers['content-length'], head.text], [String(Buffer.byteLength(text)), '']);
});

test.run();
