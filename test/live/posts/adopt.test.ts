import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packSnapshot } from '../../../src/commands/pack.js';
import { rankOf } from '../../../src/dataset/order.js';
import { tailLength, tailRowOf } from '../../../src/dataset/tail.js';
import { Cell } from '../../../src/live/current.js';
import { DISK, type Disk } from '../../../src/live/journal/disk.js';
import type { Journal } from '../../../src/live/journal/journal.js';
import { openJournal } from '../../../src/live/journal/open.js';
import { adopt } from '../../../src/live/posts/adopt.js';
import { createPostClock } from '../../../src/live/posts/clock.js';
import { createPostStats } from '../../../src/live/posts/stats.js';
import { PostWriter } from '../../../src/live/posts/writer.js';
import { createBuilder } from '../../../src/live/reload/build.js';
import { Tails } from '../../../src/live/tails.js';
import type { Draft } from '../../../src/model/draft.js';
import { UTC } from '../../../src/model/time-zone.js';
import { withFolder } from '../../support/native.js';
import { until } from '../../support/wait.js';

const DRAFT = { lat: '10.00000000', lon: '20.00000000', comment: '', tags: undefined };
const builder = createBuilder({ maxInvalid: 0 });

test.after(() => builder.rest());

function recordOf(id: number, comment = 'snapshot'): string {
  return `{"id":${id},"lat":"1","lon":"2","comment":"${comment}","created_at":"2023-05-01T12:00:00Z"}`;
}

/** What stands between a journal and a cell, as an instance has it, and what it logs. */
async function start(folder: string, disk: Disk = DISK) {
  const logs: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => logs.push(JSON.parse(line)) });
  const journal = await openJournal(join(folder, 'points.journal'), { disk });
  const current = new Cell();
  const tails = new Tails({ current, logger });
  const clock = createPostClock(journal.state.lastTime, UTC);
  const stats = createPostStats();
  const writer = new PostWriter({ journal, visible: tails, media: undefined, clock, stats });
  const adopter = { journal, writer, tails, logger, unretired: new Set<number>() };
  let files = 0;
  /** Serves these records, and those of posts; packed with a watermark where there is one. */
  async function serve(records: readonly string[], journalThrough?: number): Promise<void> {
    let path = join(folder, `${files++}.ndjson`);
    writeFileSync(path, records.map((record) => `${record}\n`).join(''));
    if (journalThrough !== undefined) {
      const packed = `${path}.waypost`;
      await packSnapshot(path, packed, { print: () => {}, journalThrough });
      path = packed;
    }
    const generation = await builder.build({ path, unless: undefined });
    if (generation === 'unchanged') throw new Error('nothing was built');
    await adopt(generation, adopter);
  }
  async function post(key?: string, draft: Draft = DRAFT): Promise<{ id: number; record: string }> {
    const spent = key === undefined ? undefined : { name: key, body: 'a'.repeat(64) };
    const request = { draft, user: undefined, key: spent, upload: undefined };
    const reply = await writer.post(request);
    if (reply.kind !== 'accepted' && reply.kind !== 'replayed') throw new Error(reply.kind);
    return reply;
  }
  const shows = (id: number): boolean => {
    const { engine, tail } = current.generation;
    const isInTail = tailRowOf(tail!, id, tail!.start, tailLength(tail!)) >= 0;
    return isInTail || rankOf(engine.dataset.byId, id) >= 0;
  };
  const waiting = (): number[] => ids(journal);
  const merges = (): number => tails.state.merges;
  return { journal, logs, serve, post, shows, waiting, merges };
}

function ids(journal: Journal): number[] {
  return Array.from(journal.replay(), ({ point }) => point.id);
}

test('a snapshot retires the points that it contains, and the others stay visible', async () => {
  await withFolder(async (folder) => {
    const { journal, serve, post, shows, waiting } = await start(folder);
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
    await journal.close();
  });
});

