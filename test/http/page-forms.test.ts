import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { POINTS_PARAMETERS } from '../../src/http/request/list-parameters.js';
import { type Envelope, LIST, type Reply } from '../support/client.js';
import { jsonOfPage, shownText, tags } from '../support/documents.js';
import { imagePost, PNG } from '../support/images.js';
import { startOwnService } from '../support/own-service.js';
import { assert, makeFolder, test } from '../support/uvu.js';

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const folder = makeFolder();
mkdirSync(join(folder, 'media'));
const service = await startOwnService([
  ...['--media', join(folder, 'media'), '--journal', join(folder, 'journal')],
  ...['--tile-url', 'https://tiles.example:8443/{z}/{x}/{y}.png'],
]);

function browse(path: string): Promise<Reply> {
  return service.get(path, { headers: { accept } });
}

/** The text of an element, up to the first end of a list or a paragraph. */
function textAt(html: string, id: string): string {
  const inside = new RegExp(`id="${id}"[^>]*>(.*?)</(?:ul|p)>`, 's').exec(html)![1]!;
  return shownText(inside.replaceAll(/<[^>]*>/g, ''));
}

/** The fields of a name in a form or page. */
function fieldsOf(html: string, name: string): Record<string, string>[] {
  return [...tags(html, 'input'), ...tags(html, 'select')].filter((one) => one['name'] === name);
}

test('the form has a field for every parameter, which keeps its value', async () => {
  const values = { coordinates: '60.166,24.951,1000', has_image: 'true', ordering: '-created_at' };
  const query = new URLSearchParams({ ...values, x: '"><b>', page: '1', format: 'api' });
  query.append('status', 'NEW');
  query.append('status', 'OPEN');
  query.append('tags', 'a\\');
  query.append('tags', 'b\\,c,d');
  const { text } = await browse(`${LIST}?${query}`);
  const form = /<form id="filters".*?<\/form>/s.exec(text)![0];
  for (const { name } of POINTS_PARAMETERS) {
    // a new search begins with the first page
    const count = name === 'page' ? 0 : 1;
    assert.is(fieldsOf(form, name).length, count, name);
  }
  const shownAs = (name: string) => fieldsOf(form, name)[0]!['value'];
  assert.is(shownAs('coordinates'), values.coordinates);
  assert.is(shownAs('status'), 'NEW,OPEN');
  // several parameters become one list
  assert.is(shownAs('tags'), 'a\\\\,b\\,c,d');
  assert.is(shownAs('x'), '"><b>');
  assert.is(shownAs('format'), 'api');
  assert.match(form, '<option selected>-created_at</option>');
  assert.match(form, '<option selected>true</option>');
});

test('each filter in use is a chip, whose link removes it', async () => {
  const query = 'bbox=20,50,40,70&tags=a\\,b,c&status=NEW&status=OPEN&page=1&x=y&format=api';
  const { text } = await browse(`${LIST}?${query}`);
  const chips = /<ul class="chips">(.*?)<\/ul>/s.exec(text)![1]!;
  const links = new Map(
    tags(chips, 'a').map((one) => [
      one['aria-label']!,
      new URLSearchParams(one['href']!.slice(LIST.length)),
    ]),
  );
  assert.equal(
    [...links.keys()],
    [
      ...['In a box 20,50,40,70', 'Status NEW', 'Status OPEN', 'Any of the tags a,b'],
      'Any of the tags c',
    ].map((one) => `Remove ${one}`),
  );
  const without = (label: string) => [...links.get(`Remove ${label}`)!].sort().join(' ');
  const left = (...some: string[]) => ['bbox,20,50,40,70', 'format,api', ...some, 'x,y'].join(' ');
  assert.is(without('Status NEW'), left('status,OPEN', 'tags,a\\,b,c'));
  assert.is(without('Any of the tags c'), left('status,NEW', 'status,OPEN', 'tags,a\\,b'));
  assert.not.match(text, /<details open><summary[^>]*>Add a filter/);
  assert.not.match((await browse(LIST)).text, '<ul class="chips">');
});

