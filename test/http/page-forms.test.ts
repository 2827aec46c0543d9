import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { POINTS_PARAMETERS } from '../../src/http/request/list-parameters.js';
import type { Envelope, Reply } from '../support/client.js';
import { jsonOfPage, shownText } from '../support/documents.js';
import { PNG } from '../support/images.js';
import { startOwnService } from '../support/own-service.js';
import { SNAPSHOT } from '../support/service.js';

const POINTS = '/rest/map_data_points/';
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const folder = mkdtempSync(join(tmpdir(), 'waypost-'));
mkdirSync(join(folder, 'media'));
const service = await startOwnService([
  ...['--snapshot', SNAPSHOT, '--media', join(folder, 'media')],
  ...['--journal', join(folder, 'journal'), '--posts-per-address', '0'],
  ...['--tile-url', 'https://tiles.example:8443/{z}/{x}/{y}.png'],
]);

test.after(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

function browse(path: string): Promise<Reply> {
  return service.get(path, { headers: { accept } });
}

type Attributes = Readonly<Record<string, string>>;

/** The attributes of every start tag with a name. */
function tags(html: string, name: string): Attributes[] {
  return [...html.matchAll(new RegExp(`<${name}\\b([^>]*)>`, 'g'))].map(([, text]) =>
    Object.fromEntries(
      [...text!.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, key, value = '']) => [
        key,
        shownText(value),
      ]),
    ),
  );
}

/** What stands in the element with an id, up to the first end of a list or a paragraph. */
function textAt(html: string, id: string): string {
  const inside = new RegExp(`id="${id}"[^>]*>(.*?)</(?:ul|p)>`, 's').exec(html)![1]!;
  return shownText(inside.replaceAll(/<[^>]*>/g, ''));
}

test('there is a field for every parameter, and it keeps what was asked for', async () => {
  const values = { coordinates: '60.166,24.951,1000', has_image: 'true', ordering: '-created_at' };
  const query = new URLSearchParams({ ...values, x: '"><b>', page: '1', format: 'api' });
  query.append('status', 'NEW');
  query.append('status', 'OPEN');
  query.append('tags', 'a\\');
  query.append('tags', 'b\\,c,d');
  const { text } = await browse(`${POINTS}?${query}`);
  const form = /<form id="filters".*?<\/form>/s.exec(text)![0];
  const fields = [...tags(form, 'input'), ...tags(form, 'select')];
  for (const { name } of POINTS_PARAMETERS) {
    // the form begins again with the first page, in the same format
    const count = name === 'page' ? 0 : 1;
    assert.is(fields.filter((field) => field['name'] === name).length, count, name);
  }
  const shownAs = (name: string) => fields.find((field) => field['name'] === name)!['value'];
  assert.is(shownAs('coordinates'), values.coordinates);
  assert.is(shownAs('status'), 'NEW,OPEN');
  // as one list that means the same
  assert.is(shownAs('tags'), 'a\\\\,b\\,c,d');
  assert.is(shownAs('x'), '"><b>');
  assert.is(shownAs('format'), 'api');
  assert.match(form, '<option selected>-created_at</option>');
  assert.match(form, '<option selected>true</option>');
});

test('each filter that is set is a chip, whose link leaves it out', async () => {
  const query = 'bbox=20,50,40,70&tags=a\\,b,c&status=NEW&status=OPEN&page=1&x=y&format=api';
  const { text } = await browse(`${POINTS}?${query}`);
  const chips = /<ul class="chips">(.*?)<\/ul>/s.exec(text)![1]!;
  const links = new Map(
    tags(chips, 'a').map((one) => [
      one['aria-label']!,
      new URLSearchParams(one['href']!.slice(POINTS.length)),
    ]),
  );
  assert.equal(
    [...links.keys()],
    [
      'In a box 20,50,40,70',
      'Status NEW',
      'Status OPEN',
      'Any of the tags a,b',
      'Any of the tags c',
    ].map((one) => `Remove ${one}`),
  );
  const without = (label: string) => [...links.get(`Remove ${label}`)!].sort().join(' ');
  const rest = ['format,api', 'x,y'];
  assert.is(
    without('Status NEW'),
    ['bbox,20,50,40,70', rest[0], 'status,OPEN', 'tags,a\\,b,c', rest[1]].join(' '),
  );
  assert.is(
    without('Any of the tags c'),
    ['bbox,20,50,40,70', rest[0], 'status,NEW', 'status,OPEN', 'tags,a\\,b', rest[1]].join(' '),
  );
  assert.not.match(text, /<details open><summary[^>]*>Add a filter/);
  assert.not.match((await browse(POINTS)).text, '<ul class="chips">');
});

