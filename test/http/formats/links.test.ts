import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { pageLinks } from '../../../src/http/formats/representation.js';
import { last, type Pair, parseQueryString } from '../../../src/http/request/query-string.js';
import { CHARACTER } from '../../support/characters.js';
import { assert, rounds, test } from '../../support/uvu.js';

const BASE = 'http://testserver.example/rest/map_data_points/';

function links(query: string, page: number, pageCount: number): [string | null, string | null] {
  const { next, previous } = pageLinks(BASE, parseQueryString(query), page, pageCount);
  return [next, previous];
}

function next(query: string): string | null {
  return pageLinks('', parseQueryString(query), 1, 2).next;
}

test('one page has no neighbours', () => {
  assert.equal(links('a=1', 1, 1), [null, null]);
  assert.equal(links('page=1', 1, 1), [null, null]);
});

test('first, middle and last page', () => {
  assert.equal(links('', 1, 3), [`${BASE}?page=2`, null]);
  assert.equal(links('page=2', 2, 3), [`${BASE}?page=3`, BASE]);
  assert.equal(links('page=last', 3, 3), [null, `${BASE}?page=2`]);
});

test('page 1 has no page in its link, whatever stands around it', () => {
  assert.equal(links('a=1&page=2', 2, 2), [null, `${BASE}?a=1`]);
  assert.equal(links('z=1&page=2', 2, 2), [null, `${BASE}?z=1`]);
  assert.equal(links('z=1&page=2&a=1', 2, 2), [null, `${BASE}?a=1&z=1`]);
});

test('sorted by name, repeated ones in their order, page once', () => {
  assert.is(next('b=2&page=9&z=1&a=2&page=1&a=1'), '?a=2&a=1&b=2&page=2&z=1');
  assert.is(next('pages=1&pag=1&page_size=5&p=1'), '?p=1&pag=1&page=2&page_size=5&pages=1');
});

test('names are compared by code points, before they are encoded', () => {
  // U+10000 stands above U+FFFD, though its first UTF-16 unit does not
  const high = encodeURIComponent('\u{10000}');
  const replaced = encodeURIComponent('\ufffd');
  assert.is(next(`${high}=1&${replaced}=2`), `?page=2&${replaced}=2&${high}=1`);
  assert.is(next('~=1&%C3%A4=2&a=3&a%20=4'), '?a=3&a+=4&page=2&~=1&%C3%A4=2');
});

test('blank values and bare names stay', () => {
  assert.is(next('z=&a&='), '?=&a=&page=2&z=');
});

test('only letters, digits and _ . - ~ are left as they are', () => {
  assert.is(next('x=AZaz09_.-~'), '?page=2&x=AZaz09_.-~');
  assert.is(
    next('x=24.9,60.1:+%2B!*\'();@$/?#[]"<>\\^`{|}'),
    '?page=2&x=24.9%2C60.1%3A+%2B%21%2A%27%28%29%3B%40%24%2F%3F%23%5B%5D%22%3C%3E%5C%5E%60%7B%7C%7D',
  );
  assert.is(next('%C3%A4+b=%F0%9F%98%80%00%7F'), '?page=2&%C3%A4+b=%F0%9F%98%80%00%7F');
  assert.is(next('x=%FF'), '?page=2&x=%EF%BF%BD');
});

const text = fc.oneof(
  fc.string({ unit: CHARACTER, maxLength: 5 }),
  fc.constantFrom(
    'page',
    'pagf',
    'pag',
    'page_size',
    'bbox',
    'a',
    '24.9,60.1',
    '\u{10000}',
    '\uffff',
  ),
);
const pairsOf = fc
  .array(fc.tuple(text, text), { maxLength: 7 })
  .map((pairs) => pairs.map(([name, value]): Pair => ({ name, value })));

/** Sorted as bytes: UTF-8 keeps the order of code points. */
function others(pairs: readonly Pair[]): Pair[] {
  return pairs
    .filter((pair) => pair.name !== 'page')
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
}

test('a link carries the same parameters, sorted, with only page changed', () => {
  fc.assert(
    fc.property(pairsOf, fc.integer({ min: 2, max: 99 }), (pairs, page) => {
      const found = pageLinks('', pairs, page, page + 1);
      for (const [link, target] of [
        [found.next, String(page + 1)],
        [found.previous, page === 2 ? undefined : String(page - 1)],
      ] as const) {
        const parsed = parseQueryString(link!.slice(1));
        assert.equal(others(parsed), others(pairs));
        assert.is(last(parsed, 'page'), target);
        const names = parsed.map((pair) => Buffer.from(pair.name));
        const sorted = [...names].sort(Buffer.compare);
        assert.equal(names, sorted);
      }
    }),
    { numRuns: rounds(2000) },
  );
});

test('there and back is the same link', () => {
  fc.assert(
    fc.property(pairsOf, fc.integer({ min: 1, max: 99 }), (pairs, page) => {
      const forth = pageLinks('', pairs, page, 100).next!;
      const back = pageLinks('', parseQueryString(forth.slice(1)), page + 1, 100).previous!;
      const again = pageLinks('', parseQueryString(back.slice(1)), page, 100).next!;
      assert.is(again, forth);
    }),
    { numRuns: rounds(2000) },
  );
});

test('every recorded link of the original service', () => {
  let compared = 0;
  for (const line of readFileSync('test/fixtures/cases.ndjson', 'utf8').trim().split('\n')) {
    const { target, response } = JSON.parse(line) as {
      target: string;
      response: { status: number; body: Record<string, unknown> | null };
    };
    const body = response.body;
    if (response.status !== 200 || body === null || !('results' in body)) continue;
    const [path, query = ''] = target.split('?', 2) as [string, string?];
    const pairs = parseQueryString(query);
    // the original took a page_size that is none for the default
    const size = Number(last(pairs, 'page_size'));
    const pageSize = Number.isInteger(size) && size > 0 ? Math.min(size, 1000) : 100;
    const pageCount = Math.max(1, Math.ceil((body['count'] as number) / pageSize));
    const asked = last(pairs, 'page') ?? '1';
    const page = asked === 'last' ? pageCount : Number(asked);
    const expected = { next: body['next'], previous: body['previous'] };
    assert.equal(
      pageLinks(`http://testserver.example${path}`, pairs, page, pageCount),
      expected,
      target,
    );
    compared++;
  }
  assert.is(compared, 214);
});

test.run();