test('ids, images and neighbours are linked in the JSON and in the table', async () => {
  const { text } = await browse(`${LIST}?has_image=true&page_size=1`);
  const [point] = jsonOfPage<Envelope>(text).results;
  const hrefs = tags(text, 'a').map((one) => one['href']!);
  for (const href of [`${LIST}${point!['id']}/`, point!['image']]) {
    assert.is(hrefs.filter((one) => one === href).length, 2, String(href));
  }
  assert.is(tags(text, 'img')[0]!['src'], point!['image']);
});

test('statuses and tags of the data are suggested', async () => {
  const { text } = await browse(LIST);
  for (const name of ['status', 'tags']) {
    const list = new RegExp(`<datalist id="v-${name}">(.*?)</datalist>`, 's').exec(text)![1]!;
    const offered = [...list.matchAll(/<option>(.*?)<\/option>/g)].map(([, one]) =>
      shownText(one!),
    );
    assert.ok(offered.length > 1, name);
    for (const value of offered) {
      const query = new URLSearchParams({ [name]: value, page_size: '1' });
      const { count } = (await service.get(`${LIST}?${query}`)).json<Envelope>();
      assert.ok(count > 0, `${name} ${value}`);
    }
    assert.match(text, new RegExp(`<input id="f-${name}"[^>]* list="v-${name}"`));
  }
});

test('an error stands beside its field', async () => {
  const { status, text } = await browse(`${LIST}?bbox=<i>&ordering=up&page_size=20`);
  assert.is(status, 400);
  const problems = jsonOfPage<Record<string, string[]>>(text);
  assert.equal(Object.keys(problems).sort(), ['bbox', 'ordering']);
  for (const [name, texts] of Object.entries(problems)) {
    const [field] = fieldsOf(text, name);
    assert.is(field!['aria-invalid'], 'true');
    const [error] = field!['aria-describedby']!.split(' ');
    assert.is(textAt(text, error!), texts[0]);
  }
  assert.is(fieldsOf(text, 'bbox')[0]!['value'], '<i>');
  assert.match(text, '<option selected>up</option>');
});

function post(
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  image?: Buffer,
): Promise<Reply> {
  const file = image ?? Buffer.alloc(0);
  const all = { accept, 'Sec-Fetch-Site': 'same-origin', ...headers };
  return service.get(LIST, imagePost(fields, file, image ? 'a.png' : '', 'image/png', all));
}

test('a form makes a point with an image, and shows it', async () => {
  const comment = '</textarea><script>alert(1)</script>';
  const reply = await post({ lat: '60.1', lon: '24.9', comment, _tags: ' a , ,b",c\\,d' }, {}, PNG);
  assert.equal([reply.status, reply.headers['content-type']], [201, 'text/html; charset=utf-8']);
  const point = jsonOfPage<Record<string, unknown>>(reply.text);
  assert.is(point['comment'], comment);
  assert.equal(point['tags'], ['a', 'b"', 'c,d']);
  assert.ok(reply.headers.location!.endsWith(`${LIST}${point['id']}/`));
  assert.is(tags(reply.text, 'img')[0]!['src'], point['image']);
  assert.not.match(reply.text, comment);
  const image = await service.get(point['image'] as string);
  assert.match(image.headers['content-security-policy'] as string, 'sandbox');
});

test('a wrong form is shown again, with the errors beside its fields', async () => {
  const fields = { lat: '91', lon: '', comment: '</textarea>"', _tags: 'x, y' };
  const { status, text } = await post(fields);
  assert.is(status, 400);
  const problems = jsonOfPage<Record<string, string[]>>(text);
  for (const name of ['lat', 'lon']) {
    const [field] = fieldsOf(text, name);
    assert.is(field!['value'], fields[name as 'lat']);
    assert.is(textAt(text, field!['aria-describedby']!.split(' ')[0]!), problems[name]![0]);
  }
  assert.match(text, `&lt;/textarea&gt;&quot;</textarea>`);
  assert.is(fieldsOf(text, '_tags')[0]!['value'], 'x, y');
  const wrong = await post({ lat: '1', lon: '2' }, {}, Buffer.from('no image'));
  assert.is(wrong.status, 400);
  const [problem] = jsonOfPage<{ image: string[] }>(wrong.text).image;
  assert.match(textAt(wrong.text, 'p-image-error'), problem!);
});

