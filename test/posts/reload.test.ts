import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../src/cli/generate/random.js';
import { readPosts } from '../../src/cli/journal-posts.js';
import { packSnapshot } from '../../src/cli/pack.js';
import type { Watermark } from '../../src/formats/snapshot.js';
import { follow, type Listed, listAll, type StreamEvent } from '../support/client.js';
import { postOn, toldNothing } from '../support/kept-posts.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { startService } from '../support/service.js';
import { ascending, assert, IS_SOAK, makeFolder, pluck, test, until } from '../support/uvu.js';

const CLIENTS = 4;
/** Pause of a client between two posts: every record is read after each reload. */
const PAUSE_MS = 10;
/** Of the first snapshot: posted points get ids above it, the upstream's own stay below. */
const LARGEST_ID = 1_000_000;
const ADMIN = { Authorization: 'Bearer secret' };
const KINDS = ['contains', 'conflicts', 'predates', 'watermark'] as const;

/** What the upstream has, by id, and what clients were told. */
interface World {
  readonly base: Map<number, string>;
  /** The record that each key was answered with. */
  readonly acknowledged: Map<string, string>;
  /** Keys whose points the upstream took in and deleted. */
  readonly deleted: Set<string>;
  /** What the upstream has taken in or deleted: all its snapshots from then on say so. */
  watermark: Watermark | undefined;
}

/**
 * Has a service reload snapshots while clients post: ones that contain posted points, that use
 * their ids for other records, that were made before them, and that carry a watermark. Asserts
 * after each that every acknowledged point is there once, and after more than one round of these
 * kinds after a restart again. Returns how many points moved.
 */
async function reloadWhilePosting(seed: number, reloads: number): Promise<number> {
  const random = new Random(seed, 'point');
  const folder = makeFolder();
  const path = join(folder, 'notes');
  const journal = join(folder, 'notes.journal');
  const told = toldNothing(false);
  const { acknowledged } = told;
  const world: World = { base: new Map(), acknowledged, deleted: new Set(), watermark: undefined };
  addNote(world, LARGEST_ID);
  await replace(path, world);
  const flags = ['--snapshot', path, '--journal', journal, '--settle', '0'];
  flags.push('--admin-token', 'secret', '--max-shrink', '100');
  const start = (): Promise<OwnService> =>
    IS_SOAK ? startService([...flags, '--workers', '2']) : startOwnService(flags);
  const service = await start();
  const end = new AbortController();
  const followed: StreamEvent[] = [];
  const following = followOn(service, followed, world, end.signal);
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    postOn(service, `${i}`, told, PAUSE_MS, end.signal),
  );
  try {
    for (let reload = 0; reload < reloads; reload++) {
      const kind = KINDS[reload % KINDS.length]!;
      const about = `seed ${seed}, reload ${reload}, ${kind}`;
      await change(kind, service, world, random);
      await replace(path, world);
      const reply = await service.get('/admin/reload?wait', { method: 'POST', headers: ADMIN });
      assert.is(reply.status, 200, `${about}: ${reply.text}`);
      await keepsAll(service, world, about);
    }
  } finally {
    end.abort();
    await Promise.all(clients);
    await following;
    await service.stop();
  }
  assert.equal([told.wrong, [...told.open]], [[], []], 'every post was accepted');
  const moved = service.logs.filter(({ msg }) => /^accepted point moved/.test(String(msg))).length;
  if (reloads <= KINDS.length) return moved;
  const again = await start();
  await keepsAll(again, world, `seed ${seed}, after a restart`);
  await again.stop();
  return moved;
}

