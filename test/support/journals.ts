import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { renderPoint } from '../../src/model/point.js';
import { formatUtc } from '../../src/model/timestamp.js';
import {
  type Appended,
  type Journal,
  type Move,
  type NewPost,
  type OwnJournal,
  type Post,
  type PostKey,
  readAll,
} from '../../src/posts/journal.js';
import { type FileJournalOptions, openJournal } from '../../src/posts/sqlite-journal.js';
import { Store } from '../../src/posts/store.js';
import { closeLater, makeFolder } from './folder.js';
import { point } from './native.js';

/** Time of the first post, in microseconds. */
const FIRST = Date.UTC(2024, 0, 1) * 1000;

/** The post with this id, made `id` seconds after `FIRST`. */
export function newPost(id: number, key?: string): NewPost {
  const createdAt = FIRST + id * 1e6;
  const fields = { id, comment: `Grüße ${id}`, created_at: formatUtc(createdAt), tags: ['Valo'] };
  const record = renderPoint(point(fields));
  return { id, createdAt, record, ...(key === undefined ? {} : { key: keyOf(key) }) };
}

/** A move of the post of {@link newPost} from one id to another. */
export function moveOf(sequence: number, from: number, id: number): Move {
  const record = JSON.stringify({ ...JSON.parse(newPost(from).record), id });
  return { sequence, id, record };
}

export function keyOf(name: string): PostKey {
  return { name, body: name.length.toString(16).repeat(64).slice(0, 64) };
}

/** A path for a journal in a new folder; what `open` opens is closed after the file's tests. */
export function makeJournal(): {
  readonly path: string;
  readonly folder: string;
  open(options?: FileJournalOptions): Promise<OwnJournal>;
} {
  const folder = makeFolder();
  const path = join(folder, 'points.journal');
  const open = async (options: FileJournalOptions = {}): Promise<OwnJournal> => {
    const journal = await openJournal(path, options);
    closeLater(() => journal.close());
    return journal;
  };
  return { path, folder, open };
}

export async function postsIn(journal: Journal): Promise<readonly Post[]> {
  const posts: Post[] = [];
  for await (const some of readAll(journal, 0)) posts.push(...some);
  return posts;
}

/** `sequence:id` of each post. */
export function numbers(posts: Iterable<Pick<Post, 'sequence' | 'id'>>): string {
  return Array.from(posts, ({ sequence, id }) => `${sequence}:${id}`).join(' ');
}

/** Appends posts in one turn of the event loop: they share a batch. */
export function appendAll(journal: Journal, posts: readonly NewPost[]): Promise<Appended[]> {
  return Promise.all(posts.map((post) => journal.append(post)));
}

export async function numbersIn(journal: Journal): Promise<string> {
  return numbers(await postsIn(journal));
}

/** As {@link makeJournal}, for a store, which has no thread. */
export function makeStore(): {
  readonly path: string;
  open(onAnew?: (reason: string) => void): Store;
} {
  const folder = join(makeFolder(), 'inside');
  mkdirSync(folder);
  const path = join(folder, 'points.journal');
  const open = (onAnew?: (reason: string) => void): Store => {
    const store = new Store(path, false, onAnew);
    closeLater(() => store.abandon());
    return store;
  };
  return { path, open };
}
