import { readdirSync, readFileSync } from 'node:fs';
import type { Agent } from 'node:http';
import { join } from 'node:path';
import { ask, type Envelope, LIST, type Reply } from '../support/client.js';
import { makeFolder } from '../support/folder.js';
import { assertTexts, fuzz } from '../support/fuzz.js';
import { createHostilePosts, type HostilePost } from '../support/hostile-posts.js';
import { SECRET } from '../support/images.js';
import { type Service, startService } from '../support/service.js';
import { IS_SOAK } from '../support/soak.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const SEED = 20_240_301;
const STATUSES = [201, 400, 413, 415, 422];
/** Beyond it the service answers before it has read a body, and closes the connection. */
const BODY_LIMIT = 1024 * 1024;
/** What garbage collection and waiting points may add after the first third. */
const GROWTH = 80e6;
const NAME = /^[\w-]{1,40}_[0-9a-f]{8}\.(?:jpg|png)$/;

interface Note {
  readonly id: number;
  readonly image?: string;
}

/**
 * Asserts that a service answers `count` hostile posts, none with 5xx, that each answer 201 stands
 * for one point, that its folders hold nothing else than the images of these, and that memory does
 * not grow.
 */
async function fuzzPosts(count: number): Promise<void> {
  const home = makeFolder();
  const media = join(home, 'inner/media');
  const service = await startService(
    [...['--media', media], ...['--journal', join(home, 'inner/journal')]],
    {},
    // the folders are made before the service looks for them
    ['/bin/sh', '-c', `mkdir -p ${media}; exec "$0" "$@"`],
  );
  const before = await countOf(service);
  const accepted = new Map<number, string | undefined>();
  const nextPost = createHostilePosts(SEED);
  const statuses = await fuzz(service, count, GROWTH, async (agent) => {
    const reply = await send(service.port, nextPost(), agent);
    if (reply !== undefined) note(reply, accepted);
    return reply?.status;
  });
  // the posts are neither all good nor all bad
  for (const status of [201, 400]) assert.ok(statuses.get(status)! > count / 20, `${status}`);

  assert.is((await countOf(service)) - before, accepted.size);
  await checkFiles(service, home, media, accepted);
  assert.equal(
    service.logs.filter(({ level }) => (level as number) >= 50),
    [],
  );
}

/** The answer to a post; undefined where the service hung up on a body that is too large. */
async function send(
  port: number,
  { headers, body }: HostilePost,
  agent: Agent,
): Promise<Reply | undefined> {
  const shown = `${headers['Content-Type']} ${body.toString('latin1', 0, 300)}`;
  const asked = { method: 'POST', headers, body, agent };
  const reply = await ask(port, LIST, asked).catch((error: Error) => {
    if (body.length > BODY_LIMIT && /EPIPE|ECONNRESET/.test(error.message)) return undefined;
    throw new Error(`${error.message}: ${shown}`);
  });
  if (reply === undefined) return undefined;
  assert.ok(STATUSES.includes(reply.status), `${reply.status} ${reply.text} to ${shown}`);
  return reply;
}

/** Notes an accepted point, or checks that an error has a text for everything that was wrong. */
function note({ status, headers, text }: Reply, accepted: Map<number, string | undefined>): void {
  if (status !== 201) {
    assertTexts(text, text);
    return;
  }
  const { id, image } = JSON.parse(text) as Note;
  if (headers['idempotency-replayed'] === undefined) assert.not(accepted.has(id), `${id} twice`);
  accepted.set(id, image);
}

/** Every image that was answered is there, and nothing else. */
async function checkFiles(
  service: Service,
  home: string,
  media: string,
  accepted: ReadonlyMap<number, string | undefined>,
): Promise<void> {
  assert.equal(readdirSync(home), ['inner']);
  const inner = readdirSync(join(home, 'inner')).filter((name) => !name.includes('journal'));
  assert.equal(inner, ['media']);
  assert.equal(readdirSync(media).sort(), ['.incoming', 'map_data_points']);
  // the mark of an image goes after the answer
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

async function countOf(service: Service): Promise<number> {
  return (await service.get(`${LIST}?page_size=1`)).json<Envelope>().count;
}

const POSTS = IS_SOAK ? 10_000 : 80;

test(`${POSTS} hostile posts: each is answered, none with 5xx, and nothing is left but what was accepted`, () =>
  fuzzPosts(POSTS));

test.run();