/** Follows the stream of posts, off and on, until it has all acknowledged ones, once each. */
async function followOn(
  service: OwnService,
  events: StreamEvent[],
  { acknowledged }: World,
  signal: AbortSignal,
): Promise<void> {
  let last = 0;
  let isWhole = false;
  while (!isWhole) {
    const stream = await follow(service.port, '/changes/points', last);
    assert.is(stream.status, 200);
    await until('a dozen more, or all', () => {
      const read = [...events, ...stream.events].map(({ data }) => JSON.parse(data) as Listed);
      // a point that moved before it was read has another id
      const keys = new Set(read.map(({ comment }) => comment));
      isWhole = signal.aborted && [...acknowledged.keys()].every((key) => keys.has(key));
      return isWhole || stream.events.length >= 12;
    });
    stream.answer.destroy();
    events.push(...stream.events);
    last = stream.last;
  }
  const sequences = pluck(events, 'id');
  assert.equal(sequences, ascending(new Set(sequences)), 'each once, in order');
}

async function change(
  kind: (typeof KINDS)[number],
  service: OwnService,
  world: World,
  random: Random,
): Promise<void> {
  const { base, deleted, watermark } = world;
  if (kind === 'predates') {
    addNote(world, base.size);
    return;
  }
  if (kind === 'watermark') {
    // the service has what this reads: the answer is complete up to its sequence
    const site = `http://127.0.0.1:${service.port}`;
    const { name, posts, through } = await readPosts(site, 0, 'secret');
    for (const { id, record, sequence } of posts) {
      const { comment } = JSON.parse(record);
      if (sequence <= (watermark?.sequence ?? 0) || base.has(id)) continue;
      if (random.int(4) === 0) deleted.add(comment);
      else base.set(id, record);
    }
    world.watermark = { journal: name, sequence: through };
    return;
  }
  const waiting = (await listAll(service)).filter(({ id }) => !base.has(id as number));
  for (const record of waiting) {
    if (random.int(3) !== 0) continue;
    if (kind === 'contains') base.set(record['id'] as number, JSON.stringify(record));
    else addNote(world, record['id'] as number);
  }
}

function addNote({ base }: World, id: number): void {
  const note = `"lat":1,"lon":2,"comment":"note ${id}","created_at":"2023-05-01T12:00:00Z"`;
  base.set(id, `{"id":${id},${note}}`);
}

async function replace(path: string, { base, watermark }: World): Promise<void> {
  const draft = `${path}.tmp`;
  writeFileSync(draft, `${[...base.values()].join('\n')}\n`);
  if (watermark === undefined) {
    renameSync(draft, path);
  } else {
    const packed = `${path}.packed.tmp`;
    await packSnapshot(draft, packed, { print: () => {}, journalThrough: watermark });
    renameSync(packed, path);
  }
}

async function keepsAll(service: OwnService, world: World, about: string): Promise<void> {
  const { base, acknowledged, deleted } = world;
  // what is acknowledged from here on may be in the answers or not
  const told = [...acknowledged];
  const records = await listAll(service);
  const byKey = new Map(records.map((record) => [record['comment'] as string, record]));
  assert.is(byKey.size, records.length, `${about}: a record twice`);
  const ids = new Set(records.map(({ id }) => id));
  assert.is(ids.size, records.length, `${about}: an id twice`);
  for (const id of base.keys()) assert.ok(ids.has(id), `${about}: the snapshot's ${id}`);
  for (const [key, record] of told) {
    const found = byKey.get(key);
    if (deleted.has(key)) assert.is(found, undefined, `${about}: ${key} was deleted`);
    else assert.equal(withoutId(found), withoutId(JSON.parse(record)), `${about}: ${key}`);
  }
}

/** A point keeps all but its id, which the snapshot may want for another record. */
function withoutId(record: Listed | undefined): unknown {
  return record && { ...record, id: undefined };
}

const [reloads, least] = IS_SOAK ? [50, 50] : [2, 0];
for (const seed of IS_SOAK ? [1, 2] : [3]) {
  test(`seed ${seed}: ${reloads} reloads while points are posted lose and double nothing`, async () => {
    const moved = await reloadWhilePosting(seed, reloads);
    assert.ok(moved > least, `${moved} points moved`);
  });
}

test.run();
