import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { packSnapshot } from '../../src/cli/pack.js';
import type { Watermark } from '../../src/formats/snapshot.js';
import { deltaLength, deltaRowOf } from '../../src/index/delta.js';
import { rankOf } from '../../src/index/order.js';
import type { Draft } from '../../src/model/point.js';
import { UTC } from '../../src/model/time-zone.js';
import { type Adopter, acceptedOf, adopt, KEPT_MS } from '../../src/posts/adopt.js';
import { createPostClock, PostStats, PostWriter } from '../../src/posts/posts.js';
import { openJournal } from '../../src/posts/sqlite-journal.js';
import { createBuilder } from '../../src/reload/build.js';
import { run } from '../../src/reload/build-thread.js';
import { Cell } from '../../src/reload/current.js';
import { Deltas, type DeltasOptions } from '../../src/reload/deltas.js';
import { closeLater } from '../support/folder.js';
import { ascending, assert, failure, makeFolder, pluck, test, until } from '../support/uvu.js';

const DRAFT = { lat: '10.00000000', lon: '20.00000000', comment: '', tags: undefined };
/** As JSON each of these characters has six bytes. */
const SWELLING = { ...DRAFT, comment: '\u0001'.repeat(10_000), tags: ['"'.repeat(64)] };
const SMALL = { rows: 10_000, bytes: 2 ** 21 };
const build = createBuilder({ maxInvalid: 0 }, run);

function recordOf(id: number, comment = 'snapshot'): string {
  return `{"id":${id},"lat":"1","lon":"2","comment":"${comment}","created_at":"2023-05-01T12:00:00Z"}`;
}

/** What stands between a journal and a cell, as an instance has it, and what it logs. */
async function start(capacity?: DeltasOptions['capacity'], folder: string = makeFolder()) {
  const logs: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => logs.push(JSON.parse(line)) });
  const journal = await openJournal(join(folder, 'points.journal'));
  closeLater(() => journal.close());
  const current = new Cell();
  const deltas = new Deltas({ current, logger, ...(capacity && { capacity }) });
  const clock = createPostClock(journal.state.lastTime, UTC);
  const stats = new PostStats();
  const writer = new PostWriter({ journal, visible: deltas, media: undefined, clock, stats });
  journal.changed((posts) => deltas.append(posts.map(acceptedOf)));
  const adopter: Adopter = { journal, writer, deltas, logger };
  let files = 0;
  /** Serves these records, and those of posts; packed with a watermark where there is one. */
  async function serve(records: readonly string[], watermark?: Watermark, now?: number) {
    let path = join(folder, `${files++}.ndjson`);
    writeFileSync(path, records.map((record) => `${record}\n`).join(''));
    if (watermark !== undefined) {
      const packed = `${path}.waypost`;
      await packSnapshot(path, packed, { print: () => {}, journalThrough: watermark });
      path = packed;
    }
    const parts = await build({ path });
    if (parts === 'unchanged') throw new Error('nothing was built');
    await adopt(parts, adopter, now);
  }
  async function post(key?: string, draft: Draft = DRAFT): Promise<{ id: number; record: string }> {
    const spent = key === undefined ? undefined : { name: key, body: 'a'.repeat(64) };
    const request = { draft, user: undefined, address: '', key: spent, upload: undefined };
    const reply = await writer.post(request);
    if (reply.kind !== 'accepted' && reply.kind !== 'replayed') {
      throw new Error('reason' in reply ? reply.reason : reply.kind);
    }
    return reply;
  }
  const shows = (id: number): boolean => {
    const { engine, delta } = current.generation;
    const isInDelta = deltaRowOf(delta!, id, deltaLength(delta!)) >= 0;
    return isInDelta || rankOf(engine.dataset.byId, id) >= 0;
  };
  /** Ids of the points beside the snapshot, ascending. */
  const waiting = (): number[] => {
    const { id, published } = current.generation.delta!;
    return ascending(id.subarray(0, published[0]));
  };
  const merges = (): number => deltas.state.merges;
  const stateName = (): string => current.generation.state().name;
  return { journal, deltas, logs, serve, post, shows, waiting, merges, stateName };
}

test('a snapshot retires the points that it contains, and the others stay visible', async () => {
  const { serve, post, shows, waiting } = await start();
  await serve([recordOf(7)]);
  const [first, second, third] = [await post(), await post(), await post()];
  assert.equal([first.id, second.id, third.id], [8, 9, 10]);
  assert.ok([8, 9, 10].every(shows));
  await serve([recordOf(7), second.record]);
  assert.equal(waiting(), [8, 10]);
  assert.ok([7, 8, 9, 10].every(shows));
  await serve([first.record, second.record, third.record]);
  assert.equal(waiting(), []);
  assert.ok([8, 9, 10].every(shows));
  assert.not.ok(shows(7));
  assert.is((await post()).id, 11, 'no id twice');
});

