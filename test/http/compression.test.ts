import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createCompression } from '../../src/http/answer/delivery.js';
import { createCodingOf } from '../../src/http/request/negotiation.js';
import { type Envelope, LIST, type Reply } from '../support/client.js';
import { startOwnService } from '../support/own-service.js';
import { assert, makeFolder, test } from '../support/uvu.js';

const folder = makeFolder();
const tokens = join(folder, 'tokens.json');
const notifications = join(folder, 'notifications.json');
const created_at = '2024-03-01T12:00:00+02:00';
writeFileSync(tokens, '{"key": 5}');
const seen = Array.from({ length: 50 }, (_, i) => {
  const id = i + 1;
  const comment = { id, user: 3, created_at, comment: `note ${id}`, map_data_point: id };
  return { id, user: 5, comment };
});
writeFileSync(notifications, JSON.stringify(seen));
const flags = ['--notifications', notifications, '--tokens', tokens];
const [plain, service, forgetful] = await Promise.all([
  startOwnService(flags),
  startOwnService([...flags, '--compress']),
  startOwnService([...flags, '--compress', '--answer-cache', '0']),
]);

const host = 'same.example';
const LARGE = [
  `${LIST}?page_size=1000`,
  `${LIST}?bbox=24,60,26,61&ordering=created_at`,
  `${LIST}?page=2&format=api`,
  '/rest/notifications/',
];
const SMALL = ['/rest/', `${LIST}7/`, `${LIST}?bbox=1,1,1,1`];

function decodedBytes({ headers, body }: Reply): Buffer {
  switch (headers['content-encoding']) {
    case 'br':
      return brotliDecompressSync(body);
    case 'gzip':
      return gunzipSync(body);
    default:
      return body;
  }
}

function decoded(reply: Reply): string {
  return decodedBytes(reply).toString();
}

function asking(encoding: string, more: object = {}): { headers: Record<string, string> } {
  return { headers: { host, authorization: 'Token key', 'Accept-Encoding': encoding, ...more } };
}

/** HTML shows headers, which differ. */
function content(reply: Reply): string {
  return decoded(reply).replaceAll(/^<b>(?:ETag|Vary|Content-Encoding):<.*\n/gm, '');
}

test('answers are compressed as asked for, and say the same', async () => {
  for (const path of LARGE) {
    const expected = content(await plain.get(path, asking('br')));
    for (const [encoding, coding] of [
      ['br', 'br'],
      ['gzip', 'gzip'],
      ['gzip, deflate, br, zstd', 'br'],
      ['br;q=0.5, gzip', 'gzip'],
      ['*', 'br'],
    ] as const) {
      for (const one of [service, forgetful]) {
        // again and again, so that kept ones are asked for as well
        for (let i = 0; i < 3; i++) {
          const reply = await one.get(path, asking(encoding));
          assert.is(reply.status, 200);
          assert.is(reply.headers['content-encoding'], coding, `${path} ${encoding}`);
          assert.is(reply.headers['content-length'], String(reply.body.length));
          assert.ok(reply.body.length < expected.length / 2);
          assert.is(content(reply), expected);
        }
      }
    }
  }
});

