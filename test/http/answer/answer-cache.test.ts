import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AnswerCache,
  type AnswerKey,
  createAnswerCache,
  type Kept,
} from '../../../src/http/answer/answer-cache.js';
import { JSON_FORMAT } from '../../../src/http/formats/json.js';

function answer(bytes: number): Kept {
  const body = Buffer.alloc(bytes);
  const made = { format: JSON_FORMAT, etag: '', snapshot: '', coding: undefined, common: [] };
  return { ...made, body, coverage: undefined };
}

function key(text: string, hash = 5): AnswerKey {
  return { text, hash };
}

function look(cache: AnswerCache, tag: string, wanted: AnswerKey): Kept | undefined {
  return cache.mayHave(tag, wanted.hash) ? cache.get(tag, wanted) : undefined;
}

test('an answer is wanted when it is asked for again, and kept', () => {
  const cache = createAnswerCache(100_000);
  assert.is(look(cache, 'one', key('a')), undefined);
  assert.not(cache.wants(7));
  assert.ok(cache.wants(7));
  const made = answer(10);
  cache.keep('one', key('a'), made);
  assert.is(look(cache, 'one', key('a')), made);
  assert.is(look(cache, 'one', key('b')), undefined);
});

test('no key is needed where no answer has the hash', () => {
  const cache = createAnswerCache(100_000);
  const large = 2 ** 32 - 1;
  assert.not(cache.mayHave('one', large));
  cache.keep('one', key('a', large), answer(10));
  cache.keep('one', key('a', large), answer(20));
  cache.keep('one', key('b', large), answer(200_000));
  assert.ok(cache.mayHave('one', large));
  assert.is(look(cache, 'one', key('a', large))?.body.length, 20);
  assert.not(cache.mayHave('one', large - 1));
  for (let i = 0; i < 10; i++) cache.keep('one', key(`${i}`, i), answer(30_000));
  assert.not(cache.mayHave('one', large), 'it has been pushed out');
});

test('another generation empties it, and forgets what was asked for', () => {
  const cache = createAnswerCache(100_000);
  cache.mayHave('one', 5);
  cache.wants(7);
  cache.keep('one', key('a'), answer(10));
  assert.not(cache.mayHave('two', 5));
  assert.not(cache.wants(7));
  assert.is(look(cache, 'one', key('a')), undefined);
});

test('an answer that took so long that another generation is served is not kept', () => {
  const cache = createAnswerCache(100_000);
  cache.mayHave('one', 5);
  cache.mayHave('two', 5);
  cache.keep('one', key('a'), answer(10));
  assert.not(cache.mayHave('two', 5));
  cache.keep('two', key('a'), answer(10));
  assert.is(cache.get('one', key('a')), undefined);
});

test('bytes are bounded, and 0 keeps nothing', () => {
  const cache = createAnswerCache(100_000);
  cache.mayHave('one', 5);
  for (let i = 0; i < 10; i++) cache.keep('one', key(`${i}`), answer(30_000));
  const kept = Array.from({ length: 10 }, (_, i) => look(cache, 'one', key(`${i}`))).filter(
    Boolean,
  );
  assert.is(kept.length, 3);
  const none = createAnswerCache(0);
  assert.not(none.wants(7) || none.wants(7));
  none.keep('one', key('a'), answer(10));
  assert.is(look(none, 'one', key('a')), undefined);
});

test.run();
