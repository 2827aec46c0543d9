import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { benchRandom } from '../../bench/places.js';
import type { Random } from '../../src/cli/generate/random.js';
import {
  bodyOf,
  countOf,
  type Envelope,
  exchange,
  LIST,
  type Reply,
  statusOf,
} from '../support/client.js';
import { createHostilePosts, type HostilePost } from '../support/hostile-posts.js';
import { createHostileQueries, type HostileQuery } from '../support/hostile-queries.js';
import { SECRET } from '../support/images.js';
import { metricsOf } from '../support/operating.js';
import { startService } from '../support/service.js';
import { decodeTile } from '../support/tiles.js';
import { assert, IS_SOAK, makeFolder, test, until } from '../support/uvu.js';

/** Bytes of memory that garbage collection and caches may add after the first third. */
const GROWTH = 60e6;
const home = makeFolder();
const media = join(home, 'inner/media');
mkdirSync(media, { recursive: true });
const service = await startService([
  ...['--media', media, '--journal', join(home, 'inner/journal')],
  // small, so that the filling cache does not look like a leak
  ...['--answer-cache', '4MiB', '--time-zone', 'Europe/Helsinki'],
]);
const OTHERS = ['/rest/notifications/', `${LIST}7/`, '/rest/', LIST];
const QUERIES = IS_SOAK ? 100_000 : 400;
const TILES = IS_SOAK ? 100_000 : 150;

const CLIENTS = 6;

/**
 * Has clients send `count` requests by `send`, which resolves to a status, and asserts that the
 * service's memory grew by less than `most` bytes in the last two thirds. Returns the count of each
 * status.
 */
async function fuzz(
  count: number,
  most: number,
  send: (agent: Agent) => Promise<number | undefined>,
): Promise<ReadonlyMap<number | undefined, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const statuses = new Map<number | undefined, number>();
  let sent = 0;
  const sendUpTo = async (limit: number): Promise<void> => {
    const work = async (): Promise<void> => {
      while (sent < limit) {
        sent++;
        const status = await send(agent);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, work));
  };
  const resident = async (): Promise<number> =>
    (await metricsOf(service)).value('process_resident_memory_bytes');
  await sendUpTo(Math.floor(count / 3));
  const settled = await resident();
  await sendUpTo(count);
  const growth = (await resident()) - settled;
  assert.ok(growth < most, `grew by ${growth} bytes`);
  agent.destroy();
  return statuses;
}

/** Asserts that a body is an error's JSON: texts for each fault. */
function assertTexts(body: string, label: string): void {
  const texts = Object.values(JSON.parse(body) as object).flat();
  assert.ok(texts.length > 0 && texts.every((text) => typeof text === 'string'), label);
}

function check(target: string, status: number, body: string, isPage: boolean): void {
  if (isPage) {
    assert.match(body, /^<!doctype html>.*<\/html>\n$/s);
    return;
  }
  if (status !== 200) {
    assertTexts(body, target);
    return;
  }
  const json = JSON.parse(body) as Envelope | Record<string, string>;
  if (!('results' in json)) return;
  const { count, next, previous, results } = json as Envelope;
  assert.ok(Number.isSafeInteger(count) && count >= results.length, target);
  for (const link of [next, previous]) {
    if (link !== null) assert.match(link, /^http:\/\/x\/rest\/\w+\/(?:\?[\w.~%+&=-]+)?$/);
  }
}