test('a form accepts a decimal comma; JSON does not', async () => {
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
  // form fields have no meaning for other clients
  const other = await post({ _content: '{"lat":1,"lon":2}' }, { accept: 'application/json' });
  assert.equal(Object.keys(other.json<object>()), ['lat', 'lon']);
});

const UNREAD = { 'Content-Type': 'image/png' };

test('a form that is sent twice from one page makes one point', async () => {
  const pageOf = ({ text }: Reply): string => {
    const [first, second] = fieldsOf(text, '_page');
    assert.equal(first, second);
    return first!['value']!;
  };
  const path = `${LIST}?bbox=10,-10,12,-9&page_size=1`;
  const before = pageOf(await browse(path));
  const fields = { lat: '-9.5', lon: '11', comment: 'twice', _page: before };
  // the second click comes before the first answer
  const [first, second] = await Promise.all([post(fields), post(fields)]);
  assert.equal([first.status, second.status], [201, 201]);
  assert.is(first.headers.location, second.headers.location);
  const replays = [first, second].map(({ headers }) => headers['idempotency-replayed']);
  assert.equal(replays.sort(), ['true', undefined]);
  assert.is((await post(fields, {}, PNG)).headers['idempotency-replayed'], undefined);

  const other = await post({ ...fields, comment: 'corrected' });
  assert.is(other.headers['idempotency-replayed'], undefined);
  // the same post from a new page is another point
  for (const from of [pageOf(second), pageOf(await browse(path))]) {
    assert.is.not(from, before);
    const again = await post({ ...fields, _page: from });
    assert.equal([again.status, again.headers['idempotency-replayed']], [201, undefined]);
  }
  const wrong = await post({ ...fields, lat: 'far' });
  assert.equal([wrong.status, pageOf(wrong)], [400, before]);
  // a page for a request that was not read has a form, too, and each a name of its own
  const [unread, next] = await Promise.all([post({}, UNREAD), post({}, UNREAD)]);
  assert.equal([unread.status, next.status], [415, 415]);
  assert.is.not(pageOf(unread), pageOf(next));
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
    return (await service.get(LIST, { method: 'POST', headers: form, body: 'lat=1&lon=2' })).status;
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

test('a post is answered in the format that it names, also when it is refused', async () => {
  const JSON_TYPE = 'application/json';
  const send = (format: string, accepted: string, body: string, own = {}): Promise<Reply> => {
    const headers = { accept: accepted, 'Content-Type': JSON_TYPE, ...own };
    return service.get(`${LIST}?format=${format}`, { method: 'POST', headers, body });
  };
  const [right, wrong] = ['{"lat":1,"lon":2}', '{"lat":1}'];
  for (const [format, accepted, type] of [
    ['json', accept, JSON_TYPE],
    ['json', 'image/png', JSON_TYPE],
    ['api', '*/*', 'text/html; charset=utf-8'],
    ['', accept, 'text/html; charset=utf-8'],
  ] as const) {
    const made = await send(format, accepted, right);
    assert.equal([made.status, made.headers['content-type']], [201, type], format);
    const refused = await send(format, accepted, wrong);
    assert.equal([refused.status, refused.headers['content-type']], [400, type], format);
  }
  assert.is((await send('xml', '*/*', right)).status, 404);
  const hidden = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' };
  assert.is((await send('json', accept, right, hidden)).status, 403);
});

test('a page names all its elements for screen readers', async () => {
  const posted = await post({ lat: '', lon: '' });
  for (const { text } of [await browse(LIST), await browse(`${LIST}?bbox=1`), posted]) {
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
