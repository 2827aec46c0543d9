import zlib, { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { AnswerCache } from '../../src/http/answer/answer-cache.js';
import type { Context } from '../../src/http/answer/context.js';
import { createDelivery, type Job } from '../../src/http/answer/delivery.js';
import type { Made } from '../../src/http/answer/question.js';
import type { Answer } from '../../src/http/answer/sender.js';
import { CODINGS, type Coding, createCodingOf } from '../../src/http/request/negotiation.js';
import { packUnseen } from '../../src/model/notification.js';
import { tokenKey } from '../../src/posts/tokens/file.js';
import { startApp } from '../support/app.js';
import { type Envelope, LIST, type Reply } from '../support/client.js';
import { generationOf } from '../support/engine.js';
import { notification } from '../support/native.js';
import { scatterNotes } from '../support/notes.js';
import { assert, test, until } from '../support/uvu.js';

const unseen = packUnseen(Array.from({ length: 100 }, (_, i) => notification(2 * i + 1)));
const current = { generation: await generationOf(scatterNotes(67, 1_000), { unseen }) };
const holder = { user: 7, name: '', isAdmin: false };
const given = { tokens: { table: new Map([[tokenKey('key'), holder]]) } };
const plain = await startApp(current, given);
const coding = { ...given, compress: true };
const service = await startApp(current, { ...coding, answerCacheBytes: 2 ** 24 });
const forgetful = await startApp(current, coding);

const host = 'same.example';
const LARGE = [
  `${LIST}?page_size=300`,
  `${LIST}?bbox=-180,0,180,90&ordering=created_at`,
  `${LIST}?page=2&format=api`,
  '/rest/notifications/',
];
const SMALL = ['/rest/', `${LIST}7/`, `${LIST}?bbox=1,1,1,1`];
/** In Node from 22.15 on. */
const { zstdDecompressSync } = zlib as { zstdDecompressSync?: typeof gunzipSync };
const COMPRESSING: readonly Coding[] =
  zstdDecompressSync === undefined ? ['br', 'gzip'] : ['zstd', 'br', 'gzip'];
const ALL = [...COMPRESSING, 'identity'];

const DECODERS: Readonly<Record<string, ((bytes: Buffer) => Buffer) | undefined>> = {
  ...{ zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync },
};

function decodedBytes({ headers, body }: Reply): Buffer {
  return DECODERS[headers['content-encoding'] ?? 'none']?.(body) ?? body;
}

function asking(encoding: string, more: object = {}): { headers: Record<string, string> } {
  return { headers: { host, authorization: 'Token key', 'Accept-Encoding': encoding, ...more } };
}

/** The body; without the headers that a page shows, which differ. */
function content(reply: Reply): string {
  const shown = /^<b>(?:ETag|Vary|Content-Encoding):<.*\n/gm;
  return decodedBytes(reply).toString().replaceAll(shown, '');
}

test('answers are compressed as asked for, and say the same, with the tag of their coding', async () => {
  for (const path of LARGE) {
    const expected = content(await plain.get(path, asking('br')));
    const tags = new Set<string>();
    for (const coding of COMPRESSING) {
      // repeated, so that kept answers are covered, too
      for (const one of [service, service, service, forgetful]) {
        const reply = await one.get(path, asking(coding));
        assert.is(reply.status, 200);
        assert.is(reply.headers['content-encoding'], coding, `${path} ${coding}`);
        assert.is(reply.headers['content-length'], String(reply.body.length));
        assert.match(reply.headers.vary!, /^Accept, Accept-Encoding\b/);
        assert.ok(reply.body.length < expected.length / 2);
        assert.is(content(reply), expected);
        tags.add(reply.headers.etag!);
      }
    }
    assert.is(tags.size, COMPRESSING.length);
  }
});

test('small answers, and those to clients that accept no coding, are not compressed', async () => {
  for (const path of [...LARGE, ...SMALL]) {
    const refusing = ['', 'identity', 'br;q=0, gzip;q=0'];
    const expected = await plain.get(path, asking('br'));
    assert.not.match(expected.headers.vary!, 'Encoding');
    for (const encoding of SMALL.includes(path) ? ['br', ...refusing] : refusing) {
      const reply = await service.get(path, asking(encoding));
      assert.is(reply.headers['content-encoding'], undefined, `${path} ${encoding}`);
      assert.match(reply.headers.vary!, /^Accept, Accept-Encoding\b/);
      assert.is(content(reply), content(expected));
    }
  }
});

test('tiles are the same bytes in every coding', async () => {
  for (const path of [
    '/tiles/0/0/0.mvt?grid=128',
    '/tiles/0/0/0.mvt?cluster=false&fields=comment',
  ]) {
    const expected = await plain.get(path, asking('gzip'));
    assert.equal([expected.status, expected.headers['content-encoding']], [200, undefined]);
    const tags = new Set<unknown>();
    for (const one of [service, forgetful]) {
      for (const encoding of [...ALL, 'gzip']) {
        const reply = await one.get(path, asking(encoding));
        const coding = encoding === 'identity' ? undefined : encoding;
        assert.is(reply.headers['content-encoding'], coding, `${path} ${encoding}`);
        assert.is(reply.headers['content-type'], 'application/vnd.mapbox-vector-tile');
        assert.match(reply.headers.vary!, /\bAccept-Encoding\b/);
        assert.equal(decodedBytes(reply), expected.body, `${path} ${encoding}`);
        if (coding !== undefined) assert.ok(reply.body.length < expected.body.length);
        tags.add(reply.headers.etag);
        const known = asking(encoding, { 'If-None-Match': reply.headers.etag! });
        assert.is((await one.get(path, known)).status, 304, `${path} ${encoding}`);
      }
    }
    assert.is(tags.size, ALL.length, path);
  }
});

test('every coding has a tag of its own, which gets 304', async () => {
  for (const path of LARGE) {
    const tags: string[] = [];
    for (const encoding of ALL) {
      const { etag } = (await service.get(path, asking(encoding))).headers;
      tags.push(etag!);
      for (const list of [etag!, `"x", W/${etag}`, '*']) {
        const reply = await service.get(path, asking(encoding, { 'If-None-Match': list }));
        assert.is(reply.status, 304, `${path} ${encoding} ${list}`);
        assert.is(reply.headers.etag, etag);
        assert.is(reply.headers['content-encoding'], undefined);
      }
    }
    assert.is(new Set(tags).size, ALL.length);
    // a client that accepts no coding must not be told to use a compressed copy
    const reply = await service.get(path, asking('identity', { 'If-None-Match': tags[0]! }));
    assert.is(reply.status, 200);
  }
});

test('HEAD has the headers of GET', async () => {
  const lasting = ({ headers }: Reply): object => {
    const { date: _, 'server-timing': __, ...others } = headers;
    return others;
  };
  for (const path of [...LARGE, ...SMALL]) {
    for (const encoding of ALL) {
      const got = await service.get(path, asking(encoding));
      const head = await service.get(path, { method: 'HEAD', ...asking(encoding) });
      assert.equal(lasting(head), lasting(got));
      assert.is(head.body.length, 0);
    }
  }
});

test('an Accept header is not mistaken for an Accept-Encoding header', async () => {
  const path = `${LIST}?page_size=50`;
  for (let i = 0; i < 3; i++) {
    await service.get(path, asking('br', { accept: '*/*' }));
    const odd = await service.get(path, asking('identity', { accept: '*/* br' }));
    assert.is(odd.headers['content-encoding'], undefined);
  }
});

test('many requests at once are all answered, compressed or not', async () => {
  const paths = Array.from({ length: 30 }, (_, i) => `${LIST}?page_size=${200 + i}&x=${i}`);
  for (let round = 0; round < 2; round++) {
    const replies = await Promise.all(paths.map((path) => service.get(path, asking('br'))));
    for (const [i, reply] of replies.entries()) {
      assert.is(reply.status, 200);
      assert.is((JSON.parse(content(reply)) as Envelope).results.length, 200 + i);
      const isCoded = reply.headers['content-encoding'] === 'br';
      assert.is(/-br"$/.test(reply.headers.etag!), isCoded);
    }
  }
  // answers that were not compressed in the crowd are compressed later
  for (const path of paths) {
    assert.is((await service.get(path, asking('br'))).headers['content-encoding'], 'br');
  }
});

test('no more answers than the bound are compressed at once', async () => {
  const sizes: number[] = [];
  const sender = { send: (_reply: unknown, { body }: Answer) => sizes.push(body.length) };
  const memory = { give() {} };
  const { deliver } = createDelivery({} as Context, new AnswerCache(0));
  const job = { sender, memory } as unknown as Job;
  const body = Buffer.alloc(100_000, 'text ');
  const made = { heads: [{ coding: 'gzip' }, {}], body } as unknown as Made;
  const sends = [deliver(made, job), deliver(made, job), deliver(made, job)];
  assert.equal(sends.map(Boolean), [false, false, true]);
  sends[2]!();
  assert.equal(sizes, [body.length]);
  await until('both are sent', () => sizes.length === 3);
  for (const size of sizes.slice(1)) assert.ok(size < 10_000);
  assert.is(deliver(made, job), undefined);
  await until('another is sent', () => sizes.length === 4);
});

test('any Accept-Encoding header is read, long ones included', () => {
  const codingOf = createCodingOf(CODINGS);
  for (const [coding, headers] of [
    ['br', ['BR', 'gzip, deflate, br', 'zstd;q=0.5, br']],
    [COMPRESSING[0], ['gzip, deflate, br, zstd', '*']],
    ['gzip', ['gzip', 'br;q=0.5, gzip']],
    [
      undefined,
      [undefined, '', 'x-gzip', 'identity', 'deflate', 'br;q=0, gzip;q=0', 'garbage', '*;q=0'],
    ],
  ] as const) {
    for (const header of headers) assert.is(codingOf(header), coding, header);
  }
  for (const part of ['br;q=', ';', ',', 'gzip;q=1,', 'é', '*;q=0,']) {
    const started = performance.now();
    codingOf(part.repeat(16_384 / part.length));
    assert.ok(performance.now() - started < 1000, part);
  }
});

test.run();
