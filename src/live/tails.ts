import type { Logger } from 'pino';
import type { DatasetParts } from '../dataset/dataset.js';
import {
  type AcceptedPoint,
  appendToTail,
  continueTail,
  hasRoom,
  looksAt,
  type Tail,
  type TailCapacity,
  tailLength,
} from '../dataset/tail.js';
import { type Accepted, accept, type FirstTail, makeFirstTail } from './accepted.js';
import type { Cell } from './current.js';
import { type FoldTask, foldInThread } from './fold.js';
import { createGeneration, type Generation, withTail } from './generation.js';
import { reclaimMemory } from './reclaim.js';

export interface TailsOptions {
  /** Where the generations go. */
  readonly current: Cell;
  readonly logger: Pick<Logger, 'debug' | 'error'>;
  /** What a tail takes beside the points that it begins with. */
  readonly capacity?: TailCapacity;
  /**
   * From so many rows on a tail is folded into its generation, once it is a large part of it or
   * queries have spent as much on the tail as a fold takes.
   */
  readonly foldRows?: number;
  readonly fold?: (task: FoldTask) => Promise<DatasetParts>;
}

/** What the tails count. */
export interface TailsState {
  /** Points that are served beside the generation. */
  readonly rows: number;
  readonly folds: number;
  readonly foldsFailed: number;
  /** Seconds that all folds took together. */
  readonly foldSeconds: number;
}

/** Room for what is accepted while a large snapshot is folded, at 10,000 posts a second. */
const CAPACITY: TailCapacity = { rows: 131_072, bytes: 128 * 1024 * 1024 };
/** A tail with less room than this is full: some clients are being answered already. */
const RESERVE: TailCapacity = { rows: 1_024, bytes: 16 * 1024 * 1024 };
/** Every query looks at all rows of the tail: some 6 µs for so many. */
const FOLD_ROWS = 2_048;
/** A tail is large when it has this share of the generation, */
const LARGE_SHARE = 1 / 64;
/** or so many times the rows that are folded in at least: some 50 µs of each query. */
const LARGE_TIMES = 8;
/** What a fold takes for each point, in looks at a row: some 1.5 µs beside 3 ns. */
const LOOKS_A_POINT = 500;
/** How often it is looked whether queries have brought a fold forward. */
const LOOK_MS = 500;
/** Folded rows that a tail goes on to know, for validators that are older than the fold. */
const HISTORY_ROWS = 32_768;
/** Between two folds this share of the time at most is spent on folding. */
const MOST_FOLDING = 0.25;
/** After a fold that failed. */
const RETRY_MS = 5_000;

/**
 * The points that are accepted beside what snapshots have: the one writer of all tails. A tail goes
 * with its generation. While threads move from one generation to the next, points go to the tails
 * of both, so that it makes no difference which of them a thread serves.
 */
export class Tails {
  readonly #options: Required<TailsOptions>;
  /** The tails that some thread may serve. */
  readonly #open = new Set<Tail>();
  /** Of the generation that all threads serve. */
  #served: Tail | undefined;
  #publishing: Promise<void> = Promise.resolve();
  /** Points for which there is no room yet, and who waits for them. */
  #waiting: { readonly points: readonly AcceptedPoint[]; done(): void }[] = [];
  #isFolding = false;
  /** By `performance.now()`: no fold begins earlier. */
  #restsUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #folds = 0;
  #foldsFailed = 0;
  #foldSeconds = 0;

  constructor(options: TailsOptions) {
    const defaults = { capacity: CAPACITY, foldRows: FOLD_ROWS, fold: foldInThread };
    this.#options = { ...defaults, ...options };
  }

  get state(): TailsState {
    const tail = this.#served;
    return {
      rows: tail === undefined ? 0 : tailLength(tail) - tail.start,
      folds: this.#folds,
      foldsFailed: this.#foldsFailed,
      foldSeconds: this.#foldSeconds,
    };
  }

  /** Whether points should not be accepted now: there may be no room for them until a fold ends. */
  get isFull(): boolean {
    return this.#waiting.length > 0 || [...this.#open].some((tail) => !hasRoom(tail, RESERVE));
  }

