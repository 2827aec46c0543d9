import { setImmediate as turn } from 'node:timers/promises';
import { createStages } from '../../../src/http/answer/delivery.js';
import { assert, test } from '../../support/uvu.js';

/** Stages that note which numbers were asked for and which were sent; negative ones are not sent. */
function start(longestMs = Infinity): { put: (number: number) => void; done: string[] } {
  const done: string[] = [];
  const stage = createStages(longestMs);
  const put = (number: number): void =>
    stage(() => {
      done.push(`ask ${number}`);
      return number < 0 ? undefined : () => void done.push(`send ${number}`);
    });
  return { put, done };
}

test('requests wait for the end of the turn; all answers are made, then all are sent', async () => {
  const { put, done } = start();
  put(1);
  put(2);
  assert.equal(done, []);
  await turn();
  assert.equal(done, ['ask 1', 'ask 2', 'send 1', 'send 2']);
  put(3);
  assert.is(done.length, 4);
  await turn();
  assert.equal(done.slice(4), ['ask 3', 'send 3']);
});

test('an answer that is sent later keeps no others back', async () => {
  const { put, done } = start();
  for (const number of [1, -2, 3]) put(number);
  await turn();
  assert.equal(done, ['ask 1', 'ask -2', 'ask 3', 'send 1', 'send 3']);
});

test('eight requests are worked on at once', async () => {
  const { put, done } = start();
  for (let i = 1; i <= 7; i++) put(i);
  assert.equal(done, []);
  put(8);
  assert.is(done.length, 16);
  put(9);
  assert.is(done.length, 16);
  await turn();
  assert.equal(done.slice(16), ['ask 9', 'send 9']);
});

test('when the first request has waited long, the next one is worked on at once', () => {
  const { put, done } = start(50);
  put(1);
  const until = performance.now() + 60;
  while (performance.now() < until);
  put(2);
  assert.equal(done, ['ask 1', 'ask 2', 'send 1', 'send 2']);
});

test('answers whose making has taken long are sent before the next ones are made', async () => {
  const done: string[] = [];
  const stage = createStages(20);
  for (const number of [1, 2, 3]) {
    stage(() => {
      const until = performance.now() + (number === 2 ? 25 : 0);
      while (performance.now() < until);
      done.push(`ask ${number}`);
      return () => void done.push(`send ${number}`);
    });
  }
  await turn();
  assert.equal(done, ['ask 1', 'ask 2', 'send 1', 'send 2', 'ask 3', 'send 3']);
});

test('requests that come while others are worked on are not lost', async () => {
  const done: string[] = [];
  const stage = createStages();
  const put = (name: string, next: string[]): void =>
    stage(() => {
      const [one, ...others] = next;
      if (one !== undefined) put(one, others);
      return () => void done.push(name);
    });
  put('first', ['second', 'third']);
  for (let i = 0; i < 3; i++) await turn();
  assert.equal(done, ['first', 'second', 'third']);
});

test.run();