test('statuses and tags are offered as the data has them', async () => {
  const { text } = await browse(POINTS);
  for (const name of ['status', 'tags']) {
    const list = new RegExp(`<datalist id="v-${name}">(.*?)</datalist>`, 's').exec(text)![1]!;
    const offered = [...list.matchAll(/<option>(.*?)<\/option>/g)].map(([, one]) =>
      shownText(one!),
    );
    assert.ok(offered.length > 1, name);
    for (const value of offered) {
      const query = new URLSearchParams({ [name]: value, page_size: '1' });
      const { count } = (await service.get(`${POINTS}?${query}`)).json<Envelope>();
      assert.ok(count > 0, `${name} ${value}`);
    }
    assert.match(text, new RegExp(`<input id="f-${name}"[^>]* list="v-${name}"`));
  }
});

test('the page of notifications says that no token came, and how to send one', async () => {
  const { text } = await browse('/rest/notifications/');
  assert.match(text, 'No token came');
  const address = `http://127.0.0.1:${service.port}/rest/notifications/`;
  assert.match(shownText(text), `curl -H 'Authorization: Token …' '${address}'`);
});

test('what is wrong with a value stands beside its field', async () => {
  const { status, text } = await browse(`${POINTS}?bbox=<i>&ordering=up&page_size=20`);
  assert.is(status, 400);
  const problems = jsonOfPage<Record<string, string[]>>(text);
  assert.equal(Object.keys(problems).sort(), ['bbox', 'ordering']);
  for (const [name, texts] of Object.entries(problems)) {
    const field = [...tags(text, 'input'), ...tags(text, 'select')].find(
      (one) => one['name'] === name,
    )!;
    assert.is(field['aria-invalid'], 'true');
    const [error] = field['aria-describedby']!.split(' ');
    assert.is(textAt(text, error!), texts[0]);
  }
  assert.is(tags(text, 'input').find((one) => one['name'] === 'bbox')!['value'], '<i>');
  assert.match(text, '<option selected>up</option>');
});

test('pages are turned by links alone', async () => {
  const ids: unknown[] = [];
  let pages = 0;
  for (let path: string | undefined = `${POINTS}?page_size=9&bbox=24.9,60.15,24.96,60.17`; path; ) {
    const { text } = await browse(path);
    ids.push(...jsonOfPage<Envelope>(text).results.map(({ id }) => id));
    const next = tags(text, 'a').find(({ rel }) => rel === 'next');
    path = next && next['href']!.slice(`http://127.0.0.1:${service.port}`.length);
    pages++;
  }
  const all = await service.get(`${POINTS}?page_size=1000&bbox=24.9,60.15,24.96,60.17`);
  assert.ok(pages > 3);
  assert.equal(
    ids,
    all.json<Envelope>().results.map(({ id }) => id),
  );
  const { text } = await browse(`${POINTS}?page_size=10&page=20`);
  const numbers = tags(text, 'a').filter((one) => /[?&]page=\d+/.test(one['href'] ?? ''));
  for (const page of [18, 19, 20, 21, 22, 300]) {
    const href = `${POINTS}?page=${page}&page_size=10`;
    assert.ok(
      numbers.some((one) => one['href'] === href),
      href,
    );
  }
  assert.is(
    tags(text, 'a').filter((one) => one['aria-current'] === 'page')[0]!['href'],
    `${POINTS}?page=20&page_size=10`,
  );
});

