import { Turns } from '../../../src/posts/media/address-turns.js';
import { ImageTurns } from '../../../src/posts/media/decoder.js';
import { assert, test } from '../../support/uvu.js';

const LIMITS = { maxWaiting: 6, maxOfAddress: 2, maxWaitMs: 60_000 };

/** What becomes of those that wait, in the order in which it happens. */
function follow(limits = LIMITS) {
  const turns = new ImageTurns(limits);
  const events: string[] = [];
  const come = (name: string): Promise<number> =>
    turns.next(name[0]!).then(
      () => events.push(`${name} begins`),
      ({ message }: Error) => events.push(`${name}: ${message}`),
    );
  const told = async (): Promise<string[]> => {
    await new Promise(setImmediate);
    return events.splice(0);
  };
  const end = (): void => turns.end();
  /** Lets all begin that wait: their time is counted by timers. */
  const finish = (): void => {
    for (let i = 0; i < 10; i++) end();
  };
  return { come, told, end, finish };
}

test('addresses take turns, however many of one came first', async () => {
  const { come, told, end } = follow();
  for (const name of ['a0', 'a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void come(name);
  assert.equal(await told(), ['a0 begins']);
  const order: string[] = [];
  for (let i = 0; i < 6; i++) {
    end();
    order.push(...(await told()));
  }
  assert.equal(order.join(), 'a1 begins,b1 begins,c1 begins,a2 begins,b2 begins,a3 begins');
  end();
  void come('d1');
  assert.equal(await told(), ['d1 begins']);
});

test('an address alone may have all room, and gives it up to others', async () => {
  const { come, told, end, finish } = follow();
  for (let i = 0; i < 8; i++) void come(`a${i}`);
  assert.equal(await told(), ['a0 begins', 'a7: too many images are waiting']);
  void come('b1');
  assert.equal(await told(), ['a6: images of other addresses are waiting']);
  // while another waits, its share is all that it gets
  void come('a8');
  assert.equal(await told(), ['a8: too many images of this address are waiting']);
  for (const name of ['b2', 'b3']) void come(name);
  assert.equal(await told(), [
    'b3: too many images of this address are waiting',
    'a5: images of other addresses are waiting',
  ]);
  end();
  end();
  assert.equal(await told(), ['a1 begins', 'b1 begins']);
  finish();
});

test('who waits too long is told so, and is in nobody’s way', async () => {
  const { come, told, end } = follow({ ...LIMITS, maxWaitMs: 20 });
  void come('a0');
  await come('b1');
  assert.equal(await told(), ['a0 begins', 'b1: images wait too long']);
  end();
  await come('c1');
  assert.equal(await told(), ['c1 begins']);
});

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
  assert.equal(
    turns.drop((entry) => entry !== 'a2'),
    ['a1', 'b1'],
  );
  assert.not.ok(turns.isFull);
  assert.is(turns.add('b', 'b2'), undefined);
  assert.equal(drained(turns), ['a2', 'b2']);
});

test.run();
