import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { pino } from 'pino';
import {
  type Format,
  FRESH_MEMORY,
  jsonRecords,
  type Page,
} from '../../../src/http/formats/representation.js';
import { Assets, PATHS } from '../../../src/http/pages/assets.js';
import { escapeHtml, html, readableJson } from '../../../src/http/pages/html.js';
import { pageFormat } from '../../../src/http/pages/page-format.js';
import { PLAIN_SUBJECT, type PostingBy } from '../../../src/http/pages/site.js';
import { Budget, EXCEEDED } from '../../../src/model/budget.js';
import { PLAIN_SITE, startApp, startNotes } from '../../support/app.js';
import { ask, LIST } from '../../support/client.js';
import { shownText } from '../../support/documents.js';
import { Meter } from '../../support/engine.js';
import { CHARACTER, forAll } from '../../support/properties.js';
import { printedBy } from '../../support/service.js';
import { assert, makeFile, makeFolder, test } from '../../support/uvu.js';

test('any text shows as itself, in an element and in an attribute', () => {
  const text = fc.string({ unit: CHARACTER });
  const hostile = fc.constantFrom(...'<>"\'&\u202e`=', '</b>', '&lt;', '<!--');
  const mixed = fc.array(fc.oneof(text, hostile)).map((parts) => parts.join(''));
  forAll(1000, [mixed], (value) => {
    const made = html`<b title="${value}">${value}</b>`.text;
    const [, attribute, inside] = /^<b title="([^"<>]*)">([^<>"']*)<\/b>$/s.exec(made)!;
    assert.is(shownText(attribute!), value);
    assert.is(shownText(inside!), value);
  });
});

test('templates insert markup, lists and numbers unchanged, and nothing for undefined', () => {
  const inner = html`<i>${'<'}</i>`;
  const made = html`${inner}${[1, inner, '&']}${undefined}${false}`.text;
  assert.is(made, '<i>&lt;</i>1<i>&lt;</i>&amp;');
  assert.is(escapeHtml('plain'), 'plain');
});

/** JSON as HTML, with a link from `id`. */
function linked(json: string): string {
  const links = [{ key: 'id', href: (value: unknown) => `/${value}` }];
  return readableJson(json, links).text.replaceAll(/\s+/g, '');
}

test('keys, texts and literals are told apart, and values of some keys are linked', () => {
  const shown = '{<b>"a"</b>:<i>"id"</i>,<b>"b"</b>:[<u>null</u>,<u>1.5</u>]}';
  assert.is(linked('{"a":"id","b":[null,1.5]}'), shown);
  assert.is(linked('{"id":7}'), '{<b>"id"</b>:<ahref="/7"><u>7</u></a>}');
  assert.match(linked('{"id":"\\"><x\\u0027"}'), '<ahref="/&quot;&gt;&lt;x&#39;"><i>');
  for (const json of ['{"id":[1]}', '{"id":{}}']) {
    assert.not.match(linked(json), '<a');
  }
});

/** The text that a browser shows of HTML. */
function shown(html: string): string {
  const text = html.replaceAll(/<\/?[biu]>/g, '');
  assert.not.match(text, /[<>]/);
  return shownText(text);
}

function readable(json: string): string {
  return shown(readableJson(json).text);
}

test('JSON is indented as JSON.stringify does', () => {
  for (const json of [
    ...['{}', '[]', '[{},[]]', '{"a":[1,true,null],"b":{"c":"x,y: {[\\"\\\\"}}', '7'],
  ]) {
    assert.is(readable(json), JSON.stringify(JSON.parse(json), null, 2));
  }
  forAll(2000, [fc.json({ stringUnit: CHARACTER, maxDepth: 6 })], (json) => {
    assert.is(readable(json), JSON.stringify(JSON.parse(json), null, 2));
  });
});

test('white space between values makes no difference', () => {
  assert.is(readable(' {\n"a b" :\t[ 1 , 2 ]\r\n} '), '{\n  "a b": [\n    1,\n    2\n  ]\n}');
});

test('a long text and a deep list are readable', () => {
  const text = JSON.stringify('<&"\'>'.repeat(50_000));
  assert.is(readable(text), text);
  const deep = '['.repeat(1000) + ']'.repeat(1000);
  assert.is(readable(deep).replaceAll(/\s/g, ''), deep);
});

const exchange = {
  target: '/rest/map_data_points/?format=api',
  snapshot: 'tag',
  headers: { Allow: 'GET' },
  memory: FRESH_MEMORY,
};
const links = () => ({ next: null, previous: null });
const list = { count: 1, links, base: '/', pairs: [], page: 1, pageCount: 1 };
const HTML = pageFormat(PLAIN_SITE, PLAIN_SUBJECT, []);

function render(page: Page, format: Format = HTML, budget: Budget = new Budget()): string {
  return format.encode!(page, { ...exchange, budget }).toString();
}

function page(records: readonly string[]): Page {
  return { title: 'Points', list, records: jsonRecords(records) };
}

test('a page is charged by its records, and one over the budget is not begun', () => {
  const record = JSON.stringify({ id: 1, comment: 'x'.repeat(256) });
  const large = page(Array.from({ length: 1000 }, () => record));
  const meter = new Meter(1e6);
  assert.is(render(large, HTML, meter).split('<b>"id"</b>').length, 1001);
  assert.ok(meter.cost >= 15 * 1000 * record.length, String(meter.cost));
  const budget = new Budget(1e6);
  const isExceeded = (error: unknown) => error === EXCEEDED;
  assert.throws(() => render(large, HTML, budget), isExceeded);
});