test('ids, images and neighbours are linked in the JSON and in the table', async () => {
  const { text } = await browse(`${POINTS}?has_image=true&page_size=1`);
  const [point] = jsonOfPage<Envelope>(text).results;
  const hrefs = tags(text, 'a').map((one) => one['href']!);
  const count = (href: string): number => hrefs.filter((one) => one === href).length;
  assert.is(count(`${POINTS}${point!['id']}/`), 2);
  assert.is(count(point!['image'] as string), 2);
  assert.is(tags(text, 'img')[0]!['src'], point!['image']);
});

const BOUNDARY = 'b';

/** Posts a form as a browser does. */
function post(
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  image?: Buffer,
): Promise<Reply> {
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="image"; filename="${image ? 'a.png' : ''}"\r\nContent-Type: image/png\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(parts.join('') + file),
    image ?? Buffer.alloc(0),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  const own = { accept, 'Content-Type': type, 'Sec-Fetch-Site': 'same-origin' };
  return service.get(POINTS, { method: 'POST', headers: { ...own, ...headers }, body });
}

test('a form makes a point with an image, and shows it', async () => {
  const comment = '</textarea><script>alert(1)</script>';
  const reply = await post({ lat: '60.1', lon: '24.9', comment, _tags: ' a , ,b",c\\,d' }, {}, PNG);
  assert.is(reply.status, 201);
  assert.is(reply.headers['content-type'], 'text/html; charset=utf-8');
  const point = jsonOfPage<Record<string, unknown>>(reply.text);
  assert.is(point['comment'], comment);
  assert.equal(point['tags'], ['a', 'b"', 'c,d']);
  assert.match((await browse(POINTS)).text, '<option>c\\,d</option>');
  assert.ok(reply.headers.location!.endsWith(`${POINTS}${point['id']}/`));
  assert.is(tags(reply.text, 'img')[0]!['src'], point['image']);
  assert.not.match(reply.text, comment);
  const image = await service.get(point['image'] as string);
  assert.match(image.headers['content-security-policy'] as string, 'sandbox');
});

test('a form that is wrong is shown again, with what is wrong beside its fields', async () => {
  const fields = { lat: '91', lon: '', comment: '</textarea>"', _tags: 'x, y' };
  const { status, text } = await post(fields);
  assert.is(status, 400);
  const problems = jsonOfPage<Record<string, string[]>>(text);
  for (const name of ['lat', 'lon']) {
    const field = tags(text, 'input').find((one) => one['name'] === name)!;
    assert.is(field['value'], fields[name as 'lat']);
    assert.is(textAt(text, field['aria-describedby']!.split(' ')[0]!), problems[name]![0]);
  }
  assert.match(text, `&lt;/textarea&gt;&quot;</textarea>`);
  assert.is(tags(text, 'input').find((one) => one['name'] === '_tags')!['value'], 'x, y');
  const wrong = await post({ lat: '1', lon: '2' }, {}, Buffer.from('no image'));
  assert.is(wrong.status, 400);
  assert.match(
    textAt(wrong.text, 'p-image-error'),
    jsonOfPage<{ image: string[] }>(wrong.text).image[0]!,
  );
});

test('a form takes a decimal comma; programs are told', async () => {
  const made = await post({ lat: ' 60,17', lon: '-24,9', _tags: '' });
  const point = jsonOfPage<Record<string, unknown>>(made.text);
  assert.equal([point['lat'], point['lon']], ['60.17000000', '-24.90000000']);
  assert.is((await post({ lat: '60,17,1', lon: '1', _tags: '' })).status, 400);
  assert.is((await post({ lat: '60,17', lon: '1' }, { accept: 'application/json' })).status, 400);
});

