import { assembleDataset, type DatasetParts } from '../index/dataset.js';
import { type Delta, type DeltaRow, deltaLength, lastSequence, lastTime } from '../index/delta.js';
import { firstAbove } from '../index/order.js';
import type { Unseen } from '../model/notification.js';
import { Engine } from '../query/engine.js';

const TAG_DIGITS = 16;

/** What threads send each other of a generation; the memory of its points is shared. */
export interface GenerationParts {
  readonly dataset: DatasetParts;
  /** Notifications of the snapshot, and of a file of their own. */
  readonly unseen: Unseen;
  /** The digest of all files that the generation was made from. */
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly loadedAt: number;
  /** Undefined where no points are accepted. */
  readonly delta?: Delta | undefined;
  /** The name of the journal that accepted points come from; empty where it has none. */
  readonly journal?: string;
  /** Whether the journal is this process's own, whose posts may be pruned. */
  readonly isOwn?: boolean;
}

/**
 * What a request is answered from: a snapshot and the points accepted up to a moment. The same
 * state has the same name in every process, and before and after a merge.
 */
export interface State {
  /**
   * The tag of the snapshot; behind it, where points are accepted, journal and last sequence. The
   * journal's name has a suffix where posts up to there are no points of their own: an older
   * snapshot lacks those that were pruned since.
   */
  readonly name: string;
  /** The tag of the snapshot. */
  readonly snapshot: string;
  /** Rows of the delta that belong to the state. */
  readonly length: DeltaRow;
  /** When the snapshot was exported or the last point accepted, the later of both: an HTTP date. */
  readonly lastModified: string;
}

/** What one snapshot serves: points, notifications, and what tells it from the next one. */
export interface Generation {
  readonly parts: GenerationParts;
  readonly engine: Engine;
  readonly delta: Delta | undefined;
  /** Names the snapshot: the first digits of its digest. */
  readonly tag: string;
  /** The state now: the same object until another point is accepted. */
  state(): State;
}

/** Makes a snapshot ready to serve, in a few milliseconds; each thread does so for itself. */
export function createGeneration(parts: GenerationParts): Generation {
  const engine = new Engine(assembleDataset(parts.dataset));
  const tag = parts.digest.slice(0, TAG_DIGITS);
  return { parts, engine, delta: parts.delta, tag, state: createStates(parts, tag) };
}

/** The texts of a state are made once a post, not once a request. */
function createStates(parts: GenerationParts, tag: string): () => State {
  const { dataset, delta, journal = '', isOwn = false } = parts;
  const exportedAt = dataset.report.createdAt;
  let last: State | undefined;

  function make(length: DeltaRow): State {
    const sequence = delta && lastSequence(delta, length);
    const own = dataset.count + length - dataset.report.points;
    const gone = isOwn && sequence !== undefined ? sequence - own : 0;
    const suffix = gone === 0 ? '' : `-${gone.toString(36)}`;
    const lastAt = delta === undefined ? exportedAt : lastTime(delta, length) / 1000;
    return {
      name: sequence === undefined ? tag : `${tag}.${journal}${suffix}.${sequence.toString(36)}`,
      snapshot: tag,
      length,
      lastModified: new Date(Math.max(exportedAt, lastAt)).toUTCString(),
    };
  }

  return () => {
    const length = delta === undefined ? 0 : deltaLength(delta);
    if (last?.length !== length) last = make(length);
    return last;
  };
}

/** Tells a generation from all others of this process, in every thread. */
export function identityOf({ tag, parts, delta }: Generation): string {
  return `${tag} ${parts.loadedAt} ${delta?.base}`;
}

export function pointsServed({ parts, delta }: Generation): number {
  return parts.dataset.count + (delta === undefined ? 0 : deltaLength(delta));
}

/** The sequence up to which all posts are served, or were passed over; 0 without a journal. */
export function servedSequence({ delta }: Pick<Generation, 'delta'>): number {
  return delta === undefined ? 0 : lastSequence(delta, deltaLength(delta));
}

interface UnseenOfUser {
  readonly count: number;
  /** As JSON, newest id first. */
  slice(from: number, to: number): string[];
}

export function unseenOf({ users, ends, texts }: Unseen, user: number): UnseenOfUser {
  const first = firstAbove(users, user - 1);
  const textAt = (at: number): string => {
    const from = at === 0 ? 0 : ends[at - 1]!;
    return Buffer.from(texts.buffer, from, ends[at]! - from).toString();
  };
  return {
    count: firstAbove(users, user) - first,
    slice: (from, to) => Array.from({ length: to - from }, (_, i) => textAt(first + from + i)),
  };
}

/** Why the newest snapshot is not the one served. */
interface Stale {
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

interface Building {
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly bytesRead: number;
  /** 0 until the first bytes have been read. */
  readonly bytesTotal: number;
}

interface PostsHealth {
  readonly accepted: boolean;
  /** Why not: without names of files. */
  readonly reason?: string | undefined;
}

/** What operators learn of the service beside its generation. */
export interface Health {
  readonly stale: Stale | undefined;
  readonly building: Building | undefined;
  readonly posts: PostsHealth;
  /** Whether the process is about to end. */
  readonly leaving: boolean;
}

/** What is served, for readers. A request takes the generation once and keeps to it. */
export interface Current extends Health {
  /** Throws before the first generation: nobody listens until then. */
  readonly generation: Generation;
}

/** Serves what the cell holds, such as another thread; `serve` resolves when it does. */
export interface Follower {
  serve(generation: Generation): Promise<void>;
  hear(change: Partial<Health>): void;
}

/**
 * The generation that is served, one cell a thread. The main thread's cell has one writer: the
 * deltas or, where no points are accepted, the intake. The cells of other threads follow it.
 */
export class Cell implements Current {
  stale: Stale | undefined;
  building: Building | undefined;
  posts: PostsHealth = { accepted: true };
  leaving = false;
  #generation: Generation | undefined;
  /** The generation that followers serve, or are taking over. */
  #newest: Generation | undefined;
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
    this.#newest = generation;
    await Promise.all(this.#followers.map((one) => one.serve(generation)));
    this.#generation = generation;
  }

  /** Changes the health, here and in all followers. */
  tell(change: Partial<Health>): void {
    Object.assign(this, change);
    for (const one of this.#followers) one.hear(change);
  }

  /** From now on the follower serves what this cell holds; resolves when it does. */
  async follow(follower: Follower): Promise<void> {
    const { stale, building, posts, leaving } = this;
    this.#followers.push(follower);
    follower.hear({ stale, building, posts, leaving });
    if (this.#newest !== undefined) await follower.serve(this.#newest);
  }
}
