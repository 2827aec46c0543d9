import * as fc from 'fast-check';
import { last, type Pair, parseQueryString } from '../../../src/http/request/query-string.js';
import { rounds } from '../../support/soak.js';
import { assert, test } from '../../support/uvu.js';

/** What Node's HTTP parser makes of these characters sent as UTF-8: one character a byte. */
function asTarget(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function pairsOf(raw: string): [string, string][] {
  return parseQueryString(raw).map((pair) => [pair.name, pair.value]);
}

test('nothing to decode', () => {
  assert.equal(pairsOf(''), []);
  assert.equal(pairsOf('a=1&b=2'), [
    ['a', '1'],
    ['b', '2'],
  ]);
  assert.equal(pairsOf('bbox=24.9,60.1,25.0,60.2'), [['bbox', '24.9,60.1,25.0,60.2']]);
});

test('empty pieces are skipped, bare and empty names are not', () => {
  assert.equal(pairsOf('&&a&=1&=&b=&'), [
    ['a', ''],
    ['', '1'],
    ['', ''],
    ['b', ''],
  ]);
});

test('only the first = separates, and ; separates nothing', () => {
  assert.equal(pairsOf('a=1=2;b=3'), [['a', '1=2;b=3']]);
});

test('plus and escapes, in names and values', () => {
  assert.equal(pairsOf('a+b=c+d%2Be'), [['a b', 'c d+e']]);
  assert.equal(pairsOf('%61%3D=%26%3d%25'), [['a=', '&=%']]);
  assert.equal(pairsOf('x=%C3%A4%20b+c'), [['x', 'ä b c']]);
  assert.equal(pairsOf('x=a%00b'), [['x', 'a\0b']]);
});

test('an escape that is none stays', () => {
  for (const text of ['%', '%4', '%zz', '%4g', '%g4', '100%', '%:0', '%/0', '%@0', '%`0']) {
    assert.equal(pairsOf(`x=${text}`), [['x', text]]);
  }
  assert.equal(pairsOf('x=%%41%4'), [['x', '%A%4']]);
  assert.equal(pairsOf('x=%C3%A4%zz%'), [['x', 'ä%zz%']]);
});

test('raw bytes count as bytes, together with escaped ones', () => {
  assert.equal(pairsOf(asTarget('näkyvyys=日本')), [['näkyvyys', '日本']]);
  assert.equal(pairsOf('x=\xc3%A4%C3\xa4'), [['x', 'ää']]);
});

test('bytes that are no UTF-8 become one U+FFFD a maximal part', () => {
  const cases: [string, string][] = [
    ['%FF', '\ufffd'],
    ['%C3', '\ufffd'],
    ['%C3x', '\ufffdx'],
    ['%E2%82', '\ufffd'],
    ['%E2%82x', '\ufffdx'],
    ['%F0%9F%98x', '\ufffdx'],
    ['%C0%80', '\ufffd\ufffd'],
    ['%ED%A0%80', '\ufffd\ufffd\ufffd'],
    ['%F4%90%80%80', '\ufffd\ufffd\ufffd\ufffd'],
    ['a%80%80b', 'a\ufffd\ufffdb'],
    ['\xff', '\ufffd'],
  ];
  for (const [raw, value] of cases) assert.equal(pairsOf(`x=${raw}`), [['x', value]], raw);
});

test('a byte order mark is kept', () => {
  assert.equal(pairsOf('x=%EF%BB%BFy'), [['x', '\ufeffy']]);
});

test('last takes the last of a name', () => {
  const pairs: Pair[] = parseQueryString('a=1&b=2&a=3&c');
  assert.is(last(pairs, 'a'), '3');
  assert.is(last(pairs, 'b'), '2');
  assert.is(last(pairs, 'c'), '');
  assert.is(last(pairs, 'd'), undefined);
});

test('agrees with URLSearchParams on what it writes', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12 });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 6 }), (pairs) => {
      assert.equal(pairsOf(new URLSearchParams(pairs).toString()), pairs);
    }),
    { numRuns: rounds(2000) },
  );
});

test('agrees with URLSearchParams on any text', () => {
  const common = ['&', '=', '+', '%', ';', '%41', '%2C', '%c3%a4', '%F0%9F%98%80', 'ä', '日', '😀'];
  const piece = fc.oneof(fc.constantFrom(...common), fc.string({ unit: 'binary', maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('');
      // Node 20 mistakes what is not ASCII beside an escape that is none, so it gets ASCII only
      const ascii = text.replace(/[^\0-\x7f]/gu, encodeURIComponent);
      const expected = [...new URLSearchParams(`?${ascii}`)];
      assert.equal(pairsOf(asTarget(text)), expected);
      assert.equal(pairsOf(ascii), expected);
    }),
    { numRuns: rounds(5000) },
  );
});

test('reads any bytes at all', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const raw = Buffer.from(bytes).toString('latin1');
      const pieces = raw.split('&').filter((piece) => piece !== '');
      assert.is(parseQueryString(raw).length, pieces.length);
    }),
    { numRuns: rounds(2000) },
  );
});

test.run();
