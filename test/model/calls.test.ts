import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { Calls } from '../../src/model/calls.js';
import { release } from '../../src/model/memory.js';
import { assert, pluck, test } from '../support/uvu.js';

type Theirs = {
  double(value: number): Promise<number>;
  fail(): never;
  note(what: string): void;
};

/** Two ends of a channel, and how many calls and replies each message had. */
function connected() {
  const { port1, port2 } = new MessageChannel();
  const sent: number[] = [];
  port2.on('message', ([calls]) => sent.push(calls.length));
  const answered: number[] = [];
  port1.on('message', ([, replies]) => answered.push(replies.length));
  const noted: string[] = [];
  new Calls(port2, {
    // the later ones are ready first
    async double(value: number) {
      for (let i = 0; i < 10 - value; i++) await undefined;
      return 2 * value;
    },
    fail() {
      throw Object.assign(new Error('no room'), { fault: 'locked' });
    },
    note: (what: string) => void noted.push(what),
  } satisfies Theirs);
  const calls = new Calls<Theirs>(port1, {});
  const close = async (): Promise<void> => {
    port1.close();
    await once(port2, 'close');
  };
  return { calls, sent, answered, noted, close };
}

test('calls of one turn go in one message, and so do replies; each finds its call', async () => {
  const { calls, sent, answered, noted, close } = connected();
  calls.tell('note', 'before');
  const all = [calls.call('double', 1), calls.call('double', 2), calls.call('double', 3)];
  assert.is(sent.length, 0, 'nothing leaves within the turn');
  assert.equal(await Promise.all(all), [2, 4, 6]);
  assert.equal([sent, answered, noted], [[4], [3], ['before']]);
  assert.is(await calls.call('double', 4), 8);
  assert.is(sent.length, 2, 'the next turn has a message of its own');
  await close();
});

test('an error comes back with what it has besides its message', async () => {
  const { calls, close } = connected();
  const error = await calls.call('fail').catch((reason) => reason);
  assert.instance(error, Error);
  assert.equal([error.message, error.fault], ['no room', 'locked']);
  await close();
});

test('what waits for a thread that is gone is rejected', async () => {
  const { calls, close } = connected();
  const waiting = calls.call('double', 1).catch((reason: Error) => reason.message);
  calls.fail(new Error('it ended'));
  assert.is(await waiting, 'it ended');
  await close();
});

test('memory that is given back is gone at once, and nobody can use it any more', () => {
  const arrays = [new Float64Array(4_000_000), Buffer.allocUnsafeSlow(32_000_000)];
  // a collection between the two can only make the second smaller: these arrays are in use
  const held = process.memoryUsage().arrayBuffers;
  release(...arrays);
  assert.ok(process.memoryUsage().arrayBuffers <= held - 64_000_000);
  assert.equal(pluck(arrays, 'length'), [0, 0]);
});

test.run();
