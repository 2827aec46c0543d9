import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hashText, spellHash } from '../../../src/http/answer/validators.js';

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