test('who does not ask, and what is small, gets it as it is', async () => {
  for (const path of [...LARGE, ...SMALL]) {
    const refusing = ['', 'identity', 'deflate', 'br;q=0, gzip;q=0', 'garbage', '*;q=0'];
    for (const encoding of SMALL.includes(path) ? ['br', ...refusing] : refusing) {
      const reply = await service.get(path, asking(encoding));
      assert.is(reply.headers['content-encoding'], undefined, `${path} ${encoding}`);
      assert.is(content(reply), content(await plain.get(path, asking('br'))));
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
      for (const encoding of ['gzip', 'br', 'identity', 'gzip']) {
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
    assert.is(tags.size, 3, path);
  }
});

test('caches know what an answer depends on', async () => {
  for (const path of [...LARGE, ...SMALL]) {
    for (const encoding of ['br', 'gzip', 'identity']) {
      const { vary } = (await service.get(path, asking(encoding))).headers;
      assert.match(vary!, /^Accept, Accept-Encoding\b/);
    }
    assert.not.match((await plain.get(path, asking('br'))).headers.vary!, 'Encoding');
  }
});

test('every coding has a tag of its own, which gets 304', async () => {
  for (const path of LARGE) {
    const tags: string[] = [];
    for (const encoding of ['br', 'gzip', 'identity']) {
      const { etag } = (await service.get(path, asking(encoding))).headers;
      tags.push(etag!);
      for (const list of [etag!, `"x", W/${etag}`, '*']) {
        for (let i = 0; i < 3; i++) {
          const reply = await service.get(path, asking(encoding, { 'If-None-Match': list }));
          assert.is(reply.status, 304, `${path} ${encoding} ${list}`);
          assert.is(reply.headers.etag, etag);
          assert.is(reply.headers['content-encoding'], undefined);
        }
      }
    }
    assert.is(new Set(tags).size, 3);
    // whoever takes no br must not be told to use the copy in br
    const reply = await service.get(path, asking('identity', { 'If-None-Match': tags[0]! }));
    assert.is(reply.status, 200);
  }
});

test('HEAD has the headers of GET', async () => {
  for (const path of [...LARGE, ...SMALL]) {
    for (const encoding of ['br', 'gzip', 'identity']) {
      const {
        date: _,
        'server-timing': __,
        ...got
      } = (await service.get(path, asking(encoding))).headers;
      const head = await service.get(path, { method: 'HEAD', ...asking(encoding) });
      const { date: ___, 'server-timing': ____, ...headers } = head.headers;
      assert.equal(headers, got);
      assert.is(head.body.length, 0);
    }
  }
});

test('an Accept header cannot stand for a coding', async () => {
  const path = `${LIST}?page_size=50`;
  for (let i = 0; i < 3; i++) {
    await service.get(path, asking('br', { accept: '*/*' }));
    const odd = await service.get(path, asking('identity', { accept: '*/* br' }));
    assert.is(odd.headers['content-encoding'], undefined);
  }
});

test('many at once are all answered, compressed or not', async () => {
  const paths = Array.from({ length: 30 }, (_, i) => `${LIST}?page_size=${900 + i}&x=${i}`);
  for (let round = 0; round < 2; round++) {
    const replies = await Promise.all(paths.map((path) => service.get(path, asking('br'))));
    for (const [i, reply] of replies.entries()) {
      assert.is(reply.status, 200);
      assert.is((JSON.parse(decoded(reply)) as Envelope).results.length, 900 + i);
      const isCoded = reply.headers['content-encoding'] === 'br';
      assert.is(/-br"$/.test(reply.headers.etag!), isCoded);
    }
  }
  // what was not compressed in the crowd is, once there is room
  for (const path of paths) {
    assert.is((await service.get(path, asking('br'))).headers['content-encoding'], 'br');
  }
});

test('no more than the bound is compressed at once', async () => {
  const start = createCompression(2);
  const body = Buffer.alloc(100_000, 'text ');
  const sizes: Promise<number | undefined>[] = [];
  const begin = (): boolean => {
    let isStarted = false;
    const size = new Promise<number | undefined>((resolve) => {
      isStarted = start('gzip', body, (compressed) => resolve(compressed?.length));
    });
    if (isStarted) sizes.push(size);
    return isStarted;
  };
  assert.equal([begin(), begin(), begin()], [true, true, false]);
  for (const size of await Promise.all(sizes)) assert.ok(size! < 10_000);
  assert.ok(begin());
  await Promise.all(sizes);
});

test('any Accept-Encoding header is read, long ones included', () => {
  const codingOf = createCodingOf();
  assert.is(codingOf(undefined), undefined);
  assert.is(codingOf('BR'), 'br');
  assert.is(codingOf('x-gzip'), undefined);
  for (const part of ['br;q=', ';', ',', 'gzip;q=1,', 'é', '*;q=0,']) {
    const started = performance.now();
    codingOf(part.repeat(16_384 / part.length));
    assert.ok(performance.now() - started < 1000, part);
  }
});

test.run();
