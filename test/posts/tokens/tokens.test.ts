import { pbkdf2 } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addToken, listTokens, revokeToken } from '../../../src/cli/tokens.js';
import { userOf } from '../../../src/http/request/client.js';
import { HttpError } from '../../../src/http/request/http-error.js';
import {
  changeTokenFile,
  followTokens,
  readTokenFile,
  type Tokens,
  tableOf,
  tokenKey,
} from '../../../src/posts/tokens/file.js';
import { closeLater } from '../../support/folder.js';
import { metricsOf } from '../../support/operating.js';
import { runInThread, type Service, startService } from '../../support/service.js';
import { writeTokens } from '../../support/tokens.js';
import { assert, makeFolder, pluck, refusal, test, thrownBy, until } from '../../support/uvu.js';

const folder = makeFolder();
const NOTIFICATIONS = '/rest/notifications/';
const HASH = 'a'.repeat(64);

function leftovers(): string[] {
  return readdirSync(folder).filter((one) => one.startsWith('.'));
}

function add(path: string, user: number, name = '', isAdmin = false): Promise<string> {
  return addToken(path, { user, name, isAdmin });
}

function statusWith(service: Service, path: string, token: string, method = 'GET') {
  const headers = { Authorization: `Token ${token}` };
  return service.get(path, { method, headers }).then(({ status }) => status);
}

test('a token is shown once, its hash is kept, and nobody else reads the file', async () => {
  const path = join(folder, 'new.json');
  const token = await add(path, 7, 'phone');
  assert.match(token, /^[\w-]{43}$/);
  const text = readFileSync(path, 'utf8');
  assert.not.ok(text.includes(token));
  assert.ok(text.includes(tokenKey(token)));
  assert.is(statSync(path).mode & 0o777, 0o600);
  const id = tokenKey(token).slice(0, 12);
  const [heading, line] = listTokens(path);
  assert.match(heading!, /^id +user +admin +created +name$/);
  assert.match(line!, new RegExp(`^${id} +7 +no +20\\d\\d-\\S+Z +phone$`));
});

test('as many tokens as a file has are listed, and revoked by their name', async () => {
  const path = join(folder, 'many.json');
  await changeTokenFile(path, () =>
    Array.from({ length: 150_000 }, (_, user) => {
      const key = user.toString(16).padStart(64, '0');
      return { key, user, name: user < 2 ? 'kept' : 'many', isAdmin: false, created: '' };
    }),
  );
  assert.is(listTokens(path).length, 150_001);
  assert.is((await revokeToken(path, 'many')).length, 149_998);
  assert.equal(pluck(readTokenFile(path), 'user'), [0, 1]);
});

test('tokens that are added and revoked at the same time are all kept or gone', async () => {
  const path = join(folder, 'busy.json');
  await add(path, 9, 'old');
  const users = Array.from({ length: 8 }, (_, i) => i);
  await Promise.all([...users.map((user) => add(path, user)), revokeToken(path, 'old')]);
  assert.equal(pluck(readTokenFile(path), 'user').sort(), users);
  assert.equal(leftovers(), []);
});

test('what a killed process has left is named, whatever name the file has', async () => {
  const long = join(folder, `${'n'.repeat(250)}.json`);
  const link = join(folder, 'link.json');
  symlinkSync(long, link);
  const left = join(folder, '.waypost-tokens.new');
  writeFileSync(left, '');
  const error = await changeTokenFile(link, () => [], 0).catch(String);
  assert.match(String(error), 'another process is changing it');
  assert.match(String(error), `Remove ${left} if none is.`);
  rmSync(left);
  await add(link, 1);
  assert.is(readTokenFile(long).length, 1);
});

test('a folder that is not there is told, and a change that fails leaves nothing', async () => {
  const error = await refusal(add(join(folder, 'nowhere/x.json'), 1));
  assert.match(error, /x\.json: cannot be written: there is no folder .*nowhere/);
  const path = join(folder, 'broken.json');
  writeFileSync(path, '{');
  assert.match(await refusal(add(path, 1)), 'it is no JSON');
  assert.equal([readFileSync(path, 'utf8'), leftovers()], ['{', []]);
});

test('a token is revoked by its id, and all of a name together', async () => {
  const path = join(folder, 'revoked.json');
  await add(path, 1, 'twin');
  await add(path, 2, 'twin');
  const third = await add(path, 3);
  assert.is((await revokeToken(path, 'twin')).length, 2);
  assert.equal(pluck(readTokenFile(path), 'user'), [3]);
  for (const nobody of ['twin', '']) {
    assert.match(await refusal(revokeToken(path, nobody)), /no token has the id or the name/);
  }
  const id = tokenKey(third).slice(0, 12);
  assert.equal(await revokeToken(path, id), [id]);
  assert.equal(readTokenFile(path), []);
});

test('an entry that breaks a rule is refused with its place', () => {
  const path = join(folder, 'wrong.json');
  const good = { hash: HASH, user: 1 };
  const cases: [tokens: unknown[], message: RegExp][] = [
    [[null], /tokens\[0\] must have a hash/],
    [[good, { ...good, hash: HASH.toUpperCase() }], /tokens\[1\] must have a hash: .* 64/],
    [[{ ...good, user: -1 }], /tokens\[0\] must have a user/],
    [[{ ...good, name: 5 }], /text for its name/],
    [[{ ...good, admin: 'yes' }], /true or false for admin/],
    [[{ ...good, created: 5 }], /text for created/],
    [[good, good], /two tokens have the same hash/],
  ];
  for (const [tokens, message] of cases) {
    writeFileSync(path, JSON.stringify({ tokens }));
    assert.throws(() => readTokenFile(path), message, JSON.stringify(tokens));
  }
});

