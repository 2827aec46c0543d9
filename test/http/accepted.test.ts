import { connect } from 'node:net';
import {
  appendToDelta,
  continueDelta,
  createDelta,
  type Delta,
  deltaLength,
} from '../../src/index/delta.js';
import { AT_ONCE } from '../../src/model/budget.js';
import { renderPoint } from '../../src/model/point.js';
import { matchDelta } from '../../src/query/delta-match.js';
import type { Generation } from '../../src/reload/current.js';
import { startApp } from '../support/app.js';
import { type Envelope, LIST, type Reply } from '../support/client.js';
import { acceptedOf, generationOf, Meter } from '../support/engine.js';
import { type Note, pointOf } from '../support/notes.js';
import { assert, pluck, test } from '../support/uvu.js';

const CAPACITY = { rows: 100, bytes: 100_000 };
const DIGEST = '0123456789abcdef0123';
const EAST = `${LIST}?bbox=10,0,20,10&ordering=-created_at`;
const NOWHERE = `${LIST}?bbox=1,1,2,2`;
const WEST = `${LIST}?bbox=-20,0,-10,10`;

/** Odd ids lie in the east, even ones in the west. */
const notes = Array.from({ length: 40 }, (_, i): Note => {
  const lon = i % 2 === 0 ? 15 : -15;
  return { id: i + 1, lon, lat: 5, created: 1.6e15 + i, modified: 1.6e15 + i };
});

function firstNotes(count: number, delta: Delta): Promise<Generation> {
  return generationOf(notes.slice(0, count), { digest: DIGEST, delta, journal: 'j' });
}

/** A service of the first 20 notes, to which tests post the next ones. */
async function start(answerCacheBytes = 0) {
  const current = { generation: await firstNotes(20, createDelta(CAPACITY)) };
  const app = await startApp(current, { answerCacheBytes });
  let count = 20;
  let merged = 20;
  return {
    ...app,
    ask: (path: string, headers = {}): Promise<Reply> => app.get(path, { headers }),
    accept(more: number): void {
      this.acceptNotes(notes.slice(count, count + more));
    },
    acceptNotes(more: readonly Note[]): void {
      appendToDelta(current.generation.delta!, acceptedOf(more, count));
      count += more.length;
    },
    /** Whether filtering the delta by these tags costs more than `AT_ONCE`. */
    takesLong(tagsAll: readonly string[]): boolean {
      const delta = current.generation.delta!;
      const meter = new Meter(AT_ONCE);
      matchDelta(delta, { tagsAll }, 0, deltaLength(delta), meter);
      return meter.cost > AT_ONCE;
    },
    /** Merges the first `most` rows of the delta. */
    async merge(most: number): Promise<void> {
      const delta = current.generation.delta!;
      merged += most;
      current.generation = await firstNotes(merged, continueDelta(delta, most, CAPACITY));
    },
  };
}

function idsOf(reply: Reply): number[] {
  return reply.json<Envelope>().results.map((record) => record['id'] as number);
}

test('an accepted point is in the list, in order, and has its own address', async () => {
  const service = await start();
  assert.is((await service.ask(`${LIST}21/`)).status, 404);
  service.accept(3);
  assert.equal(idsOf(await service.ask(`${EAST}&page_size=3`)), [23, 21, 19]);
  assert.equal(idsOf(await service.ask(`${WEST}&page=last&page_size=4`)), [18, 20, 22]);
  const all = (await service.ask(LIST)).json<Envelope>();
  assert.is(all.count, 23);
  const single = await service.ask(`${LIST}22/`);
  assert.is(single.text, renderPoint(pointOf(notes[21]!)));
  assert.is((await service.ask(`${LIST}24/`)).status, 404);
  const page = await service.ask(`${LIST}?format=api&page_size=1&ordering=-created_at`);
  assert.ok(page.text.includes(pointOf(notes[22]!).createdAt.text));
});

test('validators change only when a matching point is added', async () => {
  const service = await start();
  const first = await service.ask(EAST);
  const other = await service.ask(WEST);
  service.accept(1);
  const second = await service.ask(EAST, { 'If-None-Match': first.headers['etag'] });
  assert.is(second.status, 200);
  assert.is.not(second.headers['etag'], first.headers['etag']);
  assert.is.not(second.headers['waypost-snapshot'], first.headers['waypost-snapshot']);
  const same = await service.ask(WEST, { 'If-None-Match': other.headers['etag'] });
  assert.is(same.status, 304);
  assert.is(same.headers['etag'], other.headers['etag']);
  const again = await service.ask(EAST, { 'If-None-Match': second.headers['etag'] });
  assert.is(again.status, 304);
  assert.is(second.headers['last-modified'], new Date(1.6e12).toUTCString());
});