  /**
   * Makes the tail that a new snapshot is to be served with out of the posts that wait. Until it is
   * served the caller lets nobody append: what is appended then comes behind these posts.
   */
  prepare(posts: readonly Accepted[]): Promise<FirstTail> {
    return makeFirstTail(posts, this.#options.capacity);
  }

  /** Serves a new snapshot with what was prepared; resolves when all threads serve both. */
  serve(generation: Generation, { tail, name }: FirstTail): Promise<void> {
    this.#open.add(tail);
    return this.#publish(() => withTail(generation, tail, name));
  }

  /**
   * Makes points visible to all requests from now on, in the sequence in which the journal took
   * them. Resolves at once, but where no tail has room: then after the next fold.
   */
  async append(posts: readonly Accepted[]): Promise<void> {
    const points = posts.map(accept);
    if (this.#waiting.length > 0 || !this.#tryAppend(points)) {
      await new Promise<void>((done) => {
        this.#waiting.push({ points, done });
        this.#foldIfDue();
      });
      return;
    }
    this.#foldIfDue();
  }

  #tryAppend(points: readonly AcceptedPoint[]): boolean {
    const bytes = points.reduce((sum, { record }) => sum + record.length, 0);
    const room = { rows: points.length, bytes };
    for (const tail of this.#open) if (!hasRoom(tail, room)) return false;
    for (const tail of this.#open) appendToTail(tail, points);
    return true;
  }

  #appendWaiting(): void {
    while (this.#waiting.length > 0 && this.#tryAppend(this.#waiting[0]!.points)) {
      this.#waiting.shift()!.done();
    }
  }

  /** Has all threads serve what is made, one generation after the other. */
  #publish(make: () => Generation | undefined): Promise<void> {
    const { current } = this.#options;
    const publishing = this.#publishing.then(async () => {
      const generation = make();
      if (generation === undefined) return;
      await current.publish(generation);
      if (this.#served !== undefined) this.#open.delete(this.#served);
      this.#served = generation.tail;
      this.#appendWaiting();
      this.#foldIfDue();
    });
    // the next one does not depend on it
    this.#publishing = publishing.catch(() => {});
    return publishing;
  }

  /** Begins a fold, unless there is one or none is due. It is asked for after each post. */
  #foldIfDue(): void {
    const { current, capacity, foldRows } = this.#options;
    if (this.#isFolding || current.isEmpty) return;
    const { generation } = current;
    const tail = generation.tail!;
    const rows = tailLength(tail) - tail.start;
    const isPressing = this.#waiting.length > 0 || rows > capacity.rows / 2;
    if (rows === 0 || (rows < foldRows && !isPressing)) return;
    if (!isPressing && !isWorthFolding(generation, tail, rows, foldRows)) {
      // queries may go on where posts do not
      this.#foldLater(LOOK_MS);
      return;
    }
    const rest = this.#restsUntil - performance.now();
    if (rest > 0 && !isPressing) this.#foldLater(rest);
    else void this.#foldNow(generation, tail, rows);
  }

  async #foldNow(generation: Generation, tail: Tail, rows: number): Promise<void> {
    const { logger } = this.#options;
    const startedAt = performance.now();
    this.#isFolding = true;
    logger.debug({ rows }, 'folding accepted points in');
    let hasFailed = false;
    try {
      await this.#fold(generation, tail);
      this.#folds++;
    } catch (error) {
      hasFailed = true;
      this.#foldsFailed++;
      logger.error({ err: error, rows }, 'accepted points not folded in');
      this.#foldLater(RETRY_MS);
    } finally {
      this.#isFolding = false;
    }
    const ms = performance.now() - startedAt;
    this.#foldSeconds += ms / 1000;
    this.#restsUntil = performance.now() + ms * (1 / MOST_FOLDING - 1);
    reclaimMemory();
    // of what came meanwhile nothing else may tell
    if (!hasFailed) this.#foldIfDue();
  }

  /** There may be no more posts that would see to it. */
  #foldLater(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#foldIfDue();
    }, ms).unref();
  }

  async #fold(generation: Generation, tail: Tail): Promise<void> {
    const { current, capacity, fold } = this.#options;
    const { parts } = generation;
    const length = tailLength(tail);
    const dataset = await fold({ parts: parts.dataset, tail, length });
    await this.#publish(() => {
      // another snapshot came meanwhile
      if (current.generation !== generation) return undefined;
      const next = continueTail(tail, length, HISTORY_ROWS, capacity);
      this.#open.add(next);
      return createGeneration({ ...parts, dataset, tail: next });
    });
  }
}

/** Whether a fold takes less than queries would go on to spend on the tail, as far as is known. */
function isWorthFolding({ count }: Generation, tail: Tail, rows: number, least: number): boolean {
  const isLarge = rows >= Math.min(count * LARGE_SHARE, least * LARGE_TIMES);
  return isLarge || looksAt(tail) >= count * LOOKS_A_POINT;
}
