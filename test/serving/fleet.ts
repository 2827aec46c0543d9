import { join } from 'node:path';
import { listJournal, pruneJournal, readPosts } from '../../src/cli/journal-posts.js';
import { packSnapshot } from '../../src/cli/pack.js';
import { parseDatabaseAddress } from '../../src/posts/postgres-address.js';
import { type Asking, type Envelope, jsonPost, LIST, post, postKeyed } from '../support/client.js';
import { assertSame, Instances, keysIn, snapshot, startInstance, write } from '../support/fleet.js';
import { FIRST_NOTE } from '../support/kept-posts.js';
import type { OwnService } from '../support/own-service.js';
import { assert, makeFolder, pluck, refusal, test, until } from '../support/uvu.js';

/** Shared with the test files that import this one. */
export const fleet: Instances = new Instances(test);

const path = snapshot();
/** Two instances, which the first three tests share. */
let pair: OwnService[];

fleet.check('a point that one instance accepts is in the answers of all', async (address) => {
  pair = [await startInstance(path, address), await startInstance(path, address)];
  const posts = Array.from({ length: 60 }, (_, i) => post(pair[i % 2]!, `key-${i}`));
  await Promise.all(posts);
  const comment = 'a "quote", \\, \n and 🎉';
  const asked = jsonPost({ lat: '1', lon: '2', comment });
  const { headers } = await pair[0]!.get(LIST, asked);
  const last = Number(headers['waypost-sequence']);
  assert.is(last, 61);
  await assertSame(pair, 1, 40, last);
  // a late instance reads the points from the journal, the others received them one by one
  const late = await fleet.start(path, address);
  await assertSame([...pair, late], 2, 40, last);
  assert.is((await keysIn(late, last)).length, 61);
});

fleet.checkOn('the same key on two instances at once makes one point', async () => {
  const names = Array.from({ length: 10 }, (_, i) => `twice-${i}`);
  for (const name of names) {
    const replies = await Promise.all(pair.map((one) => postKeyed(one, name)));
    assert.equal(pluck(replies, 'status'), [201, 201]);
    assert.is(replies[0]!.text, replies[1]!.text);
    const replayed = replies.map(({ headers }) => headers['idempotency-replayed']);
    assert.equal(replayed.filter(Boolean), ['true']);
  }
  const keys = await keysIn(pair[0]!, await post(pair[0]!, 'last'));
  const twice = keys.filter((key) => key.startsWith('twice-'));
  assert.equal(twice, names);
});

fleet.checkOn('a stream can be resumed on an instance that is behind', async () => {
  const [first, second] = pair as [OwnService, OwnService];
  let after = 0;
  for (let round = 0; round < 40; round++) {
    after = await post(first, `followed-${round}`);
    const { status } = await second.get(`/changes/points?format=ndjson&after=${after}`);
    assert.is(status, 200, `${after}`);
  }
  const { status } = await second.get(`/changes/points?after=${after + 1}`);
  assert.is(status, 410);
  for (const one of pair) await one.stop();
});

/** Has an instance whose admin token is `secret` look for its snapshot, and waits until it did. */
export function reload({ get }: Asking): Promise<unknown> {
  return get('/admin/reload?wait', { method: 'POST', headers: { Authorization: 'Bearer secret' } });
}

export function noteOf(id: number, comment: string): string {
  return `{"id":${id},"lat":1,"lon":2,"comment":"${comment}","created_at":"2023-05-01T12:00:00+00:00"}\n`;
}

