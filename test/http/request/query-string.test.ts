import * as fc from 'fast-check';
import { Random } from '../../../src/cli/generate/random.js';
import {
  joinList,
  last,
  type Pair,
  parseQueryString,
  splitList,
} from '../../../src/http/request/query-string.js';
import type { Filters } from '../../../src/model/query.js';
import { startNotes } from '../../support/app.js';
import { type Envelope, LIST } from '../../support/client.js';
import { type Note, scatterNotes } from '../../support/notes.js';
import { Oracle } from '../../support/oracle.js';
import { CHARACTER, forAll } from '../../support/properties.js';
import { pointsIn } from '../../support/tiles.js';
import { assert, pluck, table, test } from '../../support/uvu.js';

/** A target as Node's HTTP parser gives it: one character for each byte of UTF-8. */
function asTarget(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function pairsOf(raw: string): [string, string][] {
  return parseQueryString(raw).map((pair) => [pair.name, pair.value]);
}

const CASES: Readonly<Record<string, readonly (readonly [raw: string, ...pairs: string[]])[]>> = {
  'pairs are read as they stand': [
    [''],
    ['a=1&b=2', 'a', '1', 'b', '2'],
    ['bbox=24.9,60.1,25.0,60.2', 'bbox', '24.9,60.1,25.0,60.2'],
  ],
  'empty pieces are skipped, bare and empty names are not': [
    ['&&a&=1&=&b=&', 'a', '', '', '1', '', '', 'b', ''],
  ],
  'only the first = separates, and ; separates nothing': [['a=1=2;b=3', 'a', '1=2;b=3']],
  'plus and escapes, in names and values': [
    ['a+b=c+d%2Be', 'a b', 'c d+e'],
    ['%61%3D=%26%3d%25', 'a=', '&=%'],
    ['x=%C3%A4%20b+c', 'x', 'ä b c'],
    ['x=a%00b', 'x', 'a\0b'],
  ],
  'an escape that is none stays': [
    ...['%', '%4', '%zz', '%4g', '%g4', '100%', '%:0', '%/0', '%@0', '%`0'].map(
      (text) => [`x=${text}`, 'x', text] as const,
    ),
    ['x=%%41%4', 'x', '%A%4'],
    ['x=%C3%A4%zz%', 'x', 'ä%zz%'],
  ],
  'raw bytes count as bytes, together with escaped ones': [
    [asTarget('näkyvyys=日本'), 'näkyvyys', '日本'],
    ['x=\xc3%A4%C3\xa4', 'x', 'ää'],
    // a byte order mark is kept
    ['x=%EF%BB%BFy', 'x', '\ufeffy'],
  ],
  'bytes that are no UTF-8 become one U+FFFD a maximal part': [
    ...table(`%FF ? | %C3 ? | %C3x ?x | %E2%82 ? | %E2%82x ?x | %F0%9F%98x ?x | %C0%80 ??
      %ED%A0%80 ??? | %F4%90%80%80 ???? | a%80%80b a??b | \xff ?`).map(
      ([raw, shown]) => [`x=${raw}`, 'x', shown!.replaceAll('?', '\ufffd')] as const,
    ),
  ],
};

for (const [name, cases] of Object.entries(CASES)) {
  test(name, () => {
    for (const [raw, ...pairs] of cases) assert.equal(pairsOf(raw).flat(), pairs, raw);
  });
}

test('last gives the last value of a name', () => {
  const pairs: Pair[] = parseQueryString('a=1&b=2&a=3&c');
  const found = ['a', 'b', 'c', 'd'].map((name) => last(pairs, name));
  assert.equal(found, ['3', '2', '', undefined]);
});

test('agrees with URLSearchParams on any text', () => {
  const common = ['&', '=', '+', '%', ';', '%41', '%2C', '%c3%a4', '%F0%9F%98%80', 'ä', '日', '😀'];
  const piece = fc.oneof(fc.constantFrom(...common), fc.string({ unit: CHARACTER, maxLength: 3 }));
  forAll(5000, [fc.array(piece, { maxLength: 20 })], (pieces) => {
    const text = pieces.join('');
    // ASCII only: Node 20 misreads other characters beside an invalid escape
    const ascii = text.replace(/[^\0-\x7f]/gu, encodeURIComponent);
    const expected = [...new URLSearchParams(`?${ascii}`)];
    assert.equal(pairsOf(asTarget(text)), expected);
    assert.equal(pairsOf(ascii), expected);
  });
});

const ITEMS = '/ogc/collections/points/items';
const CHARACTERS = [',', ',', '\\', '\\', ' ', '"', "'", '+', '&', '%2C', 'a', 'b', 'ä', '🇫🇮'];
/** Parameters of texts, and their filters. */
const FILTERS = { tags: 'tags', tags_all: 'tagsAll', status: 'statuses' } as const;

const random = new Random(73, 'point');
const texts = Array.from({ length: 60 }, randomText);
const notes = scatterNotes(73, 300).map(
  (note): Note => ({
    ...note,
    status: random.pick(texts),
    tags: Array.from({ length: 1 + random.int(4) }, () => random.pick(texts)),
  }),
);
const app = await startNotes(notes.slice(0, 200));
app.accept(notes.slice(200));

/** A text that is valid in a record: not blank. */
function randomText(): string {
  const text = Array.from({ length: 1 + random.int(4) }, () => random.pick(CHARACTERS)).join('');
  return text.trim() === '' ? `${text}a` : text;
}

test('commas separate, except after a backslash', () => {
  for (const [list, values] of [
    ['a', ['a']],
    ['a,b', ['a', 'b']],
    ['a,,b,', ['a', '', 'b', '']],
    ['a\\,b', ['a,b']],
    ['a\\\\,b', ['a\\', 'b']],
    ['a\\\\\\,b', ['a\\,b']],
    ['\\a\\b\\', ['\\a\\b\\']],
    ['\\,,\\\\', [',', '\\']],
  ] as const) {
    assert.equal(splitList(list), values, list);
  }
});

test('a list is split into the values that it was joined from', () => {
  for (let i = 0; i < 1_000; i++) {
    const values = Array.from({ length: 1 + random.int(4) }, randomText);
    assert.equal(splitList(joinList(values)), values);
    const plain = values.join().replaceAll('\\', '');
    assert.equal(splitList(plain), plain.split(','));
  }
});

test('every address finds records by texts with commas and backslashes', async () => {
  const oracle = new Oracle(notes);
  let found = 0;
  for (let i = 0; i < 40; i++) {
    const name = random.pick(Object.keys(FILTERS) as (keyof typeof FILTERS)[]);
    const wanted = Array.from({ length: 1 + random.int(3) }, () => random.pick(texts));
    const filters: Filters = { [FILTERS[name]]: [...new Set(wanted)] };
    const { notes: expected } = oracle.find(filters, 'id');
    const count = expected.length;
    found += count;

    const cut = random.int(wanted.length + 1);
    const lists = [wanted.slice(0, cut), wanted.slice(cut)].filter((one) => one.length > 0);
    const query = lists.map((one) => `${name}=${encodeURIComponent(joinList(one))}`).join('&');
    const { results } = (await app.get(`${LIST}?${query}&page_size=1000`)).json<Envelope>();
    assert.equal(pluck(results, 'id'), pluck(expected, 'id'), query);
    const items = (await app.get(`${ITEMS}?${query}`)).json<{ numberMatched: number }>();
    assert.is(items.numberMatched, count, query);
    const tile = await app.get(`/tiles/0/0/0.mvt?${query}`);
    assert.is(pointsIn(tile.body), count, query);
    if (count < 2) continue;
    const { next } = (await app.get(`${LIST}?${query}&page_size=1`)).json<Envelope>();
    const { pathname, search } = new URL(next!);
    const [second] = (await app.get(pathname + search)).json<Envelope>().results;
    assert.is(second!['id'], expected[1]!.id, next!);
  }
  assert.ok(found > 150, String(found));
});

test.run();
