import { createQueue, inTime, Turns } from '../../src/model/turns.js';
import { assert, failure, test } from '../support/uvu.js';

function drained(turns: Turns<string>): string[] {
  const order: string[] = [];
  for (let next = turns.next(); next !== undefined; next = turns.next()) order.push(next);
  return order;
}

test('clients have turns, however many entries each brings', () => {
  const turns = new Turns<string>(10);
  for (const entry of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) turns.add(entry[0]!, entry);
  assert.equal(drained(turns), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  assert.is(turns.next(), undefined);
});

test('where there is no room the longest line loses its last entry, or the newcomer its own', () => {
  const turns = new Turns<string>(4);
  for (const entry of ['a1', 'a2', 'a3', 'b1']) assert.is(turns.add(entry[0]!, entry), undefined);
  assert.ok(turns.isFull);
  assert.is(turns.add('c', 'c1'), 'a3');
  assert.is(turns.add('a', 'a4'), 'a4');
  assert.is(turns.add('b', 'b2'), 'b2');
  assert.equal(drained(turns), ['a1', 'b1', 'c1', 'a2']);
});

test('entries that are gone make room', () => {
  const turns = new Turns<string>(3);
  for (const entry of ['a1', 'a2', 'b1']) turns.add(entry[0]!, entry);
  const dropped = turns.drop((entry) => entry !== 'a2');
  assert.equal(dropped, ['a1', 'b1']);
  assert.not.ok(turns.isFull);
  assert.is(turns.add('b', 'b2'), undefined);
  assert.equal(drained(turns), ['a2', 'b2']);
});

test('a queue begins work when all earlier work has ended, well or not', async () => {
  const queue = createQueue();
  const told: string[] = [];
  const first = queue(async () => {
    told.push('first begins');
    await Promise.resolve();
    told.push('first ends');
    throw new Error('first');
  });
  const second = queue(() => told.push('second'));
  assert.is((await failure(first)).message, 'first');
  await second;
  assert.equal(told, ['first begins', 'first ends', 'second']);
});

test('a bounded wait ends as its work does, or with an error, and leaves no timer', async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const late = (): Error => new Error('late');
  assert.is(await inTime(60_000, Promise.resolve(1), late), 1);
  const failed = inTime(60_000, Promise.reject(new Error('failed')), late);
  assert.is((await failure(failed)).message, 'failed');
  assert.is((await failure(inTime(1, new Promise(() => {}), late))).message, 'late');
  assert.is(timers(), before);
});

test.run();