test('a point moves where the snapshot has another record under its id, also after a restart', async () => {
  const folder = makeFolder();
  const before = await start(undefined, folder);
  await before.serve([recordOf(1)]);
  const { id, record } = await before.post('key');
  assert.is(id, 2);
  await before.serve([recordOf(1), recordOf(2), recordOf(3)]);
  assert.equal(before.waiting(), [4]);
  assert.ok([1, 2, 3, 4].every(before.shows));
  const moved = before.logs.find(({ msg }) => /moved/.test(String(msg)))!;
  assert.equal([moved['from'], moved['to'], moved['sequence']], [2, 4, 2]);
  assert.is((await before.post('key')).record, record, 'what was answered is answered');
  assert.is((await before.post()).id, 6);
  await before.journal.close();

  const after = await start(undefined, folder);
  await after.serve([recordOf(1), recordOf(2), recordOf(3)]);
  assert.equal(after.waiting(), [4, 6]);
  assert.is((await after.post('key')).record, record);
  // the upstream took the point in under the id that was answered
  await after.serve([recordOf(1), record]);
  assert.equal(after.waiting(), [6]);
  assert.not.ok(after.shows(4));
});

test('more points move than one transaction has', async () => {
  const { serve, post, waiting, logs } = await start();
  await serve([recordOf(1)]);
  const posted = await Promise.all(Array.from({ length: 1_100 }, () => post()));
  const ids = ascending(pluck(posted, 'id'));
  await serve([1, ...ids].map((id) => recordOf(id)));
  const last = ids.at(-1)!;
  assert.equal(
    ascending(waiting()),
    ids.map((_, i) => last + 1 + i),
  );
  assert.is(logs.filter(({ msg }) => /moved/.test(String(msg))).length, ids.length);
});

test('a watermark retires what it covers; that of another journal retires nothing', async () => {
  const { journal, logs, serve, post, shows, waiting } = await start();
  await serve([recordOf(1)]);
  for (let i = 0; i < 4; i++) await post();
  const { name } = journal.state;
  await serve([recordOf(1)], { journal: name, sequence: 2 });
  assert.equal(waiting(), [4, 5]);
  assert.not.ok(shows(2));
  assert.not.ok(shows(3));
  for (const other of ['0123456789abcdef', '']) {
    // without a watermark of this journal, what the snapshot lacks is there again
    await serve([recordOf(1)], { journal: other, sequence: 3 });
    assert.equal(waiting(), [2, 3, 4, 5]);
  }
  await serve([recordOf(1)], { journal: name, sequence: 500 });
  assert.equal(waiting(), [2, 3, 4, 5], 'no sequence of this journal');
  assert.ok(logs.some(({ msg }) => /a journal that is not this one/.test(String(msg))));
  await post();
  assert.equal(waiting(), [2, 3, 4, 5, 6]);
});

test('posts that a snapshot has are forgotten once they are a day old, and their keys with them', async () => {
  const { journal, serve, post, waiting } = await start();
  await serve([recordOf(1)]);
  const [first, second] = [await post('a'), await post('b')];
  const day = 24 * 60 * 60 * 1000;
  await serve([recordOf(1), first.record], undefined, Date.now() + day - 60_000);
  assert.is(journal.state.posts, 2);
  assert.is((await post('a')).record, first.record);
  // a snapshot that lacks it lets it wait again
  await serve([recordOf(1)], undefined, Date.now() + 2 * day);
  assert.equal(waiting(), [first.id, second.id]);
  assert.is(journal.state.posts, 2, 'no snapshot has it');
  await serve([recordOf(1), first.record], undefined, Date.now() + day + 60_000);
  assert.is(journal.state.posts, 1);
  assert.is.not((await post('a')).record, first.record);
});

test('a state has another name once a snapshot lacks posts that were pruned', async () => {
  const { serve, post, stateName } = await start();
  await serve([recordOf(1)]);
  const { record } = await post();
  const whole = stateName();
  await serve([recordOf(1), record], undefined, Date.now() + 2 * KEPT_MS);
  await serve([recordOf(1)]);
  const [tag, journal, sequence] = whole.split('.');
  assert.is(stateName(), `${tag}.${journal}-1.${sequence}`);
});

test('without room for ids posts are refused, and the next snapshot may have it', async () => {
  const { serve, post } = await start();
  await serve([recordOf(2 ** 53 - 1)]);
  const { message } = await failure(post());
  assert.match(message, /9007199254740991.*leaves less than 2\^32/);
  await serve([recordOf(7)]);
  assert.equal([(await post()).id, (await post()).id], [8, 9]);
});

test('large posts are taken, one by one and at once: they are merged by their bytes', async () => {
  const { serve, post, merges } = await start(SMALL);
  await serve([recordOf(7)]);
  const large = { ...DRAFT, comment: 'x'.repeat(255_000) };
  for (let i = 0; i < 20; i++) await post(undefined, large);
  assert.ok(merges() > 1, `${merges()} merges`);
  await Promise.all(Array.from({ length: 60 }, () => post(undefined, SWELLING)));
});

test('posts that wait for a snapshot find room beside those that it does not contain', async () => {
  const { serve, post, merges, waiting, deltas } = await start(SMALL);
  await serve([recordOf(7)]);
  const [first] = await Promise.all([1, 2, 3].map(() => post(undefined, SWELLING)));
  await until('all are merged', () => merges() === 1 && waiting().length === 0);
  let end = (): void => {};
  const held = deltas.exclusively(() => new Promise<void>((resolve) => (end = resolve)));
  const posting = Promise.all(Array.from({ length: 34 }, () => post(undefined, SWELLING)));
  await new Promise(setImmediate);
  const exclusively = deltas.exclusively.bind(deltas);
  const asked = new Promise<void>((resolve) => {
    deltas.exclusively = (work) => {
      resolve();
      return exclusively(work);
    };
  });
  const serving = serve([recordOf(7), first!.record]);
  await asked;
  end();
  await Promise.all([held, serving]);
  assert.is((await posting).length, 34);
});

test.run();