fleet.check('two versions of a snapshot have all posts once, a moved one, too', async (address) => {
  const paths = [snapshot(), snapshot(), snapshot()];
  const start = (path: string): Promise<OwnService> =>
    fleet.start(path, address, '--watch', 'off', '--admin-token', 'secret');
  const instances = await Promise.all(paths.map(start));
  for (const key of ['a', 'b', 'c']) await post(instances[0]!, key);
  // as while clocks catch up with one that was ahead: all points have the same time
  await fleet.database.run('UPDATE waypost.posts SET created_at = 1');
  const { results } = (await instances[0]!.get(LIST)).json<Envelope>();
  const taken = results.find(({ comment }) => comment === 'b')!['id'] as number;
  const next = FIRST_NOTE + noteOf(taken, 'upstream') + noteOf(5_000, 'largest');
  write(paths[0]!, next);
  await reload(instances[0]!);
  assert.equal(await keysIn(instances[0]!, 4), ['a', 'b', 'c', 'largest', 'upstream']);
  // instances with the old snapshot have the moved point once, under its new id
  for (const one of instances.slice(1)) assert.equal(await keysWhen(one, 4), ['a', 'b', 'c']);
  await assertSame(instances.slice(1), 5, 10, 4);
  assert.is(await post(instances[1]!, 'd'), 5);
  for (const [i, one] of instances.slice(1).entries()) {
    write(paths[i + 1]!, next);
    await reload(one);
  }
  await assertSame(instances, 6, 20, 5);
  assert.equal(await keysIn(instances[2]!, 5), ['a', 'b', 'c', 'd', 'largest', 'upstream']);
  const again = await postKeyed(instances[2]!, 'b');
  assert.is(again.json<{ id: number }>().id, taken, 'what was answered is answered');
});

/** As {@link keysIn}, but waits longer for the sequence than one request does. */
async function keysWhen(service: Asking, sequence: number): Promise<string[]> {
  await until('the sequence is there', async () => {
    const headers = { 'Waypost-At-Least': String(sequence) };
    return (await service.get(LIST, { headers })).status === 200;
  });
  return keysIn(service, sequence);
}

fleet.check('posts that all snapshots hold are pruned, others then refused', async (address) => {
  const path = snapshot();
  assert.match(await refusal(pruneJournal(address, {})), 'there is no journal');
  const first = await fleet.start(path, address);
  for (const key of ['a', 'b', 'c']) await post(first, key);
  const packed = join(makeFolder(), 'notes.waypost');
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  await packSnapshot(path, packed, { journal: address, print });
  assert.match(lines.join(), /3 posts of postgres:\/\/127.0.0.1:\d+\/postgres added/);
  const prune = (): Promise<string> => pruneJournal(address, { through: 3 });
  assert.match(await prune(), /0 rows removed, all up to sequence 0; .* up to 0/);
  await fleet.stop();

  const second = await fleet.start(packed, address);
  await until('it says so', async () => /up to 3/.test(await prune()));
  assert.match(await prune(), /0 rows removed/, 'they are not a day old');
  await fleet.database.run('UPDATE waypost.posts SET created_at = 1 WHERE sequence < 3');
  // a delay as of deleting a million posts
  await fleet.database.run(`CREATE FUNCTION waypost.dawdle() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_sleep(5.5); RETURN NULL; END';
    CREATE TRIGGER dawdle BEFORE DELETE ON waypost.posts EXECUTE FUNCTION waypost.dawdle()`);
  assert.match(await prune(), /2 rows removed, all up to sequence 2/);
  await post(second, 'd');
  assert.equal(await keysIn(second, 4), ['a', 'b', 'c', 'd']);
  const listed: string[] = [];
  for await (const line of listJournal(address)) listed.push(line.split(' ')[0]!);
  assert.equal(listed, ['3', '4', `${parseDatabaseAddress(address).name}:`]);
  for (const [after, why] of [
    [1, 'All posts are kept behind 2 only, and those behind 1 were asked for.'],
    [5, 'The last post is 4: 5 is of another journal.'],
  ] as const) {
    assert.match(await refusal(readPosts(address, after)), `: ${why} Leave --after out`);
  }
  assert.equal(pluck((await readPosts(address, 2)).posts, 'sequence'), [3, 4]);
  const lacking = await refusal(startInstance(path, address));
  assert.match(lacking, /posts up to 2 were removed from the journal, and the snapshot says/);
  const packing = packSnapshot(path, packed, { journal: address, print });
  assert.match(await refusal(packing), 'posts up to 2 were removed from the journal');
});
