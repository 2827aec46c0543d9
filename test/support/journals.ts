import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { renderPoint } from '../../src/model/point.js';
import { formatUtc } from '../../src/model/timestamp.js';
import {
  type Appended,
  type Journal,
  type NewPost,
  type OwnJournal,
  type Post,
  type PostKey,
  readAll,
} from '../../src/posts/journal.js';
import { type JournalOptions, openJournal } from '../../src/posts/sqlite-journal.js';
import { Store } from '../../src/posts/store.js';
import { makeFolder } from './folder.js';
import { point } from './native.js';

/** When the first post of the tests was made, in microseconds. */
const FIRST = Date.UTC(2024, 0, 1) * 1000;

/** The post with this id, made that many seconds after the first. */
export function newPost(id: number, key?: string): NewPost {
  const createdAt = FIRST + id * 1e6;
  const fields = { id, comment: `Grüße ${id}`, created_at: formatUtc(createdAt), tags: ['Valo'] };
  const record = renderPoint(point(fields));
  return { id, createdAt, record, ...(key === undefined ? {} : { key: keyOf(key) }) };
}

export function keyOf(name: string): PostKey {
  return { name, body: name.length.toString(16).repeat(64).slice(0, 64) };
}

/** Runs with a way to open one journal in a folder of its own; closes what is open. */
export async function withJournal(
  run: (
    path: string,
    open: (options?: JournalOptions) => Promise<OwnJournal>,
    folder: string,
  ) => Promise<void>,
): Promise<void> {
  const folder = makeFolder();
  const path = join(folder, 'points.journal');
  const journals: Journal[] = [];
  try {
    await run(
      path,
      async (options = {}) => {
        const journal = await openJournal(path, options);
        journals.push(journal);
        return journal;
      },
      folder,
    );
  } finally {
    for (const journal of journals) await journal.close();
  }
}

/** All posts of a journal. */
export async function postsIn(journal: Journal): Promise<readonly Post[]> {
  const posts: Post[] = [];
  for await (const some of readAll(journal, 0)) posts.push(...some);
  return posts;
}

/** Sequence and id of each post, as text. */
export function numbers(posts: Iterable<Pick<Post, 'sequence' | 'id'>>): string {
  return Array.from(posts, ({ sequence, id }) => `${sequence}:${id}`).join(' ');
}

/** Appends posts in one turn of the event loop. */
export function appendAll(
  journal: Journal,
  posts: readonly NewPost[],
): Promise<readonly Appended[]> {
  return Promise.all(posts.map((post) => journal.append(post)));
}

/** Sequence and id of each post that a journal has. */
export async function numbersIn(journal: Journal): Promise<string> {
  return numbers(await postsIn(journal));
}

/** Runs with a way to open one store, without a thread, in a folder of its own. */
export async function withStore(
  run: (path: string, open: (onAnew?: (reason: string) => void) => Store) => void,
): Promise<void> {
  const inside = join(makeFolder(), 'inside');
  mkdirSync(inside);
  const stores: Store[] = [];
  try {
    run(join(inside, 'points.journal'), (onAnew) => {
      const store = new Store(join(inside, 'points.journal'), false, onAnew);
      stores.push(store);
      return store;
    });
  } finally {
    for (const store of stores) store.abandon();
  }
}
