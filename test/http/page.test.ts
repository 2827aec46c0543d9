import { SERVE_SETTINGS } from '../../src/cli/settings/settings.js';
import { MAX_RECORD_BYTES } from '../../src/formats/block.js';
import { renderedLength } from '../../src/formats/record-layout.js';
import { pageTooLarge } from '../../src/http/answer/question.js';
import { pointRecords } from '../../src/http/formats/representation.js';
import type { Dataset } from '../../src/index/dataset.js';
import { PageRoom } from '../../src/index/record-page.js';
import { allocateRecords } from '../../src/index/records.js';
import { packUnseen } from '../../src/model/notification.js';
import { tokenKey } from '../../src/posts/tokens/file.js';
import { startApp, startNotes } from '../support/app.js';
import { type Envelope, LIST } from '../support/client.js';
import { jsonOfPage, shownText } from '../support/documents.js';
import { generationOf } from '../support/engine.js';
import { allItems } from '../support/geojson.js';
import { notification } from '../support/native.js';
import type { Note } from '../support/notes.js';
import { assert, test } from '../support/uvu.js';

const HOSTILE = [
  ...['</pre><script>alert(1)</script>', '"><img src=x onerror=alert(2)>'],
  ...["' onmouseover='alert(3)", '<!-- <svg/onload=alert(4)>', '&lt;b&gt;&amp;amp;'],
  ...[']]><style>*{}</style>', '\u2028</title><base href=//evil.example>'],
];

const place = { lat: 60.17, lon: 24.95, created: 1.7e15, modified: 1.7e15 };
const notes = HOSTILE.map((comment, i): Note => {
  return { id: i + 1, ...place, comment, tags: [comment], status: comment };
});
const unseen = packUnseen(HOSTILE.map((comment, i) => notification(2 * i + 1, comment)));
const holder = { user: 7, name: '', isAdmin: false };
const service = await startApp(
  { generation: await generationOf(notes, { unseen }) },
  { tokens: { table: new Map([[tokenKey('key'), holder]]) } },
);

const PATHS = ['/rest/map_data_points/', '/rest/notifications/', '/rest/'];
const authorization = 'Token key';

/** The start tags of a page, without its own scripts. */
function tagsOf(html: string): string[] {
  const own = /<script type="module" src="\/static\/[\w./-]+"><\/script>/g;
  return [...html.replaceAll(own, '').matchAll(/<[^>]*>/g)].map(([tag]) => tag.toLowerCase());
}

test('a page shows the headers that programs get, and none of its own', async () => {
  for (const path of [...PATHS, `${LIST}?page_size=x`, '/rest/?format=nope']) {
    const { headers, text } = await service.get(path, { headers: { accept: 'text/html' } });
    assert.is(headers['content-type'], 'text/html; charset=utf-8', path);
    const shown = /<pre class="json"[^>]*>(.*?)\n\n/s.exec(text)![1]!.replaceAll(/<[^>]*>/g, '');
    assert.match(shown, /^content-type: application\/json$/im, path);
    assert.match(shown, /^vary: Accept/im, path);
    assert.not.match(shown, /security-policy/i, path);
  }
});

test('a page shows all texts of the JSON, and none as markup', async () => {
  for (const path of [...PATHS, ...HOSTILE.map((_, i) => `/rest/map_data_points/${i + 1}/`)]) {
    const { text } = await service.get(`${path}?format=api`, { headers: { authorization } });
    for (const payload of HOSTILE) assert.not.ok(text.includes(payload), `${path} ${payload}`);
    for (const tag of tagsOf(text)) {
      assert.not.match(tag, /^<(?:script|img|svg|base|iframe|object|embed)\b/);
      assert.not.match(tag, /\son\w+\s*=|javascript:/);
    }
    const shown = shownText(text);
    const json = (await service.get(path, { headers: { authorization } })).json<object>();
    for (const value of textsOf(json)) {
      // links differ between page and JSON
      if (value.startsWith('http://')) continue;
      assert.ok(shown.includes(JSON.stringify(value).slice(1, -1)), `${path} ${value}`);
    }
  }
});

test('a page shows parameters, and none as markup', async () => {
  const payloads = HOSTILE.filter((one) => !one.includes('\u2028'));
  // unknown parameters are kept in hidden fields
  const namesIn = (html: string): string[] =>
    tagsOf(html)
      .filter((tag) => !/^<input type="hidden" name="[^"]*" value="[^"]*">$/.test(tag))
      .map((tag) => tag.split(/[\s>]/, 1)[0]!);
  for (const path of [...PATHS, '/rest/map_data_points/1/']) {
    const known = namesIn((await service.get(`${path}?page_size=1&format=api`)).text);
    for (const payload of payloads) {
      const [raw, escaped] = [payload.replaceAll(' ', '+'), encodeURIComponent(payload)];
      const query = `format=api&x=${raw}&y=${escaped}&${raw}=&${escaped}x=&x[${raw}]&y[${escaped}]`;
      const reply = await service.get(`${path}?page_size=1&${query}`, {
        headers: { 'X-Request-Id': 'a"><b>', Referer: payload, 'User-Agent': payload },
      });
      assert.is(reply.status, 200, query);
      assert.equal(namesIn(reply.text), known, query);
      assert.not.match(reply.text, /\s[\w-]+="[^"]*[<>][^"]*"/);
    }
  }
});

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

