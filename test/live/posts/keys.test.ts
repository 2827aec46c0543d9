import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SpentKeys } from '../../../src/live/posts/keys.js';

const DAY_MS = 86_400_000;

test('a key is known for 24 hours, and then kept no longer', () => {
  let now = 1_000;
  const body = 'a'.repeat(64);
  const old = { name: '- old', body, acceptedAt: now - 500, record: '{"id":1}' };
  const keys = new SpentKeys([old], () => now);
  keys.add({ name: '- new', body }, '{"id":2}');
  now = 500 + DAY_MS - 1;
  assert.is(keys.find('- old')?.record, '{"id":1}');
  now++;
  assert.is(keys.find('- old'), undefined);
  assert.is(keys.find('- new')?.record, '{"id":2}');
  assert.is(keys.size, 2);
  keys.add({ name: '- newest', body }, '{"id":3}');
  assert.is(keys.size, 2, 'what is too old goes with the next');
  assert.is(keys.find('- other'), undefined);
});

test.run();
