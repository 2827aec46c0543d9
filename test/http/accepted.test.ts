import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildDataset } from '../../src/dataset/build.js';
import {
  appendToTail,
  continueTail,
  createTail,
  type Tail,
  tailLength,
} from '../../src/dataset/tail.js';
import { createGeneration, type Generation } from '../../src/live/generation.js';
import { renderPoint } from '../../src/model/point.js';
import { isWork } from '../../src/query/common/work.js';
import { matchTail } from '../../src/query/tail.js';
import { startApp } from '../support/app.js';
import { ask, type Envelope, type Reply } from '../support/client.js';
import { acceptedOf, readerOf } from '../support/engine.js';
import { type Note, pointOf } from '../support/notes.js';

const PATH = '/rest/map_data_points/';
const CAPACITY = { rows: 100, bytes: 100_000 };
const EAST = `${PATH}?bbox=10,0,20,10&ordering=-created_at`;
const NOWHERE = `${PATH}?bbox=1,1,2,2`;
const WEST = `${PATH}?bbox=-20,0,-10,10`;

/** Odd ids lie in the east, even ones in the west. */
const notes = Array.from({ length: 40 }, (_, i): Note => {
  const lon = i % 2 === 0 ? 15 : -15;
  return { id: i + 1, lon, lat: 5, created: 1.6e15 + i, modified: 1.6e15 + i };
});

async function generationOf(count: number, tail: Tail): Promise<Generation> {
  const dataset = await buildDataset(readerOf(notes.slice(0, count)));
  return createGeneration({ dataset, extra: [], digest: 'accepted', loadedAt: 0, tail });
}

/** A service of the first 20 notes that accepts the next ones. */
async function start(answerCacheBytes = 0) {
  const current = { generation: await generationOf(20, createTail(CAPACITY)) };
  const app = await startApp(current, answerCacheBytes);
  let count = 20;
  return {
    ...app,
    ask: (path: string, headers = {}): Promise<Reply> =>
      ask(app.port, path, { headers: { Connection: 'close', ...headers } }),
    accept(more: number): void {
      this.acceptNotes(notes.slice(count, count + more));
    },
    acceptNotes(more: readonly Note[]): void {
      appendToTail(current.generation.tail!, acceptedOf(more, count));
      count += more.length;
    },
    /** Whether one piece of work does not suffice to look for these tags in the tail. */
    takesLong(tagsAll: readonly string[]): boolean {
      const tail = current.generation.tail!;
      const look = matchTail(tail, { tagsAll }, 0, tailLength(tail));
      return isWork(look) && look.next().done !== true;
    },
    /** Folds the first `most` rows of the tail into a new generation. */
    async fold(most: number, history: number): Promise<void> {
      const tail = current.generation.tail!;
      const folded = 20 + tail.offset + most;
      current.generation = await generationOf(folded, continueTail(tail, most, history, CAPACITY));
    },
  };
}

function idsOf(reply: Reply): number[] {
  return reply.json<Envelope>().results.map((record) => record['id'] as number);
}

test('an accepted point is in the list, in its order, and an address of its own', async () => {
  const service = await start();
  assert.is((await service.ask(`${PATH}21/`)).status, 404);
  service.accept(3);
  assert.equal(idsOf(await service.ask(`${EAST}&page_size=3`)), [23, 21, 19]);
  assert.equal(idsOf(await service.ask(`${WEST}&page=last&page_size=4`)), [18, 20, 22]);
  const all = (await service.ask(PATH)).json<Envelope>();
  assert.is(all.count, 23);
  const single = await service.ask(`${PATH}22/`);
  assert.is(single.text, renderPoint(pointOf(notes[21]!)));
  assert.is((await service.ask(`${PATH}24/`)).status, 404);
  const page = await service.ask(`${PATH}?format=api&page_size=1&ordering=-created_at`);
  assert.ok(page.text.includes(pointOf(notes[22]!).createdAt.text));
  await service.close();
});

test('validators change when a point is added that matches, and only then', async () => {
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
  await service.close();
});

test('a page is refused by If-Match once a point was added to its list', async () => {
  const service = await start();
  service.accept(2);
  const first = await service.ask(`${EAST}&page_size=5`);
  const name = String(first.headers['waypost-snapshot']);
  assert.match(name, /^"[0-9a-f]{16}\.[0-9a-z]+\.[0-9a-z]+"$/);
  const next = `${EAST}&page_size=5&page=2`;
  for (const asked of [name, name.slice(1, -1), `"x", ${name}`]) {
    assert.is((await service.ask(next, { 'If-Match': asked })).status, 200, asked);
  }
  service.accept(1);
  const refused = await service.ask(next, { 'If-Match': name });
  assert.is(refused.status, 412);
  await service.close();
});

