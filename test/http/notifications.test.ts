import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Envelope, jsonPost, LIST, type Reply } from '../support/client.js';
import { startOwnService } from '../support/own-service.js';
import { ndjson } from '../support/rows.js';
import { writeTokens } from '../support/tokens.js';
import { assert, makeFolder, pluck, test } from '../support/uvu.js';

const folder = makeFolder();
const tokens = join(folder, 'tokens.json');
const file = join(folder, 'notifications.ndjson');
writeTokens(tokens, { 'key-of-5': 5, 'other-key-of-5': 5, 'key-of-6': 6 });

/** Ids 1 to 250, in turn for the users 5, 6 and 7; every tenth has been seen. */
const records = Array.from({ length: 250 }, (_, i) => ({
  id: i + 1,
  user: 5 + (i % 3),
  seen: i % 10 === 0,
  comment: {
    id: 1000 + i,
    user: 3,
    created_at: '2024-03-01T12:00:00+02:00',
    comment: `</script> "${i}" ä`,
    map_data_point: 1 + i,
  },
}));
writeFileSync(file, ndjson(...records));
const flags = ['--notifications', file, '--tokens', tokens, '--require-token'];
const service = await startOwnService(flags);
const PATH = '/rest/notifications/';

function as(token: string, path: string = PATH, scheme = 'Token'): Promise<Reply> {
  return service.get(path, { headers: { authorization: `${scheme} ${token}` } });
}

function unseenIds(user: number): number[] {
  const unseen = records.filter((record) => record.user === user && !record.seen);
  return unseen.map(({ id }) => id).reverse();
}

test('without a token there are no notifications', async () => {
  const reply = await service.get(PATH);
  assert.is(reply.text, '{"count":0,"next":null,"previous":null,"results":[]}');
});

test("a token shows its user's unseen notifications, newest first", async () => {
  for (const [user, token] of [
    [5, 'key-of-5'],
    [5, 'other-key-of-5'],
    [6, 'key-of-6'],
  ] as const) {
    const reply = await as(token);
    assert.is(reply.status, 200);
    const { count, next, previous, results } = reply.json<Envelope>();
    assert.is(count, unseenIds(user).length);
    assert.equal([next, previous], [null, null]);
    assert.equal(pluck(results, 'id'), unseenIds(user));
    const { comment } = records.find(({ id }) => id === results[0]!['id'])!;
    const created_at = '2024-03-01T12:00:00.000000+02:00';
    assert.equal(results[0], { comment: { ...comment, created_at }, id: results[0]!['id'] });
  }
});

test('notifications have pages like every list', async () => {
  const base = `http://127.0.0.1:${service.port}${PATH}`;
  const ids: unknown[] = [];
  let path = `${PATH}?page_size=20&x=ä,`.replace('ä', '%C3%A4');
  const links: (string | null)[] = [];
  for (let page = 1; page <= 4; page++) {
    const { count, next, previous, results } = (await as('key-of-5', path)).json<Envelope>();
    assert.is(count, unseenIds(5).length);
    ids.push(...results.map(({ id }) => id));
    links.push(previous);
    if (next !== null) path = next.replace(base, PATH);
    else assert.is(page, 4);
  }
  assert.equal(ids, unseenIds(5));
  const rest = 'page_size=20&x=%C3%A4%2C';
  const page = (n: number): string => `${base}?page=${n}&${rest}`;
  assert.equal(links, [null, `${base}?${rest}`, page(2), page(3)]);
  assert.is((await as('key-of-5', `${PATH}?page=5&page_size=20`)).status, 404);
  const last = (await as('key-of-5', `${PATH}?page=last&page_size=20`)).json<Envelope>();
  assert.equal(pluck(last.results, 'id'), unseenIds(5).slice(60));
});

test('shared caches may not store notifications', async () => {
  const replies = [await as('key-of-5'), await as('key-of-6'), await service.get(PATH)];
  for (const { headers } of replies) {
    assert.is(headers['cache-control'], 'private, no-cache');
    assert.match(headers.vary!, /Authorization/);
  }
  const tags = replies.map(({ headers }) => headers.etag!);
  assert.is(new Set(tags).size, 3);
  const headers = { authorization: 'Token key-of-6', 'If-None-Match': tags[0]! };
  assert.is((await service.get(PATH, { headers })).status, 200);
});

test('a valid token changes nothing elsewhere', async () => {
  const path = `${LIST}?page_size=3`;
  assert.is((await as('key-of-5', path)).text, (await service.get(path)).text);
});

test('with --require-token nobody posts without one', async () => {
  const place = { lat: 10, lon: 20 };
  const detail = 'Authentication credentials were not provided.';
  // the token is checked first
  for (const type of ['application/json', 'text/plain', ';;;']) {
    const post = jsonPost(place, { 'Content-Type': type });
    const { status, headers, text } = await service.get(LIST, post);
    assert.equal([status, JSON.parse(text)], [401, { detail }], type);
    assert.is(headers['www-authenticate'], 'Token');
  }
  const known = { Authorization: 'Token key-of-5' };
  assert.is((await service.get(LIST, jsonPost(place, known))).status, 201);
  const told = /^nobody can post/;
  assert.not.ok(service.logs.some(({ msg }) => told.test(String(msg))));
  // every token is unknown without a file of them
  const { logs } = await startOwnService(['--require-token']);
  assert.is(logs.filter(({ msg }) => told.test(String(msg))).length, 1);
});

test.run();
