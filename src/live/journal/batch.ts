import type { NewPost, Post } from './journal.js';
import { isKey, postLines } from './line.js';

/** Characters that are written at once. */
const MAX_BATCH = 4 * 1024 * 1024;

/** A caller of `append` that waits. */
export interface Call {
  readonly posts: readonly NewPost[];
  readonly resolve: (posts: readonly Post[]) => void;
  readonly reject: (error: Error) => void;
}

/** Posts that are written together, with one `fdatasync`. */
export interface Batch {
  readonly calls: readonly Call[];
  /** The posts of each call, with their sequences. */
  readonly numbered: readonly (readonly Post[])[];
  readonly count: number;
  readonly lines: string;
  /** The sequence of the last post. */
  readonly last: number;
}

/** Throws a RangeError for posts that could not be read again. */
export function requireReadable(posts: readonly NewPost[]): void {
  for (const { key, point } of posts) {
    if (key !== undefined && !isKey(key)) throw new RangeError(`no key: ${JSON.stringify(key)}`);
    if (point.id >= Number.MAX_SAFE_INTEGER) throw new RangeError(`no id is above ${point.id}`);
  }
}

/**
 * Takes calls from the front of a queue and numbers their posts from `last` on; `expected` and
 * `foreign` are as of {@link postLines}. A call whose posts are too long is rejected by itself.
 */
export function takeBatch(queue: Call[], last: number, expected: number, foreign: number): Batch {
  const calls: Call[] = [];
  const all: (readonly Post[])[] = [];
  let lines = '';
  let count = 0;
  let end = last;
  while (lines.length < MAX_BATCH) {
    const call = queue.shift();
    if (call === undefined) break;
    const first = end + 1;
    const numbered = call.posts.map(({ point, key }, i): Post => {
      const sequence = first + i;
      return key === undefined ? { sequence, point } : { sequence, point, key };
    });
    try {
      lines += postLines(numbered, count === 0 ? expected : first, foreign, call.posts);
    } catch (error) {
      call.reject(error as RangeError);
      continue;
    }
    calls.push(call);
    all.push(numbered);
    count += numbered.length;
    end += numbered.length;
  }
  return { calls, numbered: all, count, lines, last: end };
}