test('what is shown is the JSON of the list', () => {
  const html = render(page(['{"a":1,"b":"0.10"}', '{"c":[]}']));
  const record = [{ a: 1, b: '0.10' }, { c: [] }];
  const envelope = { count: 1, next: null, previous: null, results: record };
  const json = /\n\n(\{.*)<\/pre>/s.exec(html)![1]!.replaceAll(/<[^>]*>/g, '');
  assert.is(json, JSON.stringify(envelope, null, 2));
  assert.match(render(page([])), '<b>"results"</b>: []\n}</pre>');
});

test('the headers are shown', () => {
  assert.match(render(page([])), '<b>HTTP 200 OK</b>\n<b>Allow:</b> GET\n\n{');
});

test('the form for a point is shown only where anybody may post', () => {
  const subject = { ...PLAIN_SUBJECT, isPoints: true };
  const pageOf = (posting: PostingBy): string => {
    const format = pageFormat({ ...PLAIN_SITE, posting, prefix: '/x' }, subject, []);
    return render(page([]), format);
  };
  assert.match(pageOf('anybody'), '<form method="post" action="/x/rest/map_data_points/"');
  assert.match(pageOf('holders'), 'Authorization: Token');
  assert.match(pageOf('nobody'), 'only reads');
  assert.not.match(pageOf('holders') + pageOf('nobody'), '<form method="post"');
});

const folder = makeFolder();
const app = await startApp({ generation: undefined as never });
const assets = new Assets('');

test('every static file is served, under an address whose content never changes', async () => {
  for (const [name, path] of PATHS) {
    const url = assets.url(name);
    const [, version] = /^\/static\/([0-9a-f]{12})\/[\w.-]+$/.exec(url)!;
    const { type, ...asset } = assets.at(version!, name)!;
    const body = await asset.body;
    assert.ok(readFileSync(path).includes(body.subarray(0, -1)), name);
    const plain = await ask(app.port, url);
    assert.is(plain.status, 200);
    assert.ok(plain.body.equals(body));
    assert.is(plain.headers['content-type'], type);
    assert.is(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.is(plain.headers['x-content-type-options'], 'nosniff');
    assert.is(plain.headers.vary, 'Accept-Encoding');
    assert.not.match(plain.text, 'sourceMappingURL');
    for (const [coding, decode] of Object.entries({ gzip: gunzipSync, br: brotliDecompressSync })) {
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

test('the script prints the outlines of land', async () => {
  const file = readFileSync(PATHS.get('land.json')!, 'utf8');
  assert.ok((await printedBy('data/make-land.js')) === file);
});

test('other addresses of static files get 404', async () => {
  const url = assets.url('page.css');
  const folder = url.slice(0, -'/page.css'.length);
  const wrong = [
    ...['/static/', '/static/page.css', '/static/000000000000/page.css', `${url}x`, folder],
  ];
  const names = ['', '..%2f..%2fpackage.json', 'package.json', 'page.ts', '%00', '__proto__'];
  for (const path of [...wrong, ...names.map((name) => `${folder}/${name}`)]) {
    assert.is((await ask(app.port, path)).status, 404, path);
  }
});

test('all addresses change with any file, and imports of scripts stay unchanged', async () => {
  const paths = new Map(['first.js', 'second.js'].map((name) => [name, join(folder, name)]));
  const link = "import { a } from './second.js';\n";
  writeFileSync(paths.get('first.js')!, link);
  const source = 'export const a = 1;\n';
  writeFileSync(paths.get('second.js')!, `${source}//# sourceMappingURL=second.js.map\n`);
  const before = new Assets('/prefix', paths);
  const url = before.url('first.js');
  const [, version] = /^\/prefix\/static\/(\w+)\/first\.js$/.exec(url)!;
  assert.is(String(await before.at(version!, 'first.js')!.body), link);
  assert.is(String(await before.at(version!, 'second.js')!.body), source);
  writeFileSync(paths.get('second.js')!, 'export const a = 2;\n');
  assert.is.not(new Assets('/prefix', paths).url('first.js'), url);
  assert.throws(() => before.url('third.js'), /There is no static file third.js/);
});

test('an error whose page cannot be made is answered as JSON, and logged', async () => {
  const script = makeFile('', 'gone.js');
  const assets = new Assets('', new Map([...PATHS, ['gone.js', script]]));
  rmSync(script);
  const errors: string[] = [];
  const logger = pino(
    {},
    { write: (line: string) => void errors.push(JSON.parse(line).err.message) },
  );
  const app = await startNotes([], { logger, site: { ...PLAIN_SITE, assets } });
  const headers = { Accept: 'text/html' };
  const made = await ask(app.port, LIST, { headers });
  assert.equal([made.status, made.json()], [500, { detail: 'Internal server error.' }]);
  const missing = await ask(app.port, '/nope', { headers });
  assert.equal([missing.status, missing.json()], [404, { detail: 'Not found.' }]);
  assert.match(missing.headers['content-type']!, 'application/json');
  // the list's own page, the page of its error, and that of the unknown address
  assert.is(errors.length, 3);
  for (const error of errors) assert.match(error, /ENOENT.*gone\.js/);
});

test.run();