test('a point moves where the snapshot has another record under its id, also after a restart', async () => {
  await withFolder(async (folder) => {
    const before = await start(folder);
    await before.serve([recordOf(1)]);
    const { id, record } = await before.post('key');
    assert.is(id, 2);
    await before.serve([recordOf(1), recordOf(2), recordOf(3)]);
    assert.equal(before.waiting(), [4]);
    assert.ok([1, 2, 3, 4].every(before.shows));
    const moved = before.logs.find(({ msg }) => /moved/.test(String(msg)))!;
    assert.equal([moved['from'], moved['to'], moved['sequence']], [2, 4, 1]);
    assert.is((await before.post('key')).record, record, 'what was answered is answered');
    assert.is((await before.post()).id, 5);
    await before.journal.close();

    const after = await start(folder);
    await after.serve([recordOf(1), recordOf(2), recordOf(3)]);
    assert.equal(after.waiting(), [4, 5]);
    assert.is((await after.post('key')).record, record);
    // the upstream took the point in under the id that was answered
    await after.serve([recordOf(1), record]);
    assert.equal(after.waiting(), [5]);
    assert.not.ok(after.shows(4));
    await after.journal.close();
  });
});

test('a watermark retires what it covers; that of another journal retires nothing', async () => {
  await withFolder(async (folder) => {
    const { journal, logs, serve, post, shows, waiting } = await start(folder);
    await serve([recordOf(1)]);
    for (let i = 0; i < 4; i++) await post();
    await serve([recordOf(1)], 2);
    assert.equal(waiting(), [4, 5]);
    assert.not.ok(shows(2));
    for (let i = 0; i < 2; i++) {
      await serve([recordOf(1)], 500);
      assert.equal(waiting(), [4, 5]);
    }
    assert.ok(logs.some(({ msg }) => /a journal that is not this one/.test(String(msg))));
    await post();
    assert.equal(waiting(), [4, 5, 6]);
    await journal.close();
  });
});

test('a point that a snapshot had stays gone with the next one, also where it could not be retired', async () => {
  await withFolder(async (folder) => {
    let isFull = false;
    const disk: Disk = {
      ...DISK,
      open(...args) {
        if (isFull) throw Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'open' });
        return DISK.open(...args);
      },
    };
    const { journal, logs, serve, post, shows, waiting } = await start(folder, disk);
    await serve([recordOf(1)]);
    const [first, second] = [await post(), await post()];
    isFull = true;
    await serve([recordOf(1), first.record]);
    assert.equal(waiting(), [first.id, second.id]);
    assert.ok(logs.some(({ msg }) => msg === 'accepted points not retired'));
    isFull = false;
    // the upstream deleted the point
    await serve([recordOf(1)]);
    assert.equal([shows(first.id), shows(second.id)], [false, true]);
    assert.equal(waiting(), [second.id]);
    await journal.close();
  });
});

test('posts that come while snapshots do are neither lost nor doubled', async () => {
  await withFolder(async (folder) => {
    const { journal, serve, post, shows, waiting } = await start(folder);
    await serve([recordOf(1)]);
    const taken: { id: number; record: string }[] = [];
    let isOver = false;
    const posting = (async () => {
      while (!isOver) {
        taken.push(await post());
        await new Promise(setImmediate);
      }
    })();
    for (let round = 0; round < 8; round++) {
      const { length } = taken;
      await until('posts come', () => taken.length > length + 1);
      // each snapshot has half of what there was, and uses the next id for something else
      const next = Math.max(1, ...taken.map(({ id }) => id)) + 3;
      const some = taken.filter(({ id }) => id % 2 === 0).map(({ record }) => record);
      await serve([recordOf(1), ...some.filter((one) => !one.includes(`"id":${next},`))]);
    }
    isOver = true;
    await posting;
    assert.ok(taken.length > 8);
    for (const { id } of taken) assert.ok(shows(id), `${id} is gone`);
    assert.is(new Set(taken.map(({ id }) => id)).size, taken.length);
    assert.is(new Set(waiting()).size, waiting().length);
    await journal.close();
  });
});

test('many large posts are taken one after the other: they are merged by their bytes', async () => {
  await withFolder(async (folder) => {
    const { journal, serve, post, merges } = await start(folder);
    await serve([recordOf(7)]);
    const large = { ...DRAFT, comment: 'x'.repeat(255_000) };
    // 38 MB
    for (let i = 0; i < 150; i++) await post(undefined, large);
    assert.ok(merges() > 1, `${merges()} merges`);
    await journal.close();
  });
});

test.run();
