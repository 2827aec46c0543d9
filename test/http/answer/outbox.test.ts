import { setImmediate as turn } from 'node:timers/promises';
import { createOutbox } from '../../../src/http/answer/delivery.js';
import { assert, test } from '../../support/uvu.js';

/** An outbox that sends numbers; sending a negative one fails. */
function start(longestMs = Infinity): {
  put: (number: number) => void;
  sent: number[];
  failed: number[];
} {
  const sent: number[] = [];
  const failed: number[] = [];
  const send = (number: number): void => {
    if (number < 0) throw new RangeError(`${number} is negative`);
    sent.push(number);
  };
  const fail = (number: number, error: unknown): void => {
    assert.instance(error, RangeError);
    failed.push(number);
  };
  const outbox = createOutbox(longestMs);
  const put = (number: number): void =>
    outbox(
      () => send(number),
      (error) => fail(number, error),
    );
  return { put, sent, failed };
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

test('eight answers are sent at once', async () => {
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

test('when the first answer has waited long, the next one is sent at once', () => {
  const { put, sent } = start(50);
  put(1);
  const until = performance.now() + 60;
  while (performance.now() < until);
  put(2);
  assert.equal(sent, [1, 2]);
});

test('an answer that cannot be sent does not keep others back', async () => {
  const { put, sent, failed } = start();
  for (const number of [1, -2, 3]) put(number);
  await turn();
  assert.equal([sent, failed], [[1, 3], [-2]]);
  for (const number of [4, 5, 6, 7, 8, 9, -10, 11]) put(number);
  assert.equal(
    [sent, failed],
    [
      [1, 3, 4, 5, 6, 7, 8, 9, 11],
      [-2, -10],
    ],
  );
});

test('answers added while others are sent are sent, too', async () => {
  const sent: string[] = [];
  const outbox = createOutbox();
  const put = (answer: string): void =>
    outbox(
      () => {
        sent.push(answer);
        if (answer === 'first') put('second');
      },
      (error) => assert.unreachable(String(error)),
    );
  put('first');
  await turn();
  await turn();
  assert.equal(sent, ['first', 'second']);
});

test.run();
