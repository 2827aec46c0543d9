import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { POINTS_PARAMETERS } from '../../src/http/request/list-parameters.js';
import type { Reply } from '../support/client.js';
import { jsonOfPage, shownText, tags } from '../support/documents.js';
import { makeFolder } from '../support/folder.js';
import { startOwnService } from '../support/own-service.js';
import { SNAPSHOT } from '../support/service.js';

const POINTS = '/rest/map_data_points/';
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const folder = makeFolder();
mkdirSync(join(folder, 'media'));
const service = await startOwnService([
  ...['--snapshot', SNAPSHOT, '--media', join(folder, 'media')],
  ...['--journal', join(folder, 'journal'), '--posts-per-address', '0'],
  ...['--tile-url', 'https://tiles.example:8443/{z}/{x}/{y}.png'],
]);

test.after(() => service.stop());

function browse(path: string): Promise<Reply> {
  return service.get(path, { headers: { accept } });
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
    ['bbox 20,50,40,70', 'status NEW', 'status OPEN', 'tags a,b', 'tags c'].map(
      (one) => `Remove ${one}`,
    ),
  );
  const without = (label: string) => [...links.get(`Remove ${label}`)!].sort().join(' ');
  const rest = ['format,api', 'x,y'];
  assert.is(
    without('status NEW'),
    ['bbox,20,50,40,70', rest[0], 'status,OPEN', 'tags,a\\,b,c', rest[1]].join(' '),
  );
  assert.is(
    without('tags c'),
    ['bbox,20,50,40,70', rest[0], 'status,NEW', 'status,OPEN', 'tags,a\\,b', rest[1]].join(' '),
  );
  assert.not.match(text, /<details open><summary[^>]*>Add a filter/);
  assert.not.match((await browse(POINTS)).text, '<ul class="chips">');
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

const BOUNDARY = 'b';

/** Posts a form as a browser does. */
function post(
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const body = Buffer.from(`${parts.join('')}--${BOUNDARY}--\r\n`);
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  const own = { accept, 'Content-Type': type, 'Sec-Fetch-Site': 'same-origin' };
  return service.get(POINTS, { method: 'POST', headers: { ...own, ...headers }, body });
}

test('a browser is told of a point as a program is, and of what is wrong by a page', async () => {
  const made = await post({ lat: '60.1', lon: '24.9' });
  assert.equal([made.status, made.headers['content-type']], [201, 'application/json']);
  const wrong = await post({ lat: '91', lon: '' });
  assert.is(wrong.status, 400);
  assert.equal(Object.keys(jsonOfPage<object>(wrong.text)).sort(), ['lat', 'lon']);
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

test.run();
