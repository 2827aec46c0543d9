import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Context } from '../../../src/http/answer/context.js';
import { PageBuffers } from '../../../src/http/answer/delivery.js';
import { createWriteHead, KEEP_ALIVE_MS, linesOf } from '../../../src/http/answer/head.js';
import { seedOf } from '../../../src/http/answer/pipeline.js';
import { hashText, matchesEtag, spellHash } from '../../../src/http/answer/validators.js';
import { startNotes } from '../../support/app.js';
import { bodyOf, exchange, LIST } from '../../support/client.js';
import { scatterNotes } from '../../support/notes.js';
import { dial, type Line, listen } from '../../support/sockets.js';
import { assert, test } from '../../support/uvu.js';

const NAMING: Readonly<Record<string, readonly [etag: string, ...headers: string[]]>> = {
  'the same tag, weak or strong on either side': ['"a1"', '"a1"', 'W/"a1"', '  "a1"\t'],
  'the same tag as a weak one': ['W/"a1"', '"a1"', 'W/"a1"', '"a1", "b2"'],
  'one of a list': ['"a1"', '"x", "a1"', '"x","y" ,\tW/"a1" , "z"', ', ,"a1",', '"x,y", "a1"'],
  'any, which stands alone': ['"a1"', '*', ' * '],
  'one in front of a malformed member': ['"a1"', '"a1", broken'],
};

const NOT_NAMING: Readonly<Record<string, readonly [etag: string, ...headers: string[]]>> = {
  'other tags': ['"a1"', '"x", "y"', '"c"', ''],
  'a star that does not stand alone': ['"a1"', '"*"', '*, "x"'],
  'part of a tag, another case or no quotes': [
    '"a1"',
    ...['""', '"a"', '"a11"', '"A1"', 'a1', '"a1', 'a1"', '"x a1"', 'w/"a1"'],
  ],
  'what stands between two tags': ['", "', '"x", "y"'],
  'a tag without a comma in front': ['"a1"', '"x""a1"'],
  'one behind a malformed member': ['"a1"', 'broken, "a1"'],
};

test('If-None-Match names a tag by the rules of HTTP, and one answer leaves no trace in the next', () => {
  for (const [table, isNamed] of [
    [NAMING, true],
    [NOT_NAMING, false],
    [NAMING, true],
  ] as const) {
    for (const [what, [etag, ...headers]] of Object.entries(table)) {
      for (const one of headers) assert.is(matchesEtag(one, etag), isNamed, `${what}: ${one}`);
    }
  }
});

test('settings that change answers change the prefix of their tags', () => {
  const origin = { publicUrl: undefined, trustProxy: false, allowedHosts: ['*'] };
  const tagOf = (settings: object) => spellHash(seedOf(settings as Context));
  const plain = { zone: { name: 'UTC' }, origin, maxPageBytes: 8 };
  const seeds = [
    plain,
    { ...plain, zone: { name: 'Europe/Helsinki' } },
    { ...plain, maxPageBytes: 4 },
    { ...plain, origin: { ...origin, publicUrl: 'http://same.example' } },
    { ...plain, origin: { ...origin, trustProxy: true } },
  ].map(tagOf);
  assert.is(new Set(seeds).size, seeds.length);
  assert.is(tagOf({ ...plain }), seeds[0]);
});

test('texts that differ in one character have different tags', () => {
  const seed = { low: -5, high: 2 ** 31 - 1 };
  const texts = Array.from({ length: 20_000 }, (_, i) => `/rest/?page=${i}`);
  const tags = new Set(texts.map((text) => spellHash(hashText(text, seed))));
  assert.is(tags.size, texts.length);
  for (const tag of tags) assert.match(tag, /^[\w-]{11}$/);
  const other = spellHash(hashText(texts[0]!, { ...seed, high: 7 }));
  assert.not(tags.has(other), 'what it begins with counts');
});

test('every bit of a hash changes its text', () => {
  const spelled = new Set([spellHash({ low: 0, high: 0 })]);
  for (let bit = 0; bit < 32; bit++) {
    spelled.add(spellHash({ low: (1 << bit) >>> 0, high: 0 }));
    spelled.add(spellHash({ low: 0, high: (1 << bit) >>> 0 }));
  }
  assert.is(spelled.size, 65);
});

const HEADERS = { ETag: '"a: b"', 'Content-Type': 'application/json', 'Content-Length': '3' };

/** Starts a server that writes heads our way, or Node's way at `/node`; returns its port. */
function startServer(): Promise<number> {
  const writeHead = createWriteHead();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const url = request.url!;
    const status = url.includes('unchanged') ? 304 : url.includes('empty') ? 204 : 200;
    if (url.includes('last')) response.shouldKeepAlive = false;
    if (url.includes('node')) response.writeHead(status, HEADERS);
    else writeHead(response, status, linesOf(HEADERS));
    assert.ok(response.headersSent);
    response.end(status === 200 ? Buffer.from('äb') : undefined);
  });
  return listen(server);
}

/** Sends bytes and returns all that comes back, without dates. */
async function answersTo(port: number, bytes: string): Promise<string> {
  return (await exchange(port, bytes)).replaceAll(
    /Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g,
    'Date: now',
  );
}