const LARGE = 40;
// the first page has small records, the second large ones
const large = await startNotes(
  Array.from({ length: 2 * LARGE }, (_, i) => {
    return { id: i + 1, ...place, comment: i < LARGE ? 'small' : '<&>"'.repeat(43_000) };
  }),
);

/** The page size that the refusal of a page proposes. */
async function fittingSize(path: string): Promise<number> {
  const reply = await large.get(path);
  assert.is(reply.status, 400, path);
  const isPage = reply.headers['content-type'] !== 'application/json';
  type Errors = Record<string, string[]>;
  const errors = isPage ? jsonOfPage<Errors>(reply.text) : reply.json<Errors>();
  assert.equal(Object.keys(errors), ['page_size']);
  assert.is(errors['page_size']!.length, 1);
  return Number(/Example: page_size=(\d+)$/.exec(errors['page_size']![0]!)![1]);
}

test('a page with too many bytes is refused, and told what fits', async () => {
  // a page with one large record, and one with none
  for (const query of ['?page=last&page_size=79', `?page_size=${LARGE}`]) {
    assert.is((await large.get(LIST + query)).status, 200);
  }
  for (const query of ['?page_size=1000', '', '?page_size=40&page=2']) {
    const size = await fittingSize(LIST + query);
    assert.ok(size >= 20 && size < LARGE, `${query}: ${size}`);
    for (let page = Math.ceil(LARGE / size) + 1; ; page++) {
      const { results, next } = (
        await large.get(`${LIST}?page_size=${size}&page=${page}`)
      ).json<Envelope>();
      assert.is(results[0]!['id'], (page - 1) * size + 1, 'no page is shorter than was asked for');
      if (next === null) break;
    }
  }
});

test('the HTML page links to JSON that would be long', async () => {
  assert.ok((await fittingSize(`${LIST}?page_size=40&page=2&format=api`)) >= 20);
  for (const [size, isLong] of [
    [5, false],
    [20, true],
  ] as const) {
    const query = `${LIST}?page_size=${size}&page=${60 / size}`;
    const { status, text } = await large.get(`${query}&format=api`);
    assert.is(status, 200);
    assert.is(text.match(/<td>/g)!.length % size, 0);
    assert.is(text.includes('<b>"results"</b>'), !isLong);
    const link = /<a href="([^"]+)">Too long/.exec(text)?.[1];
    assert.is(link !== undefined, isLong);
    if (link === undefined) continue;
    const { results } = (await large.get(link.replaceAll('&amp;', '&'))).json<Envelope>();
    assert.equal(results, (await large.get(query)).json<Envelope>().results);
  }
});

test('a page of items is as long as fits, and the next one begins behind it', async () => {
  for (const limit of [1_000, 7]) {
    const found = await allItems(large, `/ogc/collections/points/items?limit=${limit}`);
    const ids = found.map(({ id }) => id);
    assert.equal(ids, [...Array(2 * LARGE + 1).keys()].slice(1));
  }
});

test('a single record is always shown', async () => {
  for (const path of [`${LIST}${2 * LARGE}/`, `${LIST}?page_size=1&page=last`]) {
    for (const format of ['json', 'api']) {
      const separator = path.includes('?') ? '&' : '?';
      const { status, text } = await large.get(`${path}${separator}format=${format}`);
      assert.is(status, 200);
      assert.ok(text.length > 172_000);
    }
  }
});

test('the bound may not be below the size of a record', () => {
  const { parse } = SERVE_SETTINGS.find(({ flag }) => flag.startsWith('--max-page-bytes'))!;
  assert.throws(() => parse!('255KiB'), /^expected 256KiB or more/);
});

test('a page of 1,100 of the longest records is refused without copying any', () => {
  const count = 1_100;
  const bytes = MAX_RECORD_BYTES - renderedLength(new Uint8Array(1), 0);
  const records = allocateRecords(new Uint32Array(count).fill(bytes));
  const rows = Uint32Array.from({ length: count }, (_, row) => row);
  const before = process.memoryUsage().arrayBuffers;
  const page = pointRecords(
    { records, count } as Dataset,
    { rows, length: 1_000, delta: undefined },
    new PageRoom(),
  );
  assert.is(page.size, 1_000 * MAX_RECORD_BYTES + 999);
  const limit = 8 * 1024 * 1024;
  const { status, body } = pageTooLarge(page, limit);
  assert.is(status, 400);
  assert.match(JSON.stringify(body), 'any 32 of these records fit. Example: page_size=32');
  assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
});

test.run();
