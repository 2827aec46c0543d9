import { once } from 'node:events';
import { type Envelope, exchange, LIST, statusOf } from '../support/client.js';
import { startOwnService } from '../support/own-service.js';
import { dial } from '../support/sockets.js';
import { assert, test } from '../support/uvu.js';

const ONE = `${LIST}?page_size=1`;
/** Time in which a request must arrive. */
const TIMEOUT_MS = 2_000;
/** The last request, which ends the connection, so that all answers are there. */
const LAST = 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const flags = ['--request-timeout', `${TIMEOUT_MS}ms`];
const service = await startOwnService(flags);

function head(target: string, headers = '', method = 'GET', version = '1.1'): string {
  return `${method} ${target} HTTP/${version}\r\nHost: a\r\n${headers}\r\n`;
}

/** Statuses of all answers, without interim ones. */
function statuses(answer: string): number[] {
  return Array.from(answer.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status)).filter(
    (status) => status !== 100,
  );
}

/** Sends a request and an ordinary one after it; returns the status of the first. */
async function askAndGoOn(what: string, bytes: string): Promise<number> {
  const found = statuses(await exchange(service.port, bytes + LAST));
  assert.equal(found.slice(1), [200], `${what}: the connection serves the next request`);
  return found[0]!;
}

const LONG_VALUES: Readonly<Record<string, readonly [status: number, bytes: string]>> = {
  'If-None-Match with 1,200 tags': [
    200,
    head(ONE, `If-None-Match: ${'"abcdefgh", '.repeat(1_200)}"x"\r\n`),
  ],
  'If-None-Match with an open quote': [200, head(ONE, `If-None-Match: "${'a'.repeat(15_000)}\r\n`)],
  'If-None-Match of commas': [200, head(ONE, `If-None-Match: ${', '.repeat(7_500)}\r\n`)],
  'Accept with 1,500 members': [
    406,
    head(ONE, `Accept: ${Array.from({ length: 1_500 }, (_, i) => `a/b${i}`)}\r\n`),
  ],
  'Accept of semicolons': [200, head(ONE, `Accept: text/html${'; '.repeat(7_500)}\r\n`)],
  'Accept of open quotes': [200, head(ONE, `Accept: text/html${';a="'.repeat(3_700)}\r\n`)],
  'Accept of blanks': [406, head(ONE, `Accept: ${' '.repeat(15_000)}/\r\n`)],
  'Authorization of blanks': [401, head(ONE, `Authorization: Token ${' '.repeat(15_000)}x y\r\n`)],
  '600 tokens': [401, head(ONE, 'Authorization: Token a\r\n'.repeat(600))],
  '1,500 headers': [
    200,
    head(ONE, Array.from({ length: 1_500 }, (_, i) => `${i.toString(36)}:\r\n`).join('')),
  ],
  'a token behind 1,500 headers': [
    401,
    head(ONE, `${'a:\r\n'.repeat(1_500)}Authorization: Token a\r\n`),
  ],
  'a range of 3,000 parts': [200, head(ONE, `Range: bytes=${'0-1,'.repeat(3_000)}0-1\r\n`)],
  'a page of twelve digits': [404, head(`${LIST}?page=999999999999`)],
  'a page of 15,000 digits': [404, head(`${LIST}?page=${'9'.repeat(15_000)}`)],
  'an id of 15,000 digits': [404, head(`${LIST}${'1'.repeat(15_000)}/`)],
  'an ordering 700 times': [200, head(`${LIST}?${'ordering=created_at&'.repeat(700)}`)],
  'ampersands alone': [200, head(`${LIST}?${'&'.repeat(15_000)}`)],
  'escapes that are none': [200, head(`${LIST}?a=${'%zz'.repeat(5_000)}`)],
  'escapes in a path': [404, head(`${LIST}${'%2f'.repeat(5_000)}`)],
  'a time of blanks': [400, head(`${LIST}?created_at_after=${'+'.repeat(15_000)}`)],
  'a number between blanks': [400, head(`${LIST}?coordinates=1${'+'.repeat(14_000)}1,1,1`)],
  'a radius beyond all numbers': [400, head(`${LIST}?coordinates=1,1,1e9999999999`)],
  'a box beyond all maps': [200, head(`${LIST}?page_size=1&bbox=-1e308,-90,1e308,90`)],
};

test('long and repeated values are answered like short ones', async () => {
  for (const [what, [status, bytes]] of Object.entries(LONG_VALUES)) {
    assert.is(await askAndGoOn(what, bytes), status, what);
  }
});

test('an error does not repeat a long value', async () => {
  for (const name of ['coordinates', 'bbox', 'ordering', 'page_size', 'created_at_after']) {
    const { status, body } = await service.get(`${LIST}?${name}=${'1x'.repeat(7_000)}`);
    assert.is(status, 400);
    assert.ok(body.length < 1_000, `${name}: ${body.length} bytes`);
  }
  const long = 'x'.repeat(15_000);
  for (const [path, headers] of [
    [`/ogc/?${long}=1`, {}],
    [LIST, { 'Content-Type': long }],
    [LIST, { 'Content-Type': `application/json; charset=${long}` }],
    [LIST, { 'Content-Type': 'application/json', 'Content-Encoding': long }],
  ] as const) {
    const method = path === LIST ? 'POST' : 'GET';
    const { status, body } = await service.get(path, { method, headers, body: '{}' });
    assert.ok([400, 415].includes(status));
    assert.ok(body.length < 1_000, `${Object.keys(headers)}: ${body.length} bytes`);
  }
});

