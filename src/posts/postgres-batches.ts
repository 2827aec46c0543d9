import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Told } from './batches.js';
import { type Appended, JournalUnavailable, type NewPost, type Post } from './journal.js';
import { type Follower, postOf } from './postgres-follower.js';
import { type Link, type Row, Uncertain } from './postgres-link.js';

/** Between two tries to learn what became of a batch, in milliseconds. */
const RETRY_MS = 100;
const UNREACHABLE = 'the database cannot be reached';

interface SenderParts {
  readonly follower: Follower;
  /** How long a batch may take until it is certain, in milliseconds. */
  readonly timeoutMs: number;
  /** The connections that there are now. */
  link(): Link | undefined;
  /** Has it looked at once what is new. */
  ring(): void;
  /** Takes the seconds that each batch took until it was on stable storage. */
  onFlush(seconds: number): void;
  /** Takes why a batch is not certain, and returns what its posts are told. */
  failed(error: unknown): JournalUnavailable;
}

/** Has posts made durable by the database. */
export class Sender {
  readonly #parts: SenderParts;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Posts are told of once everybody here was. Rejects with what `failed` makes of a failure. */
  async send(posts: readonly NewPost[]): Promise<{ readonly told: Told }> {
    const began = performance.now();
    const deadline = began + this.#parts.timeoutMs;
    try {
      const rows = await this.#send(posts, deadline);
      this.#parts.onFlush((performance.now() - began) / 1000);
      return { told: this.#tell(appendedOf(posts, rows), deadline) };
    } catch (error) {
      throw this.#parts.failed(error);
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

  async #tell(appended: readonly (Appended | Error)[], deadline: number): Told {
    const own = appended.map((one) => (typeof one === 'number' ? one : sequenceOf(one)));
    const timer = new AbortController();
    const late = async (): Promise<never> => {
      await delay(Math.max(0, deadline - performance.now()), undefined, { signal: timer.signal });
      throw new JournalUnavailable('the journal fails: the instance is behind');
    };
    try {
      this.#parts.ring();
      await Promise.race([this.#parts.follower.until(Math.max(...own)), late()]);
      return appended;
    } finally {
      timer.abort();
    }
  }
}

function sequenceOf(one: Post | Error): number {
  return one instanceof Error ? 0 : one.sequence;
}

/** What became of each post; an error where its id may not be used any more. */
function appendedOf(posts: readonly NewPost[], rows: readonly Row[]): (Appended | Error)[] {
  const byId = new Map<number, number>();
  const byKey = new Map<string, Post>();
  for (const row of rows) {
    const post = postOf(row);
    if (post.key === undefined) byId.set(post.id, post.sequence);
    else byKey.set(post.key.name, post);
  }
  return posts.map((post) => {
    const { id, key } = post;
    const sequence = byId.get(id);
    if (key !== undefined && sequence !== undefined) byKey.set(key.name, { ...post, sequence });
    const found = sequence ?? (key && byKey.get(key.name));
    return found ?? new JournalUnavailable('a new snapshot uses the id of the point');
  });
}

/** A name that no other batch has. */
export function newName(): string {
  return randomBytes(9).toString('base64url');
}
