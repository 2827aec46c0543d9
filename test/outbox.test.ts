import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createOutbox } from '../src/http/outbox.js';

/** An outbox that notes the numbers it sends. */
function start(longestMs = Infinity): { put: (number: number) => void; sent: number[] } {
  const outbox = createOutbox(longestMs);
  const sent: number[] = [];
  return { put: (number) => outbox(() => sent.push(number)), sent };
}

test('answers wait for the end of the turn, and are sent in order', async () => {
  const { put, sent } = start();
  put(1);
  put(2);
  put(3);
  assert.equal(sent, []);
  await turn();
  assert.equal(sent, [1, 2, 3]);
  put(4);
  assert.equal(sent, [1, 2, 3]);
  await turn();
  assert.equal(sent, [1, 2, 3, 4]);
});

test('eight wait for no more', async () => {
  const { put, sent } = start();
  for (let i = 1; i <= 7; i++) put(i);
  assert.equal(sent, []);
  put(8);
  assert.equal(sent, [1, 2, 3, 4, 5, 6, 7, 8]);
  put(9);
  assert.is(sent.length, 8);
  await turn();
  assert.equal(sent, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('none waits while others take long', () => {
  const { put, sent } = start(1);
  put(1);
  for (const started = performance.now(); performance.now() - started < 2; );
  put(2);
  assert.equal(sent, [1, 2]);
});

test('what is put in while others are sent is sent as well', async () => {
  const outbox = createOutbox();
  const sent: string[] = [];
  outbox(() => {
    sent.push('first');
    outbox(() => sent.push('second'));
  });
  await turn();
  await turn();
  assert.equal(sent, ['first', 'second']);
});

test.run();
