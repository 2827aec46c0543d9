import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../../src/live/journal/disk.js';
import type { Journal } from '../../../src/live/journal/journal.js';
import { openJournal } from '../../../src/live/journal/open.js';
import { newPost, soonAfter } from '../../support/journals.js';
import { withFolder } from '../../support/native.js';
import { type Fate, RecordingDisk } from '../../support/power.js';
import { until } from '../../support/wait.js';

/** What the users of a journal were told. */
interface Told {
  /** Ids of posts by their sequences. */
  readonly acknowledged: Map<number, number>;
  readonly refused: Set<number>;
  /** Sequences of posts that may be retired or moved. */
  readonly touched: Set<number>;
}

const STEPS = 2;

function open(path: string, disk: Disk): Promise<Journal> {
  return openJournal(path, { disk, now: soonAfter, retryMs: 1 });
}

async function append(journal: Journal, id: number, told: Told): Promise<void> {
  try {
    const [post] = await journal.append([newPost(id, id % 3 === 0 ? `- ${id}` : undefined)]);
    told.acknowledged.set(post!.sequence, id);
  } catch {
    told.refused.add(id);
  }
}

/** Appends, retires and moves posts; goes on where one of that fails. */
async function workOn(journal: Journal, told: Told): Promise<void> {
  for (let step = 0; step < STEPS; step++) {
    const first = 10 * step + 1;
    const appends = [first, first + 1].map((id) => append(journal, id, told));
    if (step % 2 === 1) {
      const gone = [...told.acknowledged.keys()].filter((sequence) => sequence % 3 === 0);
      const moves = new Map([[Math.max(...told.acknowledged.keys()), 1_000 + step]]);
      for (const sequence of [...gone, ...moves.keys()]) told.touched.add(sequence);
      await journal.retire(({ sequence }) => gone.includes(sequence), moves).catch(() => {});
    }
    await Promise.all(appends);
    await append(journal, first + 2, told);
    await append(journal, first + 3, told);
  }
}

/** Asserts that what was acknowledged is there, once, and what was refused is not. */
function keeps(journal: Journal, { acknowledged, refused, touched }: Told, about: string): void {
  const posts = [...journal.replay()];
  const ids = new Map(posts.map(({ sequence, point }) => [sequence, point.id]));
  assert.is(new Set(ids.values()).size, posts.length, `${about}: an id twice`);
  for (const [sequence, id] of acknowledged) {
    if (!touched.has(sequence)) assert.is(ids.get(sequence), id, `${about}: sequence ${sequence}`);
  }
  for (const { point } of posts) assert.not.ok(refused.has(point.id), `${about}: ${point.id}`);
}

/**
 * Works on a journal that meets a fate, and has the power cut when further posts were acknowledged:
 * in a process after that one where that one ended. Returns which calls the disk had.
 */
async function meet(fate: Fate): Promise<readonly string[]> {
  const about = JSON.stringify(fate);
  let calls: readonly string[] = [];
  await withFolder(async (folder) => {
    const disk = new RecordingDisk();
    const work = join(folder, 'work');
    mkdirSync(work);
    const path = join(work, 'points.journal');
    const told: Told = { acknowledged: new Map(), refused: new Set(), touched: new Set() };
    const first = disk.process(fate);
    let journal = await open(path, first).catch(() => undefined);
    if (journal !== undefined) await workOn(journal, told);
    if (fate.ending !== undefined || journal === undefined) {
      await journal?.close();
      // of those the process knew nothing more
      told.refused.clear();
      journal = await open(path, disk.process());
      for (const { sequence, point } of journal.replay()) {
        if (!told.touched.has(sequence)) told.acknowledged.set(sequence, point.id);
      }
    }
    const last = journal;
    for (const id of [500, 501]) {
      await until(`${about}: it works again`, () => last.state.problem === undefined);
      keeps(last, told, about);
      await append(last, id, told);
    }
    assert.ok(Math.max(...told.acknowledged.values()) >= 500, about);
    const { length } = disk.operations;
    await last.close();
    calls = first.calls;

    const cut = join(folder, 'cut');
    mkdirSync(cut);
    disk.fill(cut, length, 'none');
    const after = await openJournal(join(cut, 'points.journal'), { now: soonAfter });
    keeps(after, told, about);
    await after.close();
  });
  return calls;
}

test('each call to the disk may fail once, and what is acknowledged later outlives a power cut', async () => {
  const { length } = await meet({});
  assert.ok(length > 30, `${length} calls`);
  for (let failing = 0; failing < length; failing++) await meet({ failing });
});

test('a process may end at each call to the disk, also after one that failed', async () => {
  const calls = await meet({});
  for (let ending = 1; ending < calls.length; ending++) {
    await meet({ ending });
    // nobody else can know that the system has given up on a name
    if (calls[ending - 1] !== 'syncFolder') await meet({ failing: ending - 1, ending });
  }
});

test.run();
