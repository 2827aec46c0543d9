import * as fc from 'fast-check';
import { pagedList } from '../../../src/http/formats/representation.js';
import { last, type Pair, parseQueryString } from '../../../src/http/request/query-string.js';
import { CHARACTER, forAll } from '../../support/properties.js';
import { assert, test } from '../../support/uvu.js';

function next(query: string): string | null {
  return pagedList('', parseQueryString(query), 0, 1, 2).links().next;
}

// replayed answers cover the links of every kind of page
test('the links of a first, a middle and a last page, whose first is named without its number', () => {
  const linksOf = (query: string, page: number, pageCount: number) => {
    const { next, previous } = pagedList('/', parseQueryString(query), 0, page, pageCount).links();
    return [next, previous];
  };
  assert.equal(linksOf('page=1', 1, 1), [null, null]);
  assert.equal(linksOf('page=2', 2, 3), ['/?page=3', '/']);
  assert.equal(linksOf('z=1&page=2&a=1', 2, 2), [null, '/?a=1&z=1']);
  assert.equal(linksOf('page=last', 3, 3), [null, '/?page=2']);
});

test('names are sorted by code points, before they are encoded', () => {
  // U+10000 is above U+FFFD, but its first UTF-16 unit is not
  const high = encodeURIComponent('\u{10000}');
  const replaced = encodeURIComponent('\ufffd');
  assert.is(next(`${high}=1&${replaced}=2`), `?page=2&${replaced}=2&${high}=1`);
  assert.is(next('~=1&%C3%A4=2&a=3&a%20=4'), '?a=3&a+=4&page=2&~=1&%C3%A4=2');
  assert.is(next('z=&a&=&page=9&a=1&page=3'), '?=&a=&a=1&page=2&z=');
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
    ...['page', 'pagf', 'pag', 'page_size', 'bbox', 'a', '24.9,60.1', '\u{10000}', '\uffff'],
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
  forAll(2000, [pairsOf, fc.integer({ min: 2, max: 99 })], (pairs, page) => {
    const found = pagedList('', pairs, 0, page, page + 1).links();
    for (const [link, target] of [
      [found.next, String(page + 1)],
      [found.previous, page === 2 ? undefined : String(page - 1)],
    ] as const) {
      const parsed = parseQueryString(link!.slice(1));
      assert.equal(others(parsed), others(pairs));
      assert.is(last(parsed, 'page'), target);
      const names = parsed.map((pair) => Buffer.from(pair.name));
      assert.equal(names, names.toSorted(Buffer.compare));
    }
  });
});

test.run();
