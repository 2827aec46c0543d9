import { setImmediate as turn } from 'node:timers/promises';
import type { Appended, NewPost } from './journal.js';

/** Posts that share a transaction at most: others wait for all of them. */
const MOST_POSTS = 1_024;

/** What became of each post of a batch, once those who listen were told of it. */
export type Told = Promise<readonly (Appended | Error)[]>;

/** A post, and who waits for what becomes of it. */
interface Waiting {
  readonly post: NewPost;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

/** Writes posts, as many at once as there are while a batch is under way. */
export class Batches {
  readonly #write: (posts: readonly NewPost[]) => Promise<{ readonly told: Told }>;
  #queue: Waiting[] = [];
  #writing: Promise<void> | undefined;

  /** `write` makes posts durable, and then the next ones may be written. */
  constructor(write: (posts: readonly NewPost[]) => Promise<{ readonly told: Told }>) {
    this.#write = write;
  }

  /** Rejects as `write` does, and what it tells. */
  append(post: NewPost): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ post, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves when no batch is under way. */
  async written(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      // those that arrive in the same turn of the event loop share a transaction
      await turn();
      const batch = this.#queue.splice(0, MOST_POSTS);
      try {
        const { told } = await this.#write(batch.map(({ post }) => post));
        void answer(batch, told);
      } catch (error) {
        for (const { reject } of [...batch, ...this.#queue.splice(0)]) reject(error);
      }
    }
    this.#writing = undefined;
  }
}

async function answer(batch: readonly Waiting[], told: Told): Promise<void> {
  try {
    for (const [i, one] of (await told).entries()) {
      if (one instanceof Error) batch[i]!.reject(one);
      else batch[i]!.resolve(one);
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
