import { SharedRoom } from '../src/posts/media/shared-room.js';
import { assert, test } from './support/uvu.js';

/** A room whose guests are told by name when they must leave. */
function open(size: number) {
  const room = new SharedRoom(size);
  const gone: string[] = [];
  const enter = (name: string) => room.enter(name[0]!, () => gone.push(name));
  return { room, gone, enter };
}

test('a client alone may have all of a room, and no more', () => {
  const { room, gone, enter } = open(10);
  const first = enter('a1');
  first.grow(6);
  const second = enter('a2');
  second.grow(4);
  assert.equal(gone, []);
  first.grow(1);
  assert.equal([gone, room.taken], [['a1'], 4]);
  // whoever had to leave has nothing to give back
  first.grow(5);
  first.leave();
  assert.is(room.taken, 4);
  second.leave();
  assert.is(room.taken, 0);
});

test('the client that has most of a full room makes room for others, its oldest guest first', () => {
  const { room, gone, enter } = open(10);
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name).grow(2);
  const other = enter('b1');
  other.grow(2);
  assert.equal(gone, []);
  other.grow(2);
  assert.equal([gone, room.taken], [['a1'], 10]);
  other.grow(1);
  assert.equal([gone, room.taken], [['a1', 'a2'], 9]);
  // now nobody has more than it has
  other.grow(2);
  assert.equal([gone, room.taken], [['a1', 'a2', 'b1'], 4]);
});

test.run();