test('raw JSON is posted by a form, and shown again when it is wrong', async () => {
  const made = await post({ _content: '{"lat": 1, "lon": "2", "tags": ["a,b"]}' });
  assert.is(made.status, 201);
  assert.equal(jsonOfPage<{ tags: string[] }>(made.text).tags, ['a,b']);
  for (const content of ['{"lat": </textarea>', '[1]', '{"lat":1}']) {
    const { status, text } = await post({ _content: content });
    assert.is(status, 400);
    const shown = /<textarea id="p-json"[^>]*>\n(.*?)<\/textarea>/s.exec(text)![1]!;
    assert.is(shownText(shown), content);
  }
  // fields of the forms mean nothing to other clients
  const other = await post({ _content: '{"lat":1,"lon":2}' }, { accept: 'application/json' });
  assert.equal(Object.keys(other.json<object>()), ['lat', 'lon']);
});

test('a form that is sent twice from one page makes one point', async () => {
  const pageOf = ({ text }: Reply): string => {
    const [first, second] = tags(text, 'input').filter(({ name }) => name === '_page');
    assert.equal(first, second);
    return first!['value']!;
  };
  const path = `${POINTS}?bbox=10,-10,12,-9&page_size=1`;
  const before = pageOf(await browse(path));
  const fields = { lat: '-9.5', lon: '11', comment: 'twice', _page: before };
  // the second click comes before the answer, which nobody reads then
  const [first, second] = await Promise.all([post(fields), post(fields)]);
  assert.equal([first.status, second.status], [201, 201]);
  assert.is(first.headers.location, second.headers.location);
  const replays = [first, second].map(({ headers }) => headers['idempotency-replayed']);
  assert.equal(replays.sort(), ['true', undefined]);
  assert.is((await post(fields, {}, PNG)).headers['idempotency-replayed'], undefined);

  const other = await post({ ...fields, comment: 'corrected' });
  assert.is(other.headers['idempotency-replayed'], undefined);
  // whoever has seen what was stored, and sends the same again, means another one
  for (const from of [pageOf(second), pageOf(await browse(path))]) {
    assert.is.not(from, before);
    const again = await post({ ...fields, _page: from });
    assert.equal([again.status, again.headers['idempotency-replayed']], [201, undefined]);
  }
  const wrong = await post({ ...fields, lat: 'far' });
  assert.equal([wrong.status, pageOf(wrong)], [400, before]);
  const { count } = (await service.get(`${path}&format=json`)).json<Envelope>();
  assert.is(count, 5);
});

test('a form of another site is refused; programs of other sites are not', async () => {
  const fields = { lat: '1', lon: '2' };
  const own = `127.0.0.1:${service.port}`;
  const none = { 'Sec-Fetch-Site': '' };
  for (const site of ['cross-site', 'same-site']) {
    const reply = await post(fields, { 'Sec-Fetch-Site': site, Origin: `http://${own}` });
    assert.is(reply.status, 403, site);
    assert.match(jsonOfPage<{ detail: string }>(reply.text).detail, site);
  }
  const plain = async (headers: Record<string, string>): Promise<number> => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', ...headers };
    return (await service.get(POINTS, { method: 'POST', headers: form, body: 'lat=1&lon=2' }))
      .status;
  };
  assert.is((await post(fields, none)).status, 403);
  for (const origin of ['https://evil.example', 'null', 'x', `http://${own}.evil.example`]) {
    assert.is(await plain({ accept, Origin: origin }), 403, origin);
    assert.is(await plain({ Origin: origin }), 201, origin);
  }
  for (const origin of [`http://${own}`, `https://${own}`]) {
    assert.is(await plain({ accept, Origin: origin }), 201, origin);
  }
  assert.is(await plain({ accept }), 201);
  assert.is(await plain({ accept, 'Sec-Fetch-Site': 'none' }), 201);
});

