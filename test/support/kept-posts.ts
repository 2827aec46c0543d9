import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { Random } from '../../src/cli/generate/random.js';
import { type Asking, LIST, listAll, postKeyed, type Reply } from './client.js';
import { filesIn } from './folder.js';
import { imagePost, JPEG } from './images.js';
import type { Service } from './service.js';
import { until } from './wait.js';

/** One post in `IMAGES` has an image. */
const IMAGES = 16;
/** Clients whose names begin with this post no images, each of which takes 0.5 s of a slow core. */
export const PLAIN = 'plain';
const MOST_REPEATED = 20;
/** Only keys younger than this are sent again: the service may forget them after a day. */
const KEY_MS = 20 * 3_600_000;
/** Pause after a refused post. */
const REFUSED_MS = 5;
/** The first snapshot. */
export const FIRST_NOTE = '{"id":1,"lat":1,"lon":2,"created_at":"2023-05-01T12:00:00+00:00"}\n';

/** The answers that clients got. */
export interface Told {
  readonly hasImages: boolean;
  /** By key, the record of the answer. */
  readonly acknowledged: Map<string, string>;
  /** Keys whose post was cut off or refused with 503. */
  readonly open: Set<string>;
  readonly wrong: string[];
}

/** Posts points, some with images, until it is told to stop or the service is gone. */
export async function postOn(
  service: Asking,
  name: string,
  told: Told,
  pauseMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { acknowledged, open, wrong } = told;
  const agent = new Agent({ keepAlive: true });
  for (let count = 0; !signal.aborted; count++) {
    const key = `${name}-${count}`;
    open.add(key);
    let reply: Reply;
    try {
      reply = await postOnce(service, key, told, agent);
    } catch {
      break;
    }
    // full, or the decoder was killed: this point is sent again later
    if (reply.status === 503 || reply.text.includes('The image could not be decoded')) {
      await delay(REFUSED_MS);
      continue;
    }
    if (reply.status === 201) acknowledged.set(key, reply.text);
    else wrong.push(`${key}: ${reply.status} ${reply.text}`);
    open.delete(key);
    if (pauseMs > 0) await delay(pauseMs);
  }
  agent.destroy();
}

/** Posts the point of a key; the number at the key's end decides whether it has an image. */
function postOnce(service: Asking, key: string, { hasImages }: Told, agent: Agent): Promise<Reply> {
  const isOne = Number(key.split('-').at(-1)) % IMAGES === IMAGES - 1;
  const hasOne = hasImages && isOne && !key.startsWith(PLAIN);
  if (!hasOne) return postKeyed(service, key, agent);
  const fields = { lat: '10', lon: '20', comment: key };
  const asked = imagePost(fields, JPEG, 'a.jpg', undefined, { 'Idempotency-Key': key });
  return service.get(LIST, { ...asked, agent });
}

export function toldNothing(hasImages: boolean): Told {
  return { hasImages, acknowledged: new Map(), open: new Set(), wrong: [] };
}

/**
 * Asserts that every acknowledged point is there once, with its image, and that keys hold: those
 * cut off or refused are sent again. The service's clock is `ahead` by milliseconds.
 */
export async function keepsPromises(
  service: Service,
  told: Told,
  random: Random,
  about: string,
  ahead = 0,
): Promise<void> {
  const { acknowledged, open, wrong } = told;
  assert.equal(wrong, [], about);
  const agent = new Agent({ keepAlive: true });
  await until('it answers', () => service.get('/health/ready').catch(() => undefined));
  const records = await listAll(service);
  const ids = new Set(records.map(({ id }) => id));
  assert.is(ids.size, records.length, `${about}: an id twice`);
  const byKey = new Map(records.map((record) => [record['comment'] as string, record]));
  assert.is(byKey.size, records.length, `${about}: a post twice`);
  for (const [key, record] of acknowledged) {
    assert.is(JSON.stringify(byKey.get(key)), record, `${about}: ${key}`);
  }
  const recent = [...acknowledged].filter(([, record]) => {
    return Date.parse(JSON.parse(record).created_at) > Date.now() + ahead - KEY_MS;
  });
  for (let i = 0; i < Math.min(recent.length, MOST_REPEATED); i++) {
    const [key, record] = recent[random.int(recent.length)]!;
    const reply = await postOnce(service, key, told, agent);
    assert.equal([reply.status, reply.text], [201, record], `${about}: ${key} again`);
    assert.is(reply.headers['idempotency-replayed'], 'true', `${about}: ${key} spent twice`);
    const { image } = JSON.parse(reply.text);
    if (image !== undefined) {
      const { status } = await service.get(image, { agent });
      assert.is(status, 200, `${about}: the image ${image} of ${key}`);
    }
  }
  for (const key of open) {
    const reply = await postOnce(service, key, told, agent);
    assert.is(reply.status, 201, reply.text);
    const isReplayed = reply.headers['idempotency-replayed'] === 'true';
    assert.is(isReplayed, byKey.has(key), `${about}: ${key}`);
    acknowledged.set(key, reply.text);
  }
  open.clear();
  agent.destroy();
}

interface Ordeal {
  readonly clients: number;
  readonly told: Told;
  readonly random: Random;
  start(): Promise<Service>;
}

/**
 * Has clients post to a service, kills the service after `happen`, which may wait until `more`
 * posts are acknowledged, restarts it and asserts that it kept its promises. Returns the new one.
 */
export async function suffer(
  service: Service,
  name: string,
  { clients, told, random, start }: Ordeal,
  happen: (more: (count?: number) => Promise<void>) => Promise<void>,
): Promise<Service> {
  const more = (count = clients): Promise<void> => {
    const before = told.acknowledged.size;
    return until(`${count} posts`, () => told.acknowledged.size >= before + count);
  };
  const stop = new AbortController();
  const posting = Array.from({ length: clients }, (_, i) =>
    postOn(service, `${name}-${i}`, told, random.int(4), stop.signal),
  );
  await more();
  await happen(more);
  process.kill(service.pid, random.chance(0.6) ? 'SIGKILL' : 'SIGTERM');
  stop.abort();
  await Promise.all([service.ended, ...posting]);
  const next = await start();
  await keepsPromises(next, told, random, name);
  return next;
}

/** Asserts that no upload is left, and at most `most` images without a point: kills leave some. */
export async function noLitter(service: Service, folder: string, most: number): Promise<void> {
  const named = (await listAll(service)).filter(({ image }) => image !== undefined);
  const media = join(folder, 'media');
  assert.is(filesIn(join(media, '.incoming')), 0);
  const left = filesIn(media) - named.length;
  assert.ok(left >= 0 && left <= most, `${left} images of no point`);
}
