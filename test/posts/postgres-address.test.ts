import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../src/model/quote.js';
import { isDatabaseAddress, parseDatabaseAddress } from '../../src/posts/postgres-address.js';
import { thrownBy } from '../support/errors.js';
import { makeFolder } from '../support/folder.js';
import { assert, test } from '../support/uvu.js';

const HOST = { host: 'b', port: 5433 };

function password(text: string, environment: NodeJS.ProcessEnv = {}, host = HOST): string {
  return parseDatabaseAddress(text, { HOME: '/nowhere', ...environment }).password(host);
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

test('the password is that of the address, of PGPASSWORD, or of the first line that fits', () => {
  assert.is(password('postgres://u:se%40cret@b/d', { PGPASSWORD: 'other' }), 'se@cret');
  assert.is(password('postgres://u@b/d', { PGPASSWORD: 'other' }), 'other');
  const file = join(makeFolder(), 'pgpass');
  const lines = ['# none', 'a:*:*:*:first', 'b:5433:d:u:se\\:c\\\\ret', '*:*:*:u:last'];
  writeFileSync(file, `${lines.join('\n')}\n`);
  chmodSync(file, 0o600);
  const given = { PGPASSFILE: file };
  assert.is(password('postgres://u@b/d', given), 'se:c\\ret');
  assert.is(password('postgres://u@b/e', given), 'last');
  assert.is(password('postgres://x@a/d', given, { host: 'a', port: 1 }), 'first');
  assert.is(password('postgres://x@b/d', given), '');
  chmodSync(file, 0o644);
  assert.throws(() => password('postgres://u@b/d', given), /others may read it.*chmod 600/);
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