test('what clients have stays good when points are folded in, as far back as the tail tells', async () => {
  const service = await start();
  const nowhere = await service.ask(NOWHERE);
  const before = await service.ask(WEST);
  service.accept(2);
  const west = await service.ask(WEST);
  service.accept(1);
  const east = await service.ask(EAST);
  await service.fold(2, 2);
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
  // the tail forgets the first three points: whether they matched is not known any more
  service.accept(2);
  await service.fold(4, 1);
  const lost = await service.ask(NOWHERE, { 'If-None-Match': nowhere.headers['etag'] });
  assert.is(lost.status, 200);
  const again = await service.ask(NOWHERE, { 'If-None-Match': lost.headers['etag'] });
  assert.is(again.status, 304);
  const foreign = String(lost.headers['etag']).replace(/\.\w+\.\w+/, '.1.1');
  assert.is((await service.ask(NOWHERE, { 'If-None-Match': foreign })).status, 200, foreign);
  assert.is((await service.ask(WEST)).json<Envelope>().count, 12);
  await service.close();
});

test('an answer that is kept stays when points are added that do not match, or are folded in', async () => {
  const service = await start(1_000_000);
  const { stats } = service;
  for (let i = 0; i < 3; i++) await service.ask(WEST);
  assert.is(stats.cacheHits, 1);
  service.accept(1);
  const kept = await service.ask(WEST);
  await service.fold(1, 100);
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
  await service.close();
});

test('an answer that is kept is not asked about points that the tail has forgotten', async () => {
  const service = await start(1_000_000);
  for (const path of [EAST, WEST, EAST, WEST]) await service.ask(path);
  service.accept(1);
  await service.ask(WEST);
  // the tail goes on with a point of the west, and has forgotten one of the east
  service.accept(1);
  await service.fold(2, 1);
  assert.is((await service.ask(EAST)).json<Envelope>().count, 11);
  assert.is((await service.ask(WEST)).json<Envelope>().count, 11);
  for (let i = 0; i < 3; i++) {
    for (let asked = 0; asked < 2; asked++) await service.ask(NOWHERE);
    service.accept(1);
  }
  await service.ask(NOWHERE);
  await service.fold(4, 1);
  const { cacheHits } = service.stats;
  await service.ask(NOWHERE);
  assert.is(service.stats.cacheHits, cacheHits + 1, 'it was asked for before they were forgotten');
  await service.close();
});

test('a look at accepted points that takes long goes on later, and changes no answer', async () => {
  const service = await start(1_000_000);
  const tags = Array.from({ length: 40 }, (_, i) => `tag number ${i}`);
  const long = Array.from({ length: 90 }, (_, i): Note => {
    const own = i % 3 === 0 ? tags.toSpliced(i % 40, 1) : tags;
    return { id: 101 + i, lon: 15, lat: 5, created: 1.7e15, modified: 1.7e15, tags: own };
  });
  const path = `${PATH}?tags_all=${encodeURIComponent(tags.join())}&page_size=50`;
  const before = String((await service.ask(path)).headers['etag']);
  service.acceptNotes(long.slice(0, 89));
  assert.ok(service.takesLong(tags));
  const wanted = long.slice(0, 89).filter((note) => note.tags === tags);
  const first = await service.ask(path, { 'If-None-Match': before });
  assert.is(first.json<Envelope>().count, wanted.length);
  assert.equal(
    idsOf(first),
    wanted.slice(0, 50).map(({ id }) => id),
  );
  assert.is((await service.ask(`${path}&page=3`)).status, 404);
  assert.is((await service.ask(path, { 'If-Match': before })).status, 412);
  const etag = String(first.headers['etag']);
  assert.is((await service.ask(path, { 'If-None-Match': etag })).status, 304);
  // has some of the tags only
  service.acceptNotes(long.slice(-1).map((note) => ({ ...note, tags: tags.slice(1) })));
  assert.is((await service.ask(path, { 'If-None-Match': etag })).status, 304);
  const texts = await Promise.all([path, path, path].map((one) => service.ask(one)));
  for (const { text } of texts) assert.is(text, first.text);
  await service.close();
});

test('of a header with many names the first eight are looked at', async () => {
  const service = await start();
  const before = String((await service.ask(NOWHERE)).headers['etag']);
  service.accept(1);
  await service.fold(1, 10);
  const elsewhere = before.replace(/-json-.*/, '-json-elsewhere"');
  for (const [others, status] of [
    [7, 304],
    [8, 200],
    [20, 200],
  ] as const) {
    const names = [...Array.from({ length: others }, () => elsewhere), before];
    const reply = await service.ask(NOWHERE, { 'If-None-Match': names.join(', ') });
    assert.is(reply.status, status, `behind ${others} others`);
  }
  await service.close();
});

test.run();