test('If-Match of a state fails after any post; If-Match of a snapshot does not', async () => {
  const service = await start();
  service.accept(2);
  const first = await service.ask(`${EAST}&page_size=5`);
  const name = String(first.headers['waypost-snapshot']);
  assert.is(name, '"0123456789abcdef.j.l"');
  const next = `${EAST}&page_size=5&page=2`;
  for (const asked of [name, name.slice(1, -1), `"x", ${name}`]) {
    assert.is((await service.ask(next, { 'If-Match': asked })).status, 200, asked);
  }
  // a point in the west
  service.accept(1);
  const refused = await service.ask(next, { 'If-Match': name });
  assert.is(refused.status, 412);
  assert.is(refused.headers['waypost-snapshot'], '"0123456789abcdef.j.m"');
  await service.merge(2);
  for (const asked of ['0123456789abcdef', '"0123456789abcdef"', '"0123456789abcdef.j.m"']) {
    assert.is((await service.ask(next, { 'If-Match': asked })).status, 200, asked);
  }
  for (const asked of [name, '"1123456789abcdef"', '"0123456789abcdef.i.m"']) {
    assert.is((await service.ask(next, { 'If-Match': asked })).status, 412, asked);
  }
});

test('If-Match of an entity tag holds as long as the answer is the same', async () => {
  const service = await start(1_000_000);
  const { etag } = (await service.ask(WEST)).headers;
  service.accept(1);
  // kept from the second time on
  const ask = async (): Promise<number> => (await service.ask(WEST, { 'If-Match': etag })).status;
  assert.equal([await ask(), await ask(), await ask()], [200, 200, 200]);
  service.accept(1);
  assert.equal([await ask(), await ask(), await ask()], [412, 412, 412]);
});

test('entity tags stay valid through a merge', async () => {
  const service = await start();
  const nowhere = await service.ask(NOWHERE);
  const before = await service.ask(WEST);
  service.accept(2);
  const west = await service.ask(WEST);
  service.accept(1);
  const east = await service.ask(EAST);
  await service.merge(2);
  const states: [path: string, reply: Reply, status: number][] = [
    [NOWHERE, nowhere, 304],
    [WEST, before, 200],
    [WEST, west, 304],
    [EAST, east, 304],
  ];
  for (const [path, { headers }, status] of states) {
    const reply = await service.ask(path, { 'If-None-Match': headers['etag'] });
    assert.is(reply.status, status, `${path} ${headers['etag']}`);
  }
  assert.equal(idsOf(await service.ask(EAST)), idsOf(east));
  assert.is((await service.ask(EAST)).json<Envelope>().count, 12);
  service.accept(2);
  await service.merge(3);
  const again = await service.ask(NOWHERE, { 'If-None-Match': nowhere.headers['etag'] });
  assert.is(again.status, 304);
  assert.is((await service.ask(WEST)).json<Envelope>().count, 12);
});

test('tiles and HTML pages keep their tags while posts come that they do not show', async () => {
  const service = await start();
  const paths = [
    '/tiles/0/0/0.mvt?bbox=-20,0,-10,10',
    `${WEST}&format=api`,
    `${LIST}2/?format=api`,
    `${LIST}2/`,
  ];
  const first = await Promise.all(paths.map((path) => service.ask(path)));
  const check = async (what: string): Promise<void> => {
    for (const [i, path] of paths.entries()) {
      const { etag } = first[i]!.headers;
      const reply = await service.ask(path);
      assert.is(reply.headers.etag, etag, `${path} ${what}`);
      assert.is(reply.text, first[i]!.text);
      assert.is((await service.ask(path, { 'If-None-Match': etag })).status, 304);
    }
  };
  await check('again');
  service.accept(1);
  await check('beside a post');
  await service.merge(1);
  await check('after a merge');
  service.accept(1);
  for (const [i, path] of paths.slice(0, 2).entries()) {
    assert.is.not((await service.ask(path)).headers.etag, first[i]!.headers.etag, path);
  }
});

