import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { Random } from '../../src/generate/random.js';
import type { Journal } from '../../src/live/journal/journal.js';
import { openJournal } from '../../src/live/journal/open.js';
import { newPost, soonAfter } from './journals.js';
import { withFolder } from './native.js';
import { RecordingDisk, type Survival } from './power.js';

const NAME = 'points.journal';

/** What had been promised when so many operations were done. */
interface Promised {
  readonly operations: number;
  /** The id of each sequence that was acknowledged; 0 where it was retired. */
  readonly ids: ReadonlyMap<number, number>;
  /** Sequences that a retirement under way may have taken or moved. */
  readonly touched: ReadonlySet<number>;
  readonly keys: readonly string[];
}

/**
 * Works on a journal by chance, then has the power cut at each of its operations in `variants`
 * ways: every promise that was given holds afterwards, and the journal goes on.
 */
export async function cutPower(seed: number, steps: number, variants: number): Promise<number> {
  let cuts = 0;
  await withFolder(async (folder) => {
    const disk = new RecordingDisk();
    const work = join(folder, 'work');
    mkdirSync(work);
    const promises = await workByChance(join(work, NAME), disk, seed, steps);
    for (let count = 0; count <= disk.operations.length; count++) {
      const promised = promises.findLast(({ operations }) => operations <= count);
      for (let variant = 0; variant < variants; variant++) {
        const survival: Survival =
          variant === 0 ? 'none' : variant === 1 ? 'all' : chance(seed, count * variants + variant);
        const place = join(folder, 'cut');
        mkdirSync(place);
        disk.fill(place, count, survival);
        await holds(join(place, NAME), promised, `seed ${seed} cut ${count} variant ${variant}`);
        rmSync(place, { recursive: true });
        cuts++;
      }
    }
  });
  return cuts;
}

function chance(seed: number, stream: number): Random {
  const random = new Random(seed, 'point');
  random.restart(stream);
  return random;
}

async function workByChance(
  path: string,
  disk: RecordingDisk,
  seed: number,
  steps: number,
): Promise<Promised[]> {
  const random = new Random(seed, 'point');
  const journal = await openJournal(path, { disk: disk.process(), now: soonAfter });
  const ids = new Map<number, number>();
  const keys: string[] = [];
  const promises: Promised[] = [];
  let touched = new Set<number>();
  let nextId = 1;
  const promise = (): void => {
    const operations = disk.operations.length;
    promises.push({ operations, ids: new Map(ids), touched, keys: [...keys] });
  };
  promise();
  const append = async (): Promise<void> => {
    const posts = Array.from({ length: 1 + random.int(3) }, () => {
      const id = nextId++;
      return newPost(id, random.chance(0.3) ? `- ${id}` : undefined);
    });
    for (const { sequence, point, key } of await journal.append(posts)) {
      ids.set(sequence, point.id);
      if (key !== undefined) keys.push(key.name);
    }
    promise();
  };
  for (let step = 0; step < steps; step++) {
    const appends = Array.from({ length: 1 + random.int(3) }, append);
    if (random.chance(0.2)) {
      const waiting = [...journal.replay()].filter(() => random.chance(0.5));
      const gone = new Set(waiting.filter(() => random.chance(0.6)));
      const moves = new Map(
        waiting.filter((post) => !gone.has(post)).map(({ sequence }) => [sequence, nextId++]),
      );
      touched = new Set(waiting.map(({ sequence }) => sequence));
      promise();
      const sequences = new Set(Array.from(gone, ({ sequence }) => sequence));
      await journal.retire(({ sequence }) => sequences.has(sequence), moves);
      for (const sequence of sequences) ids.set(sequence, 0);
      for (const [sequence, id] of moves) ids.set(sequence, id);
      touched = new Set();
      promise();
    }
    await Promise.all(appends);
  }
  await journal.close();
  promise();
  return promises;
}

async function holds(path: string, promised: Promised | undefined, about: string): Promise<void> {
  let journal: Journal;
  try {
    journal = await openJournal(path, { now: soonAfter });
  } catch (error) {
    throw new Error(`${about}: ${(error as Error).message}`);
  }
  const posts = [...journal.replay()];
  const found = new Map(posts.map(({ sequence, point }) => [sequence, point.id]));
  assert.is(found.size, posts.length, about);
  assert.is(new Set(found.values()).size, posts.length, `${about}: an id twice`);
  const { ids, touched, keys } = promised ?? { ids: new Map(), touched: new Set(), keys: [] };
  for (const [sequence, id] of ids) {
    if (touched.has(sequence)) continue;
    assert.is(found.get(sequence) ?? 0, id, `${about}: sequence ${sequence}`);
  }
  const { lastSequence, nextId } = journal.state;
  assert.ok(lastSequence >= Math.max(0, ...ids.keys()), `${about}: last sequence ${lastSequence}`);
  assert.ok(nextId > Math.max(0, ...ids.values()), `${about}: next id ${nextId}`);
  const names = Array.from(journal.keys(), ({ name }) => name);
  assert.is(new Set(names).size, names.length, `${about}: a key twice`);
  for (const key of keys) assert.ok(names.includes(key), `${about}: key ${key}`);

  const [added] = await journal.append([newPost(nextId)]);
  await journal.close();
  const again = await openJournal(path, { now: soonAfter });
  assert.equal([...again.replay()], [...posts, added], about);
  assert.is(again.opened.cutBytes, 0, about);
  await again.close();
}