test('pages and errors let a browser do nothing but what they need', async () => {
  const paths = [
    POINTS,
    `${POINTS}1/`,
    '/rest/',
    '/rest/notifications/',
    '/nope',
    `${POINTS}?bbox=1`,
  ];
  for (const path of [...paths, '/rest/nope/', '/media/map_data_points/1/no.jpg']) {
    const { headers, text } = await browse(path);
    assert.match(headers['content-type'] as string, 'text/html');
    assert.is(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: https://tiles.example:8443; connect-src 'self' https://tiles.example:8443; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    assert.is(headers['x-content-type-options'], 'nosniff');
    assert.not.match(text, /<style|\sstyle=|\son[a-z]+=|<script(?! type="module" src="\/static\/)/);
    const loaded = [...tags(text, 'script'), ...tags(text, 'img')].map((one) => one['src']!);
    loaded.push(...tags(text, 'link').map((one) => one['href']!));
    for (const url of loaded) assert.match(url, /^\/(?:static|media)\//);
  }
});

test('no address makes a page lead to another host', async () => {
  for (const path of ['//evil.example/', '/\\evil.example/x', '//evil.example/?format=api']) {
    const { status, text } = await browse(path);
    assert.is(status, 404);
    const own = `http://127.0.0.1:${service.port}`;
    for (const { href } of tags(text, 'a')) assert.is(new URL(href!, own).origin, own, href);
  }
});

test('a page says what everything is, to whoever cannot see it', async () => {
  const posted = await post({ lat: '', lon: '' });
  for (const { text } of [await browse(POINTS), await browse(`${POINTS}?bbox=1`), posted]) {
    assert.is(tags(text, 'html')[0]!['lang'], 'en');
    assert.is(tags(text, 'h1').length, 1);
    assert.is(tags(text, 'main').length, 1);
    const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id!);
    assert.is(new Set(ids).size, ids.length);
    const named = new Set(tags(text, 'label').map((one) => one['for']));
    for (const kind of ['input', 'select', 'textarea']) {
      for (const { type, id } of tags(text, kind)) {
        if (type !== 'hidden') assert.ok(named.has(id!), `${kind} ${id}`);
      }
    }
    for (const [, list] of text.matchAll(/\saria-(?:describedby|labelledby)="([^"]*)"/g)) {
      for (const id of list!.split(' ')) assert.ok(ids.includes(id), id);
    }
    for (const { href = '#' } of tags(text, 'a')) {
      if (href.startsWith('#')) assert.ok(ids.includes(href.slice(1)), href);
    }
    assert.ok(tags(text, 'img').every(({ alt }) => alt));
  }
});

test('the list without its map is below 60 kB over the wire, styles and script included', async () => {
  const { text } = await browse(POINTS);
  const { gzipSync } = await import('node:zlib');
  let bytes = gzipSync(text, { level: 4 }).length;
  const own = [...tags(text, 'link'), ...tags(text, 'script')].map(
    (one) => one['href'] ?? one['src']!,
  );
  for (const url of own.filter((one) => !one.includes('/map'))) {
    bytes += (await service.get(url, { headers: { 'Accept-Encoding': 'gzip' } })).body.length;
  }
  assert.ok(bytes < 60_000, `${bytes} bytes`);
});

test('Server-Timing is told of pages, and to who asks', async () => {
  const headers = { 'Waypost-Timing': '1' };
  assert.match((await browse(POINTS)).headers['server-timing'] as string, /^total;dur=\d+\.\d{3}/);
  const box = `${POINTS}?bbox=24.9,60.15,24.96,60.17`;
  const told = (await service.get(box, { headers })).headers['server-timing'] as string;
  const [, looks] = /query;desc="runs, \w+, (\d+) rows"$/.exec(told)!;
  // those at the border of the box are tested, and no others outside of it
  assert.ok(Number(looks) > 100 && Number(looks) < 3000, told);
  // the script of the page tells it
  const page = await browse(box);
  assert.match(page.headers['server-timing'] as string, `query;desc="runs, `);
  assert.match(page.headers['server-timing'] as string, `, ${looks} rows"`);
  assert.match(page.text, '<p id="timing"></p>');
  const path = `${POINTS}?page_size=3`;
  assert.is((await service.get(path)).headers['server-timing'], undefined);
  assert.match((await service.get(path, { headers })).headers['server-timing'] as string, 'total');
  const kept = (await service.get(path, { headers })).headers['server-timing'] as string;
  assert.match(kept, 'cache;desc="hit"');
});

test.run();
