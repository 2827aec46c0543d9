import { randomBytes } from 'node:crypto';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { type Appended, JournalUnavailable, type NewPost, type Post } from './journal.js';
import { type Follower, postOf } from './postgres-follower.js';
import { type Link, type Row, Uncertain } from './postgres-link.js';

/** Calls that share a transaction at most. */
const MAX_CALLS = 1_024;
/** Between two tries to learn what became of a batch, in milliseconds. */
const RETRY_MS = 100;
const UNREACHABLE = 'the database cannot be reached';

/** One call of `append`. */
interface Call {
  readonly posts: readonly NewPost[];
  resolve(appended: readonly Appended[]): void;
  reject(error: unknown): void;
}

interface BatchesParts {
  readonly follower: Follower;
  /** How long a batch may take until it is certain, in milliseconds. */
  readonly timeoutMs: number;
  /** The connections that there are now. */
  link(): Link | undefined;
  /** Has it looked at once what is new. */
  ring(): void;
  /** Takes the seconds that each batch took until it was on stable storage. */
  onFlush(seconds: number): void;
  /** Takes why a batch is not certain, and returns what its calls are told. */
  failed(error: unknown): JournalUnavailable;
}

/** Sends posts to the database, as many at once as there are while a batch is under way. */
export class Batches {
  readonly #parts: BatchesParts;
  #queue: Call[] = [];
  #draining: Promise<void> | undefined;

  constructor(parts: BatchesParts) {
    this.#parts = parts;
  }

  /** Resolves when no batch is under way. */
  async drained(): Promise<void> {
    await this.#draining;
  }

  /** As the journal's `append`. */
  append(posts: readonly NewPost[]): Promise<readonly Appended[]> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ posts, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // those that arrive in the same turn of the event loop share a transaction
      await turn();
      await this.#commit(this.#queue.splice(0, MAX_CALLS));
    }
    this.#draining = undefined;
  }

  /** Has posts made durable; their calls end once everybody here was told of them. */
  async #commit(calls: readonly Call[]): Promise<void> {
    const posts = calls.flatMap((call) => call.posts);
    const deadline = performance.now() + this.#parts.timeoutMs;
    const began = performance.now();
    try {
      const rows = await this.#send(posts, deadline);
      this.#parts.onFlush((performance.now() - began) / 1000);
      const appended = appendedOf(posts, rows);
      void this.#answer(calls, appended, deadline);
    } catch (error) {
      const reason = this.#parts.failed(error);
      for (const { reject } of [...calls, ...this.#queue.splice(0)]) reject(reason);
    }
  }

  /** Sends a batch under one name until it is certain that it is there, once. */
  async #send(posts: readonly NewPost[], deadline: number): Promise<readonly Row[]> {
    const name = newName();
    const keys = new Set<string>();
    const given = JSON.stringify(
      posts.flatMap(({ id, createdAt, record, key }, at) => {
        // of those with the same key the first one counts
        if (key !== undefined && keys.size === keys.add(key.name).size) return [];
        return { at, id, created_at: createdAt, record, key: key?.name, body: key?.body };
      }),
    );
    for (;;) {
      const left = deadline - performance.now();
      try {
        const link = this.#parts.link();
        if (link === undefined) throw new Uncertain(UNREACHABLE);
        return await link.write(
          'SELECT * FROM waypost.append($1, $2::text::json)',
          [name, given],
          left,
        );
      } catch (error) {
        if (!(error instanceof Uncertain) || performance.now() >= deadline) throw error;
        this.#parts.ring();
        await delay(Math.min(RETRY_MS, Math.max(0, deadline - performance.now())));
      }
    }
  }

  async #answer(
    calls: readonly Call[],
    appended: readonly (Appended | undefined)[],
    deadline: number,
  ): Promise<void> {
    let from = 0;
    const own = appended.map((one) => (typeof one === 'object' ? one.sequence : (one ?? 0)));
    const timer = new AbortController();
    const late = async (): Promise<never> => {
      await delay(Math.max(0, deadline - performance.now()), undefined, { signal: timer.signal });
      throw new JournalUnavailable('the journal fails: the instance is behind');
    };
    try {
      this.#parts.ring();
      await Promise.race([this.#parts.follower.until(Math.max(...own)), late()]);
      for (const { posts, resolve, reject } of calls) {
        const mine = appended.slice(from, from + posts.length);
        from += posts.length;
        if (mine.every((one) => one !== undefined)) resolve(mine);
        else reject(new JournalUnavailable('a new snapshot uses the id of the point'));
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    } finally {
      timer.abort();
    }
  }
}

/** What became of each post; undefined where its id may not be used any more. */
function appendedOf(
  posts: readonly NewPost[],
  rows: readonly Row[],
): readonly (Appended | undefined)[] {
  const byId = new Map<number, number>();
  const byKey = new Map<string, Post>();
  for (const row of rows) {
    const post = postOf(row);
    if (post.key === undefined) byId.set(post.id, post.sequence);
    else byKey.set(post.key.name, post);
  }
  return posts.map((post) => {
    const sequence = byId.get(post.id);
    if (post.key === undefined) return sequence;
    if (sequence !== undefined) byKey.set(post.key.name, { ...post, sequence });
    return sequence ?? byKey.get(post.key.name);
  });
}

/** A name that no other batch has. */
export function newName(): string {
  return randomBytes(9).toString('base64url');
}
