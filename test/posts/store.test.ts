import { statSync } from 'node:fs';
import { InputError } from '../../src/model/quote.js';
import { openTimeZone, UTC } from '../../src/model/time-zone.js';
import { formatLocal, parseTimestamp } from '../../src/model/timestamp.js';
import { Database } from '../../src/posts/database.js';
import { isDatabaseAddress, parseDatabaseAddress } from '../../src/posts/postgres-address.js';
import { createPostClock } from '../../src/posts/posts.js';
import { makeStore, moveOf, newPost, numbers } from '../support/journals.js';
import { assert, test, thrownBy } from '../support/uvu.js';

test('tells behind which sequence all posts are kept, also after a restart', async () => {
  const { open } = makeStore();
  let store = open();
  const after = (sequence: number): void => {
    assert.is(store.state.keptAfter, sequence);
    store.close();
    store = open();
    assert.is(store.state.keptAfter, sequence, 'after a restart');
  };
  after(0);
  store.append(Array.from({ length: 5 }, (_, i) => newPost(i + 1)));
  after(0);
  store.prune([2, 99]);
  after(2);
  store.move([moveOf(4, 4, 14)]);
  assert.is(store.state.keptAfter, 4, 'what has moved counts as gone');
  assert.is(store.state.nextId, 15);
  store.prune([6]);
  after(6);
  store.append([newPost(20)]);
  after(6);
  store.prune([1, 3, 5]);
  after(6);
  store.prune([7]);
  after(7);
  store.append([newPost(21)]);
  after(7);
});

test('forgets posts and their keys, and never gives their sequences again', async () => {
  const { open } = makeStore();
  const store = open();
  store.append([newPost(1, '- a'), newPost(2), newPost(3, '- c')]);
  store.prune([1, 3, 77]);
  assert.is(numbers(store.read(0, 9)), '2:2');
  assert.is(store.find('- a'), undefined);
  store.close();
  const next = open();
  assert.equal(next.append([newPost(9, '- a')]), [4]);
  assert.is(next.state.nextId, 10);
  assert.ok(next.state.bytes >= 4096);
  next.append(Array.from({ length: 16 }, (_, i) => newPost(i + 10)));
  next.prune([5, 6, 7]);
  assert.is(numbers(next.read(3, 3)), '4:9 8:13 9:14', 'reads past what is gone');
});

test('a journal whose making was broken off is made whole at the next start', () => {
  const { path, open } = makeStore();
  const half = new Database(path);
  half.begin();
  half.makeTables();
  half.release();
  assert.ok(statSync(path).size > 0);
  const store = open();
  assert.equal(store.append([newPost(1)]), [1]);
  store.close();
  assert.is(numbers(open().read(0, 9)), '1:1');
});

test('each time is later than all before, and says the instant that it is', () => {
  const clock = createPostClock(0, UTC);
  let last = Date.now() * 1000 - 1_000_000;
  for (let i = 0; i < 5_000; i++) {
    const { micros, text } = clock()!;
    assert.ok(micros > last);
    last = micros;
    const read = parseTimestamp(text);
    assert.equal(read, { micros, text });
  }
  assert.ok(last < Date.now() * 1000 + 1_000_000);
});

test('a clock that was put back goes on from the last time that was given', () => {
  const future = Date.now() * 1000 + 3_600_000_000;
  const clock = createPostClock(future, UTC);
  assert.equal([clock()!.micros, clock()!.micros], [future + 1, future + 2]);
});

test('times stand on the clocks of the zone, summer and winter', async () => {
  const helsinki = await openTimeZone('Europe/Helsinki');
  const offsets: [text: string, offset: number][] = [
    ['2026-01-15T12:00:00Z', 7_200],
    ['2026-03-29T00:59:59Z', 7_200],
    ['2026-03-29T01:00:00Z', 10_800],
    ['2026-10-25T00:59:59Z', 10_800],
    ['2026-10-25T01:00:00Z', 7_200],
  ];
  for (const [text, offset] of offsets) {
    assert.is(helsinki.offsetOf(Date.parse(text) / 1000), offset, text);
  }
  const micros = Date.parse('2026-07-01T21:30:00.5Z') * 1000 + 7;
  assert.is(formatLocal(micros, 10_800), '2026-07-02T00:30:00.500007+03:00');
  assert.is(formatLocal(micros, -12_600), '2026-07-01T18:00:00.500007-03:30');
  const { text } = createPostClock(Date.parse('2100-07-01T00:00:00Z') * 1000, helsinki)()!;
  assert.match(text, /^2100-07-01T03:00:00\.000001\+03:00$/);
});

test('there is no time beyond the year 2255, where microseconds are not exact', () => {
  const clock = createPostClock(Number.MAX_SAFE_INTEGER - 1, UTC);
  assert.is(clock()?.micros, Number.MAX_SAFE_INTEGER);
  assert.is(clock(), undefined);
  assert.is(clock(), undefined);
});

const HOST = { host: 'b', port: 5433 };

function password(text: string, environment: NodeJS.ProcessEnv = {}): string {
  return parseDatabaseAddress(text, environment).password;
}

test('an address names hosts, a database, a user and how to encrypt', () => {
  const { hosts, database, user, tls, name } = parseDatabaseAddress(
    'postgresql://us%20er:se%40cret@a,b:5433,[::1]:5434/notes?sslmode=verify-full&target_session_attrs=read-write',
    {},
  );
  assert.equal(hosts, [{ host: 'a', port: 5432 }, HOST, { host: '::1', port: 5434 }]);
  assert.equal([database, user, tls], ['notes', 'us er', 'verify-full']);
  assert.is(name, 'postgres://a:5432,b:5433,::1:5434/notes');
  const given = { PGUSER: 'me', PGDATABASE: 'mine', PGSSLMODE: 'disable' };
  const other = parseDatabaseAddress('postgres://a', given);
  assert.equal([other.user, other.database, other.tls], ['me', 'mine', false]);
  assert.equal([isDatabaseAddress('postgres://a'), isDatabaseAddress('./postgres')], [true, false]);
});

test('the password is that of the address, or of PGPASSWORD', () => {
  assert.is(password('postgres://u:se%40cret@b/d', { PGPASSWORD: 'other' }), 'se@cret');
  assert.is(password('postgres://u@b/d', { PGPASSWORD: 'other' }), 'other');
  assert.is(password('postgres://u@b/d'), '');
});

test('what is no address is refused without being repeated', () => {
  for (const text of [
    ...['postgres://', 'postgres://u:secret@a b/d', 'postgres://u:secret@a:port/d'],
    ...['postgres://u:%zz@a/d', 'postgres://u:secret@a/d?sslmode=maybe'],
    ...['postgres://u:secret@a/d?secret=secret2', 'postgres://u:sec/ret@a/d'],
  ]) {
    const { message } = thrownBy(InputError, () => parseDatabaseAddress(text, {}));
    assert.not.match(message, /secret2|u:/, text);
  }
});

test.run();
