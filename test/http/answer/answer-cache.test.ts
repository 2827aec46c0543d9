import {
  AnswerCache,
  type AnswerKey,
  answerKey,
  Joins,
} from '../../../src/http/answer/answer-cache.js';
import type { Answer } from '../../../src/http/answer/sender.js';
import { assert, test } from '../../support/uvu.js';

function answer(bytes: number): Answer {
  const body = Buffer.alloc(bytes);
  return { format: 'json', contentType: '', etag: '', coding: undefined, lines: '', body };
}

function key(target: string, hash = 5): AnswerKey {
  return { origin: 'http://a', target, accept: undefined, coding: undefined, hash };
}

// accepted.test.ts covers what a state and a second request mean
test('answers that would soon be evicted are not cached, until time has passed', () => {
  let time = 0;
  const cache = new AnswerCache(100_000, () => time);
  const isWanted = (name: string): boolean => {
    cache.wants(key(`/${name}`, name.length));
    return cache.wants(key(`/${name}`, name.length));
  };
  cache.get('one', key('/a'));
  cache.keep('one', key('/a'), answer(60_000));
  assert.ok(isWanted('bb'));
  cache.keep('one', key('/bb', 2), answer(60_000));
  assert.not(isWanted('ccc'));
  // kept answers are still found
  assert.ok(cache.get('one', key('/bb', 2)));
  time = 1_990;
  assert.not(isWanted('ccc'));
  time = 2_010;
  assert.ok(isWanted('ccc'));
  cache.keep('one', key('/ccc', 3), answer(60_000));
  assert.not(isWanted('dddd'));
  cache.get('two', key('/a'));
  assert.not(isWanted('dddd'));
});

test('keys with the same hash are told apart', () => {
  const cache = new AnswerCache(100_000);
  cache.get('one', key('/a'));
  cache.keep('one', key('/a'), answer(10));
  const others = [{ target: '/b' }, { origin: 'https://a' }, { accept: '*/*' }, { coding: 'gzip' }];
  for (const other of others as Partial<AnswerKey>[]) {
    assert.is(cache.get('one', { ...key('/a'), ...other }), undefined, Object.keys(other).join());
  }
  assert.ok(cache.get('one', key('/a')));
});

test('the hash depends on all of a key', () => {
  const hashes = new Set<number>();
  const add = (...parts: Parameters<typeof answerKey>): void => {
    const { hash } = answerKey(...parts);
    assert.ok(Number.isSafeInteger(hash) && hash >= 0, `${hash}`);
    hashes.add(hash);
  };
  for (const accept of [undefined, '*/*', 'text/html']) {
    for (const coding of [undefined, 'br', 'gzip'] as const) {
      add({ low: 1, high: 2 }, 'a', '/', accept, coding);
      add({ low: 1, high: 2 ** 32 - 1 }, 'a', '/', accept, coding);
      add({ low: 2 ** 32 - 1, high: 2 }, 'a', '/', accept, coding);
    }
  }
  assert.is(hashes.size, 27);
});

test('an answer of a state that is not served any more is not cached', () => {
  const cache = new AnswerCache(100_000);
  cache.get('one', key('/a'));
  cache.get('two', key('/a'));
  cache.keep('one', key('/a'), answer(10));
  assert.is(cache.get('two', key('/a')), undefined);
});

test('bytes are bounded, and 0 caches nothing', () => {
  const cache = new AnswerCache(100_000);
  const keys = Array.from({ length: 10 }, (_, i) => key('/a', i));
  cache.get('one', keys[0]!);
  for (const one of keys) cache.keep('one', one, answer(30_000));
  assert.is(keys.filter((one) => cache.get('one', one)).length, 3);
  const none = new AnswerCache(0);
  assert.not(none.wants(key('/a')) || none.wants(key('/a')));
  none.keep('one', key('/a'), answer(10));
  assert.is(none.get('one', key('/a')), undefined);
});

test('the texts of a request count as its body does', () => {
  const text = 'x'.repeat(30_000);
  const short = answer(10);
  const cases: [Partial<AnswerKey>, Answer][] = [
    [{ target: text }, short],
    [{ origin: text }, short],
    [{ accept: text }, short],
    [{}, { ...short, lines: text }],
  ];
  for (const [long, made] of cases) {
    const cache = new AnswerCache(100_000, () => 0);
    const keys = Array.from({ length: 10 }, (_, i) => ({ ...key('/a', i), ...long }));
    cache.get('one', keys[0]!);
    for (const one of keys) cache.keep('one', one, made);
    const name = Object.keys(long).join() || 'lines';
    assert.is(keys.filter((one) => cache.get('one', one)).length, 3, name);
    cache.wants(key('/b', 11));
    assert.not(cache.wants(key('/b', 11)), `${name} uses the credit up`);
  }
});

const [one, other] = [1, 2].map((low) => {
  return answerKey({ low, high: 0 }, 'a', '/', undefined, undefined);
});

test('requests that wait for an answer are called once it was made, or will not be', () => {
  const joins = new Joins();
  const called: string[] = [];
  const join = (key = one!, name = 'a'): boolean => joins.join(key, () => called.push(name));
  assert.not(join());
  const onMade = joins.lead(one!);
  assert.ok(join(one, 'b'));
  assert.not(join(other));
  onMade();
  assert.equal(called, ['b']);
  assert.not(join());
  // told again it ends only its own answer
  joins.lead(one!);
  onMade();
  assert.ok(join(one, 'c'));
  assert.equal(called, ['b']);
});

test.run();
