import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Query } from '../../src/model/query.js';
import type { Answer } from '../../src/query/engine.js';
import { createQueue, type Queue } from '../../src/query/queue.js';
import { Suspended } from '../../src/query/suspended.js';
import { engineOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';

const notes = scatterNotes(92, 2_000);
const engine = await engineOf(notes, 200);
const heavy: Query = {
  filters: { createdAt: { after: -1e16, before: 1.6e15 }, modifiedAt: { after: 0, before: 1e16 } },
  ordering: 'id',
  page: 1,
  pageSize: 10,
};
const count = engine.run(heavy)!.count;

/** A heavy query in the queue, and what has become of it. */
interface Client {
  isTaken: boolean;
  isGone: boolean;
  count: number | undefined;
  error: unknown;
}

function ask(queue: Queue, fail = false): Client {
  const query = engine.begin(heavy);
  if (!(query instanceof Suspended)) throw new Error('Expected it to pause.');
  const client: Client = { isTaken: true, isGone: false, count: undefined, error: undefined };
  client.isTaken = queue.add<Answer>({
    query,
    isGone: () => client.isGone,
    done(answer) {
      if (fail) throw new RangeError('no room');
      client.count = answer!.count;
    },
    failed(error) {
      client.error = error;
    },
  });
  return client;
}

/** Turns of the event loop until all are answered. */
async function turnsUntil(...clients: readonly Client[]): Promise<number> {
  for (let turns = 0; ; turns++) {
    if (clients.every(({ count, error }) => count !== undefined || error !== undefined))
      return turns;
    if (turns > 100_000) throw new Error('Nobody works on them.');
    await turn();
  }
}

test('a query is worked on turn by turn, one after the other', async () => {
  const queue = createQueue();
  const [first, second] = [ask(queue), ask(queue)];
  assert.ok((await turnsUntil(first)) > 3);
  assert.is(second.count, undefined);
  assert.ok((await turnsUntil(second)) > 3);
  assert.equal([first.count, second.count], [count, count]);
});

test('a query that arrives between two others waits behind them', async () => {
  const queue = createQueue();
  const [first, second] = [ask(queue), ask(queue)];
  await turnsUntil(first);
  // nobody is half-way: the second has yet to begin again
  const third = ask(queue);
  await turnsUntil(second);
  assert.equal([second.error, second.count, third.count], [undefined, count, undefined]);
  await turnsUntil(third);
  assert.is(third.count, count);
});

test('a query whose client is gone while it waits keeps nobody waiting', async () => {
  const queue = createQueue();
  const [first, second] = [ask(queue), ask(queue)];
  second.isGone = true;
  await turnsUntil(first);
  const third = ask(queue);
  await turnsUntil(third);
  assert.equal([second.count, third.count], [undefined, count]);
  // the memory is free for the next that begins
  const begun = engine.begin(heavy);
  assert.ok(begun instanceof Suspended && begun.resume() === begun);
  (begun as Suspended<Answer>).drop();
});

test('a query whose client is gone is dropped, and the next goes on at once', async () => {
  const queue = createQueue();
  const [first, second] = [ask(queue), ask(queue)];
  await turn();
  first.isGone = true;
  await turnsUntil(second);
  assert.equal([first.count, second.count], [undefined, count]);
  // nobody holds the memory of the first
  const third = ask(queue);
  await turnsUntil(third);
  assert.is(third.count, count);
});

test('no more than a number wait, but those that are gone do not count', async () => {
  const queue = createQueue(2);
  const taken = [ask(queue), ask(queue), ask(queue)];
  assert.not.ok(ask(queue).isTaken);
  taken[1]!.isGone = true;
  const late = ask(queue);
  assert.ok(late.isTaken);
  await turnsUntil(taken[0]!, taken[2]!, late);
  assert.is(late.count, count);
});

test('an answer that fails fails alone', async () => {
  const queue = createQueue();
  const [failing, next] = [ask(queue, true), ask(queue)];
  await turnsUntil(failing, next);
  assert.instance(failing.error, RangeError);
  assert.is(next.count, count);
});

test.run();
