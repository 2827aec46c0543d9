import type { Post, SpentKey } from './journal.js';
import { spentKey } from './line.js';
import type { Contents } from './reading.js';

/** How long a key is remembered, in milliseconds. */
export const KEY_LIFETIME: number = 24 * 60 * 60 * 1000;

/** The keys of the posts and of those before them that were accepted at `since` or later. */
export function* keysSince(
  { posts, keys }: Pick<Contents, 'posts' | 'keys'>,
  since: number,
): Generator<SpentKey, void, undefined> {
  for (const key of keys) if (key.acceptedAt >= since) yield key;
  for (const { key, point } of posts) {
    if (key === undefined) continue;
    const spent = spentKey(key, point);
    if (spent.acceptedAt >= since) yield spent;
  }
}

/**
 * What stays of a journal without the posts that are retired, and with the new ids of those that
 * are moved; `undefined` when that is all of it. Keys that were accepted before `since` go.
 */
export function select(
  contents: Contents,
  isRetired: (post: Post) => boolean,
  moves: ReadonlyMap<number, number>,
  since: number,
): Contents | undefined {
  const posts: Post[] = [];
  const keys = contents.keys.filter((key) => key.acceptedAt >= since);
  let { nextId } = contents;
  let isChanged = false;
  for (const post of contents.posts) {
    const { sequence, point, key, movedFrom } = post;
    const id = moves.get(sequence);
    const isGone = isRetired(post);
    if (!isGone && (id === undefined || id === point.id)) {
      posts.push(post);
      continue;
    }
    isChanged = true;
    // a client that asks again is answered with the record as it was acknowledged
    if (key !== undefined) keys.push(...keysSince({ posts: [post], keys: [] }, since));
    if (isGone || id === undefined) continue;
    posts.push({ sequence, point: { ...point, id }, movedFrom: movedFrom ?? point.id });
    nextId = Math.max(nextId, id + 1);
  }
  return isChanged ? { ...contents, posts, keys, nextId } : undefined;
}