test(`${QUERIES} hostile queries: each is answered, none with 5xx, and memory does not grow`, async () => {
  const nextQuery = createHostileQueries(20_240_229);
  let sent = 0;
  const send = async (agent: Agent): Promise<number> => {
    const path = sent % 10 === 0 ? OTHERS[(sent / 10) % OTHERS.length]! : LIST;
    sent++;
    const { query, isTarget }: HostileQuery = nextQuery();
    const target = `${path}?${query}`;
    if (!isTarget) {
      const answer = await exchange(service.port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.is(statusOf(answer), 400, target);
      check(target, 400, bodyOf(answer), false);
      return 400;
    }
    const { status, headers, text } = await service.get(target, { headers: { Host: 'x' }, agent });
    assert.ok([200, 400, 404].includes(status), `${status} ${target}`);
    check(target, status, text, headers['content-type']!.includes('text/html'));
    return status;
  };
  const statuses = await fuzz(QUERIES, GROWTH, send);
  // good and bad queries both occur
  for (const status of [200, 400, 404]) {
    assert.ok(statuses.get(status)! > QUERIES / 100, `${status}`);
  }
});

test(`${TILES} hostile addresses of tiles: a tile or 4xx each, and memory does not grow`, async () => {
  const nextTarget = createHostileTiles(20_260_415);
  const send = async (agent: Agent): Promise<number> => {
    const target = nextTarget();
    const { status, headers, body, text } = await service.get(target, { agent });
    assert.ok([200, 204, 400, 404].includes(status), `${status} ${target.slice(0, 200)}`);
    if (status === 204) assert.is(body.length, 0);
    else if (status === 200) assert.ok(Object.keys(decodeTile(body)).length > 0, target);
    else check(target, status, text, headers['content-type']!.includes('text/html'));
    return status;
  };
  const statuses = await fuzz(TILES, GROWTH, send);
  // good and bad addresses both occur
  for (const status of [200, 204, 400, 404]) {
    assert.ok((statuses.get(status) ?? 0) > TILES / 50, `${status}: ${statuses.get(status)}`);
  }
});

/** Characters of a query; more would exceed the service's limit of a request's head. */
const MAX_LENGTH = 12_000;

const ODD = [
  ...['', '-1', '-0', '+1', '01', '1.5', '1e1', '0x1', '%D9%A3', '%31', '%00', '%20', '..', 'z'],
  ...['NaN', '23', '99', '4194304', '9007199254740993', '9'.repeat(40), '1,1', '{z}', '__proto__'],
  '%ff',
];

const ENDINGS = '.mvt .mvt .mvt .mvt .mvt/  .pbf .MVT .mvt.mvt .mvt%00'.split(' ');

/** Parameters of tiles besides filters, good and bad. */
const TILE_PARAMETERS = [
  ...['grid=4', 'grid=128', 'grid=128&grid=', 'grid=0', 'grid=256', 'grid=1e2', 'cluster=false'],
  ...['cluster=FALSE', 'cluster=false&limit=1', 'limit=50', 'limit=0', `limit=${'9'.repeat(30)}`],
  ...['fields=comment,tags,image', 'fields=id,id', 'fields=Id', 'v=x', 'format=', 'format=json'],
  ...['bbox=24,60,25,61', 'coordinates=0,0,20015000', 'tags=Lighting', 'status=NEW', '=', ''],
];

const SOME = 0.1;

/** Makes hostile addresses of tiles; some tiles exist. */
function createHostileTiles(seed: number): () => string {
  const random = benchRandom(seed, 520);
  const nextQuery = createHostileQueries(seed);
  const query = (): string => {
    if (random.chance(0.05)) return `polygon=${star(random)}`;
    const own = Array.from({ length: random.int(4) }, () => random.pick(TILE_PARAMETERS)).join('&');
    if (random.chance(0.7)) return own;
    const { query, isTarget } = nextQuery();
    return isTarget ? `${query}&${own}` : own;
  };
  return () => {
    const ending = random.chance(SOME) ? random.pick(ENDINGS) : '.mvt';
    return `/tiles/${place(random)}${ending}?${query().slice(0, MAX_LENGTH)}`;
  };
}

function place(random: Random): string {
  // mostly small zooms, whose tiles hold more points
  const z = Math.floor(23 * random.next() ** 2);
  const parts = [z, random.int(2 ** z), random.int(2 ** z)].map(String);
  // tiles at the edges of the pyramid and just beyond
  if (random.chance(0.3)) parts[1 + random.int(2)] = String(2 ** z - (random.chance(SOME) ? 0 : 1));
  if (random.chance(SOME)) parts[random.int(3)] = random.pick(ODD);
  return parts.join('/');
}

/** A polygon of many edges that cross each other all over the world. */
function star(random: Random): string {
  const degrees = (limit: number): string => ((random.next() * 2 - 1) * limit).toFixed(1);
  const places = 3 + random.int(900);
  return Array.from({ length: places }, () => `${degrees(180)},${degrees(90)}`).join(';');
}

const SEED = 20_240_301;
const STATUSES = [201, 400, 413, 415, 422];
/** A longer body is answered before it is read, and its connection closed. */
const BODY_LIMIT = 1024 * 1024;
/** Bytes of memory that garbage collection and the delta may add after the first third. */
const POSTS_GROWTH = 80e6;
const NAME = /^[\w-]{1,40}_[0-9a-f]{8}\.(?:jpg|png)$/;

const POSTS = IS_SOAK ? 10_000 : 25;

test(`${POSTS} hostile posts: each is answered, none with 5xx, and nothing is left but what was accepted`, async () => {
  const before = await countOf(service);
  const accepted = new Map<number, string | undefined>();
  const nextPost = createHostilePosts(SEED);
  const statuses = await fuzz(POSTS, POSTS_GROWTH, async (agent) => {
    const reply = await send(nextPost(), agent);
    if (reply !== undefined) note(reply, accepted);
    return reply?.status;
  });
  // good and bad posts both occur
  for (const status of [201, 400]) assert.ok(statuses.get(status)! > POSTS / 20, `${status}`);

  assert.is((await countOf(service)) - before, accepted.size);
  await checkFiles(accepted);
  const errors = service.logs.filter(({ level }) => (level as number) >= 50);
  assert.equal(errors, []);
});

/** The answer to a post; undefined where the service closed on a body that is too large. */
async function send({ headers, body }: HostilePost, agent: Agent): Promise<Reply | undefined> {
  const shown = `${headers['Content-Type']} ${body.toString('latin1', 0, 300)}`;
  const asked = { method: 'POST', headers, body, agent };
  const reply = await service.get(LIST, asked).catch((error: Error) => {
    if (body.length > BODY_LIMIT && /EPIPE|ECONNRESET/.test(error.message)) return undefined;
    throw new Error(`${error.message}: ${shown}`);
  });
  if (reply === undefined) return undefined;
  assert.ok(STATUSES.includes(reply.status), `${reply.status} ${reply.text} to ${shown}`);
  return reply;
}

/** Records an accepted point, or checks the texts of an error. */
function note({ status, headers, text }: Reply, accepted: Map<number, string | undefined>): void {
  if (status !== 201) {
    assertTexts(text, text);
    return;
  }
  const { id, image } = JSON.parse(text) as { id: number; image?: string };
  if (headers['idempotency-replayed'] === undefined) assert.not(accepted.has(id), `${id} twice`);
  accepted.set(id, image);
}

/** Asserts that exactly the images of accepted posts are stored. */
async function checkFiles(accepted: ReadonlyMap<number, string | undefined>): Promise<void> {
  assert.equal(readdirSync(home), ['inner']);
  const inner = readdirSync(join(home, 'inner')).filter((name) => !name.includes('journal'));
  assert.equal(inner, ['media']);
  assert.equal(readdirSync(media).sort(), ['.incoming', 'map_data_points']);
  await until('nothing is on its way', () => readdirSync(join(media, '.incoming')).length === 0);
  const images = [...accepted.values()].filter((image) => image !== undefined);
  const stored = readdirSync(join(media, 'map_data_points')).flatMap((id) =>
    readdirSync(join(media, 'map_data_points', id)).map((name) => {
      assert.match(name, NAME);
      return `/media/map_data_points/${id}/${name}`;
    }),
  );
  assert.equal(stored.sort(), images.sort());
  for (const image of images) {
    const bytes = readFileSync(join(media, image.slice('/media/'.length)));
    assert.not(bytes.includes(SECRET));
  }
  const [first] = images;
  const { status, headers } = await service.get(first!);
  assert.is(status, 200);
  assert.match(headers['content-type']!, /^image\/(?:jpeg|png)$/);
}

test.run();
