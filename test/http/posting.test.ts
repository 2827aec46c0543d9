import { Agent } from 'node:http';
import { join } from 'node:path';
import { addToken } from '../../src/cli/tokens.js';
import {
  type Asked,
  type Envelope,
  exchange,
  jsonPost,
  LIST,
  type Reply,
  statusOf,
} from '../support/client.js';
import { metricsOf } from '../support/operating.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { startService } from '../support/service.js';
import { assert, makeFolder, pluck, test } from '../support/uvu.js';

const folder = makeFolder();
const JSON_TYPE = { 'Content-Type': 'application/json' };
const PLACE = { lat: '10.5', lon: '-20.25' };
/** A box around {@link PLACE}, empty in the snapshot. */
const AROUND = `${LIST}?bbox=-20.3,10.4,-20.2,10.6`;

const tokens = join(folder, 'tokens.json');
const token = await addToken(tokens, { user: 42, name: '', isAdmin: false });
const other = await addToken(tokens, { user: 43, name: '', isAdmin: false });
const flags = ['--journal', join(folder, 'many.journal'), '--tokens', tokens, '--trust-proxy'];
flags.push('--time-zone', 'Europe/Helsinki', '--posts-per-address', '5', '--posts-per-token', '7');
let service: OwnService = await startService([...flags, '--workers', '2']);
let asked = 0;

/** Each request comes from another address, because posts are limited by address. */
function ask({ headers, ...given }: Asked): Promise<Reply> {
  const from = { 'X-Forwarded-For': `10.0.0.${++asked}` };
  return service.get(LIST, { ...given, headers: { ...from, ...headers } });
}

function post(fields: object, headers: Asked['headers'] = {}): Promise<Reply> {
  return ask(jsonPost(fields, headers));
}

interface Note {
  readonly id: number;
  readonly created_at: string;
}

/** The points around {@link PLACE}, by id, asked of several threads. */
async function around(): Promise<Envelope> {
  const replies = await Promise.all(Array.from({ length: 6 }, () => service.get(AROUND)));
  const [first, ...others] = pluck(replies, 'text');
  for (const other of others) assert.is(other, first, 'all threads say the same');
  return JSON.parse(first!) as Envelope;
}

test('a point is answered with its record and address, and is there for the next request', async () => {
  const { count } = await around();
  const fields = { ...PLACE, comment: ' Hyvä ', tags: ['a', 'b'], status: 'OPEN', created_by: 3 };
  const reply = await post(fields, { Host: 'notes.example' });
  assert.is(reply.status, 201);
  const record = reply.json<Note>();
  const { id, created_at: createdAt } = record;
  assert.equal(record, {
    ...{ id, status: 'NEW', comment: 'Hyvä', lat: '10.50000000', lon: '-20.25000000' },
    ...{ is_processed: false, tags: ['a', 'b'], created_at: createdAt, modified_at: createdAt },
  });
  assert.match(createdAt, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+0[23]:00$/);
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
  const { headers } = reply;
  assert.is(headers.location, `http://notes.example${LIST}${id}/`);
  const told = [headers['content-type'], headers.allow, headers['cache-control']];
  assert.equal(told, ['application/json', 'GET, POST, HEAD, OPTIONS', 'no-store']);
  const list = await around();
  assert.is(list.count, count + 1);
  assert.equal(list.results.at(-1), record);
  const single = await service.get(`${LIST}${id}/`);
  assert.equal(single.json(), record);
});

test('a form posts the same point as JSON', async () => {
  const body = 'lat=10.5&lon=-20.25&comment=%C3%A4+form&tags=x&tags=y';
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const reply = await ask({ method: 'POST', body, headers });
  assert.is(reply.status, 201);
  const { comment, tags, lat } = reply.json<Record<string, unknown>>();
  assert.equal([comment, tags, lat], ['ä form', ['x', 'y'], '10.50000000']);
});

test('ids are above those of the snapshot and never given twice; times never go back', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const options = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(PLACE), agent };
  const sent = Array.from({ length: 40 }, () => ask(options));
  const notes = (await Promise.all(sent)).map((reply) => reply.json<Note>());
  agent.destroy();
  assert.is(new Set(notes.map(({ id }) => id)).size, 40);
  assert.ok(notes.every(({ id }) => id > 3_000));
  const byId = notes.sort((a, b) => a.id - b.id).map(({ created_at }) => created_at);
  assert.is(new Set(byId).size, 40);
});

test('created_by is the user of the token, and an unknown token posts nothing', async () => {
  const { count } = await around();
  const reply = await post(PLACE, { Authorization: `Token ${token}` });
  assert.is(reply.json<Record<string, unknown>>()['created_by'], 42);
  const refused = await post(PLACE, { Authorization: 'Token nobody' });
  assert.equal([refused.status, refused.json()], [401, { detail: 'Invalid token.' }]);
  assert.is((await around()).count, count + 1);
});