test('a cached answer belongs to a state, which a merge does not change', async () => {
  const service = await start(1_000_000);
  const { stats } = service;
  for (let i = 0; i < 3; i++) await service.ask(WEST);
  assert.is(stats.cacheHits, 1);
  service.accept(1);
  await service.ask(WEST);
  assert.is(stats.cacheHits, 1);
  const kept = await service.ask(WEST);
  assert.is(stats.cacheHits, 2);
  await service.merge(1);
  await service.ask(WEST, { 'If-None-Match': kept.headers['etag'] });
  assert.is(stats.cacheHits, 3);
  const renewed = await service.ask(WEST, {
    'If-None-Match': (await service.ask(`${WEST}&`)).headers['etag'],
  });
  assert.is(renewed.status, 200, 'of another address');
  service.accept(1);
  assert.is((await service.ask(WEST)).json<Envelope>().count, 11);
  assert.is(stats.cacheHits, 4);
  assert.is((await service.ask(WEST)).json<Envelope>().count, 11);
  assert.is(stats.cacheHits, 5);
});

test('after a post an expensive answer is made once for all who ask meanwhile', async () => {
  const service = await start(1_000_000);
  const { stats } = service;
  const path = `${LIST}?page_size=20&format=api`;
  for (let i = 0; i < 2; i++) await service.ask(path);
  service.accept(1);
  const [hits, misses] = [stats.cacheHits, stats.cacheMisses];
  const replies = await Promise.all(Array.from({ length: 12 }, () => service.ask(path)));
  assert.equal([stats.cacheHits - hits, stats.cacheMisses - misses], [11, 1]);
  for (const { status, text } of replies) assert.equal([status, text], [200, replies[0]!.text]);
});

test("a request that waits for another's answer makes it itself when the other is gone", async () => {
  const service = await start(1_000_000);
  const path = `${LIST}?page_size=20&format=api`;
  for (let i = 0; i < 2; i++) await service.ask(path);
  for (let round = 0; round < 5; round++) {
    service.accept(1);
    const gone = connect(service.port, '127.0.0.1');
    gone.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const replies = Array.from({ length: 3 }, () => service.ask(path));
    gone.destroy();
    for (const { status } of await Promise.all(replies)) assert.is(status, 200);
  }
  // a client that gets 304 makes no answer to be kept
  const { etag } = (await service.ask(path)).headers;
  service.accept(0);
  const known = Array.from({ length: 4 }, () => service.ask(path, { 'If-None-Match': etag }));
  for (const { status } of await Promise.all(known)) assert.is(status, 304);
});

test('a long look at the delta is continued later, and changes no answer', async () => {
  const service = await start(1_000_000);
  const tags = Array.from({ length: 40 }, (_, i) => `tag number ${i}`);
  const long = Array.from({ length: 90 }, (_, i): Note => {
    const own = i % 3 === 0 ? tags.toSpliced(i % 40, 1) : tags;
    return { id: 101 + i, lon: 15, lat: 5, created: 1.7e15, modified: 1.7e15, tags: own };
  });
  const path = `${LIST}?tags_all=${encodeURIComponent(tags.join())}&page_size=50`;
  const before = String((await service.ask(path)).headers['etag']);
  service.acceptNotes(long.slice(0, 89));
  assert.ok(service.takesLong(tags));
  const wanted = long.slice(0, 89).filter((note) => note.tags === tags);
  const first = await service.ask(path, { 'If-None-Match': before });
  assert.is(first.json<Envelope>().count, wanted.length);
  assert.equal(idsOf(first), pluck(wanted.slice(0, 50), 'id'));
  assert.is((await service.ask(`${path}&page=3`)).status, 404);
  assert.is((await service.ask(path, { 'If-Match': before })).status, 412);
  const etag = String(first.headers['etag']);
  assert.is((await service.ask(path, { 'If-None-Match': etag })).status, 304);
  // does not match: one of the tags is missing
  service.acceptNotes(long.slice(-1).map((note) => ({ ...note, tags: tags.slice(1) })));
  assert.is((await service.ask(path, { 'If-None-Match': etag })).status, 304);
  const texts = await Promise.all([path, path, path].map((one) => service.ask(one)));
  for (const { text } of texts) assert.is(text, first.text);
});

test.run();