test('an answer has the bytes that Node itself would send', async () => {
  const port = await startServer();
  const head = ' HTTP/1.1\r\nHost: a\r\n';
  const end = `GET /last HTTP/1.1\r\nHost: a\r\n\r\n`;
  const requests: Record<string, (way: string) => string> = {
    GET: (way) => `GET /${way}${head}\r\n${end}`,
    HEAD: (way) => `HEAD /${way}${head}\r\n${end}`,
    'not modified': (way) => `GET /${way}-unchanged${head}\r\n${end}`,
    empty: (way) => `GET /${way}-empty${head}\r\n${end}`,
    'one after the other in one packet': (way) => `GET /${way}${head}\r\n`.repeat(3) + end,
    'the last of a connection': (way) => `GET /${way}-last${head}\r\n`,
    'Connection: close': (way) => `GET /${way}${head}Connection: close\r\n\r\n`,
    'HTTP/1.0': (way) => `GET /${way} HTTP/1.0\r\n\r\n`,
    'HTTP/1.0, kept': (way) =>
      `GET /${way} HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /${way} HTTP/1.0\r\n\r\n`,
  };
  for (const [name, request] of Object.entries(requests)) {
    const ours = await answersTo(port, request('ours'));
    assert.match(ours, 'ETag: "a: b"\r\n', name);
    assert.is(ours, await answersTo(port, request('node')), name);
  }
});

const KIB = 1024;

test('returned buffers are reused, the last first, for pages of about the same size', () => {
  const buffers = new PageBuffers();
  const [first, second] = [buffers.take(20 * KIB), buffers.take(29_000)];
  assert.is(first.length, 20 * KIB);
  assert.is(second.length, 29_000);
  assert.is.not(first.buffer, second.buffer);
  buffers.give(first);
  buffers.give(second);
  const other = buffers.take(40 * KIB);
  assert.ok(other.buffer !== first.buffer && other.buffer !== second.buffer);
  const again = buffers.take(17 * KIB);
  assert.is(again.buffer, second.buffer);
  assert.is(again.length, 17 * KIB);
  assert.is(buffers.take(32 * KIB).buffer, first.buffer);
  assert.ok(buffers.take(32 * KIB).buffer !== first.buffer);
});

test('empty and large pages get buffers, and large buffers are not kept', () => {
  const buffers = new PageBuffers();
  assert.is(buffers.take(0).length, 0);
  const large = buffers.take(5_000 * KIB);
  assert.is(large.length, 5_000 * KIB);
  buffers.give(large);
  assert.is.not(buffers.take(5_000 * KIB).buffer, large.buffer);
});

test('idle memory is bounded', () => {
  const buffers = new PageBuffers();
  const taken = Array.from({ length: 100 }, () => buffers.take(200 * KIB));
  for (const buffer of taken) buffers.give(buffer);
  const memories = new Set(taken.map(({ buffer }) => buffer));
  let kept = 0;
  while (memories.has(buffers.take(200 * KIB).buffer)) kept++;
  assert.ok(kept > 0 && kept * 200 * KIB <= 16 * KIB * KIB, `${kept} kept`);
});

/** Sends requests at once over a paused connection. */
function askLazily(port: number, paths: readonly string[]): Line {
  const line = dial(port);
  line.socket.pause();
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  line.socket.write(`${requests.join('')}GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  return line;
}

test('clients that read late get their own answers, though buffers are reused', async () => {
  const count = 1_000;
  // without an answer cache every answer is written to a reused buffer
  const service = await startNotes(scatterNotes(37, count));
  const wanted = new Map<string, string>();
  for (const size of [100, 120, 1000]) {
    for (let page = 1; page <= Math.ceil(count / size); page++) {
      const path = `${LIST}?page=${page}&page_size=${size}`;
      wanted.set(path, (await service.get(path, { headers: { host: 'a' } })).text);
    }
  }
  const paths = [...wanted.keys()];
  // far more than a socket's buffers hold
  const mixed = (from: number): string[] =>
    Array.from({ length: 150 }, (_, i) => paths[(from + 7 * i) % paths.length]!);
  const lazy = [0, 1].map((from) => askLazily(service.port, mixed(from)));
  const leaving = [2, 3].map((from) => askLazily(service.port, mixed(from)));
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(
      paths.map((path) => service.get(path, { headers: { host: 'a' } })),
    );
    for (const [i, { text }] of answers.entries()) {
      assert.ok(text === wanted.get(paths[i]!), `round ${round}: ${paths[i]}`);
    }
    const left = leaving[round]?.socket.destroy();
    if (left !== undefined) await once(left, 'close');
  }
  for (const [from, client] of lazy.entries()) {
    client.socket.resume();
    await once(client.socket, 'close');
    const bodies = client.answer.split(/(?=HTTP\/1\.1 \d{3} )/).map(bodyOf);
    assert.is(bodies.length, 151);
    for (const [i, path] of mixed(from).entries()) {
      assert.ok(bodies[i] === wanted.get(path), `late client ${from}, answer ${i}: ${path}`);
    }
  }
});

test.run();
