import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createAnswerCache, type Kept } from '../../../src/http/answer/answer-cache.js';
import { JSON_FORMAT } from '../../../src/http/formats/json.js';

function answer(bytes: number): Kept {
  const body = Buffer.alloc(bytes);
  const made = { format: JSON_FORMAT, etag: '', snapshot: '', coding: undefined, common: [] };
  return { ...made, body, coverage: undefined };
}

test('an answer is wanted when it is asked for again, and kept', () => {
  const cache = createAnswerCache(100_000);
  assert.not(cache.wants(7));
  assert.ok(cache.wants(7));
  assert.is(cache.get('one', 'key'), undefined);
  const made = answer(10);
  cache.keep('one', 'key', made);
  assert.is(cache.get('one', 'key'), made);
  assert.is(cache.get('one', 'other'), undefined);
});

test('another generation empties it, and forgets what was asked for', () => {
  const cache = createAnswerCache(100_000);
  cache.get('one', 'key');
  cache.wants(7);
  cache.keep('one', 'key', answer(10));
  assert.is(cache.get('two', 'key'), undefined);
  assert.not(cache.wants(7));
  assert.is(cache.get('one', 'key'), undefined);
});

test('an answer that took so long that another generation is served is not kept', () => {
  const cache = createAnswerCache(100_000);
  cache.get('one', 'key');
  cache.get('two', 'key');
  cache.keep('one', 'key', answer(10));
  assert.is(cache.get('two', 'key'), undefined);
});

test('bytes are bounded, and 0 keeps nothing', () => {
  const cache = createAnswerCache(100_000);
  cache.get('one', '');
  for (let i = 0; i < 10; i++) cache.keep('one', `${i}`, answer(30_000));
  const kept = Array.from({ length: 10 }, (_, i) => cache.get('one', `${i}`)).filter(Boolean);
  assert.is(kept.length, 3);
  const none = createAnswerCache(0);
  assert.not(none.wants(7) || none.wants(7));
  none.keep('one', 'key', answer(10));
  assert.is(none.get('one', 'key'), undefined);
});

test.run();