test('bad posts are refused with the right status, and store nothing', async () => {
  const { count } = await around();
  const cases: [status: number, body: string, headers: Record<string, string>][] = [
    [400, '{"lat": 10.5}', JSON_TYPE],
    [400, '{"lat": 10.5, "lon": -20.25', JSON_TYPE],
    [400, '['.repeat(100_000), JSON_TYPE],
    [406, JSON.stringify(PLACE), { ...JSON_TYPE, Accept: 'image/png' }],
    [413, JSON.stringify({ ...PLACE, comment: 'x'.repeat(1024 * 1024) }), JSON_TYPE],
    [415, JSON.stringify(PLACE), { 'Content-Type': 'text/plain' }],
    [415, JSON.stringify(PLACE), { ...JSON_TYPE, 'Content-Encoding': 'gzip' }],
    [415, JSON.stringify(PLACE), {}],
  ];
  for (const [status, body, headers] of cases) {
    const reply = await ask({ method: 'POST', body, headers });
    assert.is(reply.status, status, reply.text);
    assert.is(reply.headers['content-type'], 'application/json');
    assert.is(reply.headers.allow, 'GET, POST, HEAD, OPTIONS');
  }
  const nothing = await ask({ method: 'POST' });
  assert.equal([nothing.status, Object.keys(nothing.json<object>())], [400, ['lat', 'lon']]);
  // the body ends before its length
  const cut = `POST ${LIST} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n`;
  const broken = `${cut}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
  assert.is(statusOf(await exchange(service.port, broken)), 400);
  assert.is((await around()).count, count);
});

const ONCE = { 'Idempotency-Key': 'once-and-for-all' };
/** The first answer to the key. */
let first: Reply;

function assertFirst(again: Reply): void {
  assert.equal([again.status, again.text], [201, first.text]);
  const { id } = again.json<Note>();
  assert.ok(again.headers.location?.endsWith(`${LIST}${id}/`));
  assert.is(again.headers['idempotency-replayed'], 'true');
}

test('the same key and body get the first answer, another body 422', async () => {
  const { count } = await around();
  const twins = await Promise.all(Array.from({ length: 10 }, () => post(PLACE, ONCE)));
  const isReplay = ({ headers }: Reply): boolean => 'idempotency-replayed' in headers;
  first = twins.find((one) => !isReplay(one))!;
  const others = twins.filter(isReplay);
  assert.is(others.length, 9);
  others.forEach(assertFirst);
  assertFirst(await post({ ...PLACE, lat: 10.5, status: 'ignored' }, ONCE));
  assert.is((await post({ ...PLACE, comment: 'other' }, ONCE)).status, 422);
  // another user's equal key is another key
  const own = await post(PLACE, { ...ONCE, Authorization: `Token ${token}` });
  assert.is(own.headers['idempotency-replayed'], undefined);
  assert.is((await post({ lat: 1 }, { 'Idempotency-Key': 'not-spent' })).status, 400);
  assert.is((await post(PLACE, { 'Idempotency-Key': 'not-spent' })).status, 201);
  const before = await around();
  assert.is(before.count, count + 3);
  for (const key of ['', 'ä', 'x'.repeat(256), 'not spent on an error']) {
    const reply = await post(PLACE, { 'Idempotency-Key': Buffer.from(key).toString('latin1') });
    assert.equal([key, reply.status], [key, 400]);
  }
});

test('posts a minute are limited by address or user, over all threads', async () => {
  const sent = (headers: Asked['headers']) =>
    Promise.all(Array.from({ length: 12 }, () => post(PLACE, headers)));
  const statuses = (replies: readonly Reply[], status: number): number =>
    replies.filter((reply) => reply.status === status).length;
  const mine = await sent({ 'X-Forwarded-For': '198.51.100.9, 192.0.2.1' });
  assert.equal([statuses(mine, 201), statuses(mine, 429)], [5, 7]);
  const refused = mine.find(({ status }) => status === 429)!;
  const wait = refused.headers['retry-after']!;
  assert.ok(Number(wait) >= 1 && Number(wait) <= 12, wait);
  const detail = `Request was throttled. Expected available in ${wait} seconds.`;
  assert.equal(refused.json(), { detail });
  const theirs = await post(PLACE, { 'X-Forwarded-For': '192.0.2.1, 198.51.100.9' });
  assert.is(theirs.status, 201, 'what the proxy did not add tells nothing');
  const users = await sent({ 'X-Forwarded-For': '192.0.2.1', Authorization: `Bearer ${other}` });
  assert.equal([statuses(users, 201), statuses(users, 429)], [7, 5]);
});

test('metrics count posts by outcome, and tell the state of the journal', async () => {
  const metrics = await metricsOf(service);
  const posts = (outcome: string): number => metrics.value('waypost_posts_total', { outcome });
  assert.equal([posts('replayed'), posts('key_reused')], [10, 1]);
  const waiting = metrics.value('waypost_journal_waiting');
  assert.is(waiting, metrics.value('waypost_journal_sequence'));
  assert.ok(waiting > 40);
  assert.ok(metrics.value('waypost_journal_bytes') > 0);
  assert.is(metrics.value('waypost_journal_failing'), 0);
});

test('a restart keeps points and the answers to keys', async () => {
  const before = await around();
  await service.stop();
  service = await startOwnService(flags);
  assertFirst(await post(PLACE, ONCE));
  assert.is((await post({ ...PLACE, comment: 'other' }, ONCE)).status, 422);
  const after = await around();
  assert.equal([after.count, after.results], [before.count, before.results]);
});

test.run();
