import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalOptions } from '../../src/live/journal/file-journal.js';
import type { Journal, NewPost, Post, PostKey } from '../../src/live/journal/journal.js';
import { openJournal } from '../../src/live/journal/open.js';
import { type Reading, readJournal } from '../../src/live/journal/reading.js';
import { formatUtc } from '../../src/model/timestamp.js';
import { point, withFolder } from './native.js';

/** When the first post of the tests was made, in microseconds. */
const FIRST = Date.UTC(2024, 0, 1) * 1000;

/** The post with this id, made that many seconds after the first. */
export function newPost(id: number, key?: string): NewPost {
  const time = formatUtc(FIRST + id * 1e6);
  const made = point({ id, comment: `Grüße ${id}`, created_at: time, tags: ['Valo'] });
  return { point: made, ...(key === undefined ? {} : { key: keyOf(key) }) };
}

export function keyOf(name: string): PostKey {
  return { name, body: name.length.toString(16).repeat(64).slice(0, 64) };
}

/** Milliseconds shortly after the posts of the tests were made. */
export function soonAfter(): number {
  return FIRST / 1000 + 3_600_000;
}

/** Runs with a way to open one journal in a folder of its own; closes what is open. */
export async function withJournal(
  run: (
    path: string,
    open: (options?: JournalOptions) => Promise<Journal>,
    folder: string,
  ) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, 'points.journal');
    const journals: Journal[] = [];
    try {
      await run(
        path,
        async (options = {}) => {
          const journal = await openJournal(path, { now: soonAfter, ...options });
          journals.push(journal);
          return journal;
        },
        folder,
      );
    } finally {
      for (const journal of journals) await journal.close();
    }
  });
}

/** Sequence and id of each post, as text. */
export function numbers(posts: Iterable<Post>): string {
  return Array.from(posts, ({ sequence, point }) => `${sequence}:${point.id}`).join(' ');
}

/** What is found in a journal of these bytes. */
export async function readBytes(path: string, bytes: Uint8Array): Promise<Reading> {
  writeFileSync(path, bytes);
  const fd = openSync(path, 'r');
  try {
    return await readJournal(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * A journal with kept posts and keys, several writes behind them, and a mark at its end; and the
 * posts that it holds.
 */
export async function sampleJournal(path: string): Promise<{ bytes: Buffer; posts: Post[] }> {
  const journal = await openJournal(path, { now: soonAfter });
  await journal.append([newPost(101), newPost(102, '- a'), newPost(103)]);
  await journal.retire(({ sequence }) => sequence === 2, new Map([[3, 120]]));
  await Promise.all([
    journal.append([newPost(121, '7 b')]),
    journal.append([newPost(122), newPost(123)]),
  ]);
  await journal.append([newPost(124)]);
  const posts = [...journal.replay()];
  await journal.close();
  return { bytes: readFileSync(path), posts };
}