test('a service of two threads follows its file; an admin reloads; a broken file changes nothing', async () => {
  const path = join(folder, 'served.json');
  const first = await add(path, 5);
  const flags = ['--tokens', path, '--workers', '2'];
  const service = await startService(flags);
  const clients: Agent[] = [];
  closeLater(() => clients.map((client) => client.destroy()));
  /** Waits until clients of both threads get this status. */
  const settles = (token: string, status: number): Promise<void> =>
    until(`${token} gets ${status}`, async () => {
      const { samples } = await metricsOf(service);
      const connections = samples.filter(({ name }) => name === 'waypost_connections');
      // the other thread joins while the first one answers already
      const isShared = connections.length === 2 && connections.every(({ value }) => value >= 2);
      if (!isShared) clients.push(new Agent({ keepAlive: true, maxSockets: 1 }));
      const headers = { Authorization: `Token ${token}` };
      const asked = clients.map((agent) => service.get(NOTIFICATIONS, { headers, agent }));
      const isSame = (await Promise.all(asked)).every((reply) => reply.status === status);
      return isSame && isShared;
    });
  assert.is(await statusWith(service, NOTIFICATIONS, first), 200);
  const reload = '/admin/reload';
  assert.is(await statusWith(service, reload, first, 'POST'), 404, 'nobody may');

  const admin = await add(path, 1, 'admin', true);
  await settles(admin, 200);
  assert.is(await statusWith(service, reload, admin, 'POST'), 202);
  assert.is(await statusWith(service, reload, first, 'POST'), 401);

  writeFileSync(path, '{"tokens":[');
  await until('it says so', () =>
    service.logs.some(({ msg }) => /^tokens refused/.test(String(msg))),
  );
  assert.is(await statusWith(service, NOTIFICATIONS, admin), 200);

  writeFileSync(path, JSON.stringify({ tokens: [{ hash: tokenKey('other'), user: 2 }] }));
  await settles('other', 200);
  await settles(admin, 401);
});

test('a change is seen however soon it comes after the first look', async () => {
  const path = join(folder, 'soon.json');
  writeFileSync(path, JSON.stringify({ tokens: [{ hash: HASH, user: 1 }] }));
  const hash = promisify(pbkdf2);
  // these fill the pool of threads that files are read by: the first look of the poll waits behind
  // them
  const busy = Array.from({ length: 8 }, () => hash('', '', 40_000, 64, 'sha512'));
  const tokens = followTokens(path, { lookMs: 20 });
  assert.is(tokens.table.size, 1);
  writeFileSync(path, '{"tokens":[]}');
  await until('it is seen', () => tokens.table.size === 0);
  await Promise.all(busy);
});

test('what was known stays while the file is of no use, and goes when it is again', async () => {
  const path = join(folder, 'known.json');
  const entry = { hash: HASH, user: 1 };
  writeFileSync(path, JSON.stringify({ tokens: [entry] }));
  const known = tableOf(readTokenFile(path));
  writeFileSync(path, '{"tokens":[');
  const late = followTokens(path, { known, lookMs: 20 });
  assert.is(late.table, known);
  writeFileSync(path, JSON.stringify({ tokens: [entry, { ...entry, hash: 'b'.repeat(64) }] }));
  // this one begins with what was known before the file changed
  const later = followTokens(path, { known, lookMs: 20 });
  await until('both are new', () => late.table.size === 2 && later.table.size === 2);
});

test('the command adds a token', async () => {
  const path = join(folder, 'command.json');
  const added = await runInThread(['token', 'add', path, '--user', '9', '--name', 'two words']);
  assert.equal([added.code, added.stderr], [0, '']);
  const token = added.stdout.trim();
  const known = readTokenFile(path).map(({ key, user, name }) => [key, user, name]);
  assert.equal(known, [[tokenKey(token), 9, 'two words']]);
  const nobody = await runInThread(['token', 'add', path]);
  assert.equal([nobody.code, nobody.stdout], [1, '']);
  assert.match(nobody.stderr, /required option '--user <id>' not specified/);
});

const path = join(folder, 'tokens.json');

function tokensOf(content: Readonly<Record<string, number>>): Tokens {
  writeTokens(path, content);
  return { table: tableOf(readTokenFile(path)) };
}

test('a token names its user, 0 among them; who sends none, or by another scheme, is anonymous', () => {
  const tokens = tokensOf({ zero: 0, one: 1, large: Number.MAX_SAFE_INTEGER });
  assert.is(userOf('Token zero', tokens), 0);
  assert.is(userOf('bearer  one', tokens), 1);
  assert.is(userOf('Bearer large', tokens), Number.MAX_SAFE_INTEGER);
  const others = ['', ' ', 'zero', 'Basic zero', 'Digest a b c', 'Tokens zero', 'Negotiate'];
  for (const other of [undefined, ...others]) assert.is(userOf(other, tokens), undefined, other);
});

test('a token that no user of the file has, and what is no token, are refused with 401', () => {
  const tokens = tokensOf({ zero: 0 });
  const header = 'Invalid token header.';
  for (const [authorization, detail] of [
    ['Token other', 'Invalid token.'],
    ['Token', `${header} No credentials provided.`],
    ['bearer ', `${header} No credentials provided.`],
    ['Token zero x', `${header} Token string should not contain spaces.`],
  ] as const) {
    const { status, body, headers } = thrownBy(HttpError, () => userOf(authorization, tokens));
    assert.equal([status, body], [401, { detail }]);
    const scheme = authorization === 'bearer ' ? 'Bearer' : 'Token';
    assert.equal(headers, { 'WWW-Authenticate': scheme });
  }
});

test.run();