test('thousands of unknown parameters get a short answer', async () => {
  for (const name of ['a', 'b'.repeat(60)]) {
    const query = `${name}&`.repeat(15_000 / name.length);
    const { status, body } = await service.get(`/ogc/collections/points/items?${query}`);
    assert.is(status, 400);
    assert.ok(body.length < 10_000, `${query.length} characters: ${body.length} bytes`);
  }
});

test('names of object properties are parameters like any other', async () => {
  const { status, text } = await service.get(`${LIST}?page_size=1&__proto__=1&constructor=2`);
  assert.is(status, 200);
  const { next } = JSON.parse(text) as Envelope;
  assert.match(next!, /\?__proto__=1&constructor=2&page=2&page_size=1$/);
});

test('methods that would open a tunnel or echo the request do neither', async () => {
  const trace = await exchange(service.port, head(LIST, 'X-Secret: 1\r\n', 'TRACE') + LAST);
  assert.equal(statuses(trace), [405, 200]);
  assert.not.match(trace, /secret/i);
  assert.equal(statuses(await exchange(service.port, head('example.org:80', '', 'CONNECT'))), []);
  assert.is(statusOf(await exchange(service.port, head(LIST, '', 'FOO'))), 400);
  assert.is(await askAndGoOn('PROPFIND', head(LIST, '', 'PROPFIND')), 405);
});

test('a request to upgrade is answered in HTTP, and no request after it gets lost', async () => {
  for (const headers of [
    'Connection: Upgrade\r\nUpgrade: websocket\r\n',
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
  ]) {
    const answer = await exchange(service.port, head(ONE, headers) + LAST);
    // the parser drops what follows in the packet: the client must learn that it was not read
    assert.equal(statuses(answer), [200]);
    assert.match(answer, /\r\nConnection: close\r\n/i);
  }
});

const BODY = '0\r\n\r\n';
const SMUGGLED = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n';

/** Requests that two parsers may read differently. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'a length and chunks': head(ONE, 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n') + BODY,
  'chunks and a length': head(ONE, 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n') + BODY,
  'an unknown coding': head(ONE, 'Transfer-Encoding: xchunked\r\n') + BODY,
  'an unknown coding of a POST': head(LIST, 'Transfer-Encoding: gzip\r\n', 'POST') + BODY,
  'a coding behind chunks': head(ONE, 'Transfer-Encoding: chunked, identity\r\n') + BODY,
  'a blank before the colon': head(ONE, 'Transfer-Encoding : chunked\r\n') + BODY,
  'two lengths': head(ONE, 'Content-Length: 0\r\nContent-Length: 38\r\n'),
  'a length with a sign': head(ONE, 'Content-Length: +5\r\n'),
  'a length of 23 digits': head(ONE, `Content-Length: ${'9'.repeat(23)}\r\n`),
  'a header over two lines': head(ONE, 'X: a\r\n b\r\n'),
  'lines without a carriage return': `GET ${ONE} HTTP/1.1\nHost: a\n\n`,
  'a NUL in a header': head(ONE, 'X: a\0b\r\n'),
  'a blank in the target': head(`${ONE}&a= b`),
  'another version': head(ONE, '', 'GET', '1.2'),
};

test('an ambiguous request gets one 400, and nothing after it is read as a request', async () => {
  for (const [what, bytes] of Object.entries(AMBIGUOUS)) {
    assert.equal(statuses(await exchange(service.port, bytes + SMUGGLED)), [400], what);
  }
});

test('an unknown Expect header gets an error in JSON', async () => {
  const bytes = head(ONE, 'Expect: 200-ok\r\n');
  const answer = await exchange(service.port, bytes + LAST);
  assert.equal(statuses(answer), [417, 200]);
  assert.match(answer, /\r\nContent-Type: application\/json\r\n/i);
  assert.match(answer, /\{"detail":".+"\}/);
});

/** Requests whose body never ends; each must be ended within `TIMEOUT_MS`. */
const ENDLESS: Readonly<Record<string, string>> = {
  'a length that is a lie': `${head(ONE, 'Content-Length: 5000\r\n')}hello`,
  'the length of a POST that is a lie': `${head(LIST, 'Content-Length: 5000\r\n', 'POST')}{}`,
  'a length beyond all memory': `${head(LIST, `Content-Length: ${'9'.repeat(14)}\r\n`, 'POST')}{}`,
  'chunks that go on': head(ONE, 'Transfer-Encoding: chunked\r\n'),
  'chunks of a POST that go on': head(LIST, 'Transfer-Encoding: chunked\r\n', 'POST'),
  'a body that waits to be asked for': head(
    LIST,
    'Expect: 100-continue\r\nContent-Length: 9\r\n',
    'POST',
  ),
};

test('bodies that never end are cut off, also while bytes arrive', async () => {
  const cut = Object.entries(ENDLESS).map(async ([what, bytes]) => {
    const began = performance.now();
    const answer = await drip(bytes, what.includes('chunks') ? '1\r\nx\r\n' : '');
    const [first, second, ...more] = statuses(answer);
    assert.ok(first === 200 || first === 415 || first === 405, `${what}: ${first}`);
    assert.equal([second, more], [408, []], what);
    assert.ok(performance.now() - began < 10 * TIMEOUT_MS, what);
  });
  await Promise.all(cut);
});

/** Sends `bytes`, then `more` repeatedly; returns what came until the service closed. */
async function drip(bytes: string, more: string): Promise<string> {
  const line = dial(service.port);
  line.socket.write(bytes);
  const timer = more === '' ? undefined : setInterval(() => line.socket.write(more), 50);
  await once(line.socket, 'close');
  clearInterval(timer);
  return line.answer;
}

test.run();
