import type { Generation } from './generation.js';

/** Why something is not as it should be, such as that the newest snapshot is not the one served. */
export interface Stale {
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** A snapshot that is being built. */
export interface Building {
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly bytesRead: number;
  /** 0 until the first bytes have been read. */
  readonly bytesTotal: number;
}

/** Why no points are accepted before the first generation. */
export const NOT_SERVED = 'nothing is served yet';

/** Whether points are accepted. */
export interface PostsHealth {
  readonly accepted: boolean;
  /** Why not: without names of files. */
  readonly reason?: string;
}

/** How what is served compares with the snapshots that there are. */
export interface Health {
  readonly stale: Stale | undefined;
  readonly building: Building | undefined;
  readonly posts: PostsHealth;
  /** Whether the process is about to end. */
  readonly leaving: boolean;
}

/**
 * What is served, as everybody but its one writer sees it. A request takes the generation once and
 * keeps to it.
 */
export interface Current extends Health {
  /** Throws before the first generation: nobody listens until then. */
  readonly generation: Generation;
}

/** Somebody else who has to serve what the cell holds, such as another thread. */
export interface Follower {
  /** Resolves when the follower serves the generation. */
  serve(generation: Generation): Promise<void>;
  hear(health: Health): void;
}

/**
 * The one cell that is served. Each thread has one, made before anything that reads it; the main
 * thread's is written by the reloader, those of the others follow it.
 */
export class Cell implements Current {
  stale: Stale | undefined;
  building: Building | undefined;
  posts: PostsHealth = { accepted: false, reason: NOT_SERVED };
  leaving = false;
  #generation: Generation | undefined;
  readonly #followers: Follower[] = [];

  get generation(): Generation {
    if (this.#generation === undefined) throw new Error('No generation is served yet.');
    return this.#generation;
  }

  get isEmpty(): boolean {
    return this.#generation === undefined;
  }

  /** Has all followers serve the generation, then this thread; resolves when all of them do. */
  async publish(generation: Generation): Promise<void> {
    await Promise.all(this.#followers.map((one) => one.serve(generation)));
    this.#generation = generation;
  }

  /** Replaces what is given of the health. */
  tell(change: Partial<Health>): void {
    Object.assign(this, change);
    for (const one of this.#followers) one.hear(this.#health);
  }

  /** From now on the follower serves what this cell holds; resolves when it does. */
  async follow(follower: Follower): Promise<void> {
    this.#followers.push(follower);
    follower.hear(this.#health);
    if (this.#generation !== undefined) await follower.serve(this.#generation);
  }
  get #health(): Health {
    const { stale, building, posts, leaving } = this;
    return { stale, building, posts, leaving };
  }
}
