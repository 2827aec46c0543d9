import { hashText, matchesEtag, spellHash } from '../../../src/http/answer/validators.js';
import { assert, test } from '../../support/uvu.js';

test('the same tag, weak or strong on either side', () => {
  assert.ok(matchesEtag('"a1"', '"a1"'));
  assert.ok(matchesEtag('W/"a1"', '"a1"'));
  assert.ok(matchesEtag('"a1"', 'W/"a1"'));
  assert.ok(matchesEtag('W/"a1"', 'W/"a1"'));
  assert.ok(matchesEtag('  "a1"\t', '"a1"'));
});

test('lists', () => {
  assert.ok(matchesEtag('"x", "a1"', '"a1"'));
  assert.ok(matchesEtag('"x","y" ,\tW/"a1" , "z"', '"a1"'));
  assert.ok(matchesEtag(', ,"a1",', '"a1"'));
  assert.ok(matchesEtag('"x,y", "a1"', '"a1"'));
  assert.not(matchesEtag('"x", "y"', '"a1"'));
});

test('* matches any, alone only', () => {
  assert.ok(matchesEtag('*', '"a1"'));
  assert.ok(matchesEtag(' * ', '"a1"'));
  assert.not(matchesEtag('"*"', '"a1"'));
  assert.not(matchesEtag('*, "x"', '"a1"'));
});

test('part of a tag, another case or no quotes do not match', () => {
  for (const header of ['', '""', '"a"', '"a11"', '"A1"', 'a1', '"a1', 'a1"', '"x a1"', 'w/"a1"']) {
    assert.not(matchesEtag(header, '"a1"'), header);
  }
});

test('what stands between two tags is no tag', () => {
  assert.not(matchesEtag('"x", "y"', '", "'));
  assert.not(matchesEtag('"x""a1"', '"a1"'));
});

test('a malformed member ends the list', () => {
  assert.ok(matchesEtag('"a1", broken', '"a1"'));
  assert.not(matchesEtag('broken, "a1"', '"a1"'));
});

test('one answer leaves no trace in the next', () => {
  for (let i = 0; i < 3; i++) {
    assert.ok(matchesEtag('"a1", "b2"', 'W/"a1"'));
    assert.ok(matchesEtag('"b2"', 'W/"b2"'));
    assert.not(matchesEtag('"c"', '"a1"'));
  }
});

test('texts that differ in one character have tags that differ', () => {
  const seed = { low: -5, high: 2 ** 31 - 1 };
  const texts = Array.from({ length: 20_000 }, (_, i) => `/rest/?page=${i}`);
  const tags = new Set(texts.map((text) => spellHash(hashText(text, seed))));
  assert.is(tags.size, texts.length);
  for (const tag of tags) assert.match(tag, /^[\w-]{12}$/);
  const other = spellHash(hashText(texts[0]!, { ...seed, high: 7 }));
  assert.not(tags.has(other), 'what it begins with counts');
});

test('every bit of a hash is spelled', () => {
  const spelled = new Set([spellHash({ low: 0, high: 0 })]);
  for (let bit = 0; bit < 32; bit++) {
    spelled.add(spellHash({ low: (1 << bit) >>> 0, high: 0 }));
    spelled.add(spellHash({ low: 0, high: (1 << bit) >>> 0 }));
  }
  assert.is(spelled.size, 65);
});

test.run();
