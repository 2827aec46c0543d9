import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createPace, type Pace } from '../../../src/http/answer/pace.js';

function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** Work of some pieces of 1.5 ms each, one a turn; resolves with when each began and ended. */
function work(pace: Pace, pieces: number): Promise<{ began: number; ended: number }[]> {
  return new Promise((resolve) => {
    const done: { began: number; ended: number }[] = [];
    const share = (): void => {
      const began = performance.now();
      spin(1.5);
      done.push({ began, ended: performance.now() });
      if (done.length < pieces) pace.next(share);
      else resolve(done);
    };
    pace.next(share);
  });
}

/** Notes light requests in every turn of the event loop until it is told to end. */
async function sendLight(pace: Pace, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    pace.noteLight(performance.now());
    await turn();
  }
}

/** The shortest pause between two pieces, in milliseconds. */
function shortestPause(done: readonly { began: number; ended: number }[]): number {
  return Math.min(...done.slice(1).map(({ began }, i) => began - done[i]!.ended));
}

/**
 * Turns of an event loop that has nothing else to do, until 20 pieces are done; a pause would take
 * many.
 */
async function turnsOfWork(pace: Pace): Promise<number> {
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns++) await turn();
  })();
  await work(pace, 20);
  isOver = true;
  await counting;
  return turns;
}

test('heavy work pauses between its turns while light requests come in, and only then', async () => {
  const pace = createPace();
  const ending = new AbortController();
  const sending = sendLight(pace, ending.signal);
  const pause = shortestPause(await work(pace, 20));
  ending.abort();
  await sending;
  // as long as a piece
  assert.ok(pause >= 1.5, `${pause} ms beside light requests`);
  assert.ok((await turnsOfWork(createPace())) <= 50, 'no pause without them');
});

test('light requests before the heavy one do not make it pause', async () => {
  const pace = createPace();
  pace.noteLight(performance.now());
  assert.ok((await turnsOfWork(pace)) <= 50);
});

test('all heavy work shares one turn, and each of it comes in turn', async () => {
  const pace = createPace(1);
  const order: string[] = [];
  const add = (name: string): void => {
    pace.next(() => {
      order.push(name);
      spin(0.6);
      if (order.length < 8) add(name);
    });
  };
  for (const name of 'abcd') add(name);
  let most = 0;
  while (order.length < 8) {
    const before = order.length;
    await turn();
    most = Math.max(most, order.length - before);
  }
  assert.is(order.slice(0, 8).join(''), 'abcdabcd');
  // two fit into a turn, and two turns of work may pass between two looks
  assert.ok(most <= 4, `${most} in a turn`);
});

test('what is added within a turn waits for the next one', async () => {
  const pace = createPace(1_000);
  let calls = 0;
  const share = (): void => {
    calls++;
    if (calls < 3) pace.next(share);
  };
  pace.next(share);
  const seen: number[] = [];
  while (calls < 3) {
    await turn();
    seen.push(calls);
  }
  assert.ok(seen.length >= 2, `${seen}`);
});

test.run();
