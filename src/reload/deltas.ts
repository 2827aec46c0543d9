import type { Logger } from 'pino';
import {
  type AcceptedPoint,
  appendToDelta,
  continueDelta,
  type Delta,
  type DeltaSize,
  deltaLength,
  hasRoom,
  sizeOf,
} from '../index/delta.js';
import { createQueue } from '../model/turns.js';
import { reclaimMemory } from './background.js';
import { type Cell, createGeneration, type Generation, type GenerationParts } from './current.js';
import { Beginning, createMerger, fillOf, LEAST_FILL, type Merge } from './merge.js';

export interface DeltasOptions {
  readonly current: Cell;
  readonly logger: Pick<Logger, 'debug' | 'error'>;
  readonly capacity?: DeltaSize;
  /** How long a reservation waits for a merge, in milliseconds. */
  readonly patienceMs?: number;
  /** The pause after a failed merge, in milliseconds. */
  readonly retryMs?: number;
  readonly merge?: Merge;
}

/** Gives room back: the points have been appended by now, or never will be. */
type Release = () => void;

/** The size is that of the served delta. */
export interface DeltasState extends DeltaSize {
  readonly merges: number;
  readonly mergesFailed: number;
  /** Why there is no room for more points; undefined while there is. */
  readonly problem: string | undefined;
}

/** Each query looks at all rows of a delta, in one go: some 100 µs for a full one. */
const CAPACITY: DeltaSize = { rows: 32_768, bytes: 32 * 1024 * 1024 };
/** Filled to this share a delta is merged at once: the other half has room for what comes then. */
const MERGE_FILL = 1 / 2;
/** From {@link LEAST_FILL} on a delta is merged if merges take at most this share of the time. */
const MOST_MERGING = 1 / 100;
const PATIENCE_MS = 5_000;
const RETRY_MS = 5_000;

/**
 * The one writer of all deltas, one a generation. While threads move from one generation to the
 * next, points go to the deltas of both, so that it makes no difference which one a thread serves.
 */
export class Deltas {
  readonly #options: Required<DeltasOptions>;
  /** The deltas that some thread may serve. */
  readonly #open = new Set<Delta>();
  /** Room in every open delta for points that are being journaled. */
  #reserved: DeltaSize = { rows: 0, bytes: 0 };
  /** The queue for room: the next one's turn begins when one has room, or was refused. */
  readonly #asking = createQueue();
  /** By `performance.now()`: when the last {@link exclusively} ended. */
  #exclusiveUntil = 0;
  /** Wakes the head of the queue; undefined while it does not sleep. */
  #wake: (() => void) | undefined;
  /** Whether the head of the queue waits for room. */
  #isWanted = false;
  /** Whether somebody was refused since there was room. */
  #isRefusing = false;
  /** Of the generation that all threads serve. */
  #served: Delta | undefined;
  readonly #publishing = createQueue();
  #isMerging = false;
  /** By `performance.now()`: a delta that is not half full is not merged earlier. */
  #restsUntil = 0;
  /** By `performance.now()`: after a failure no merge begins earlier. */
  #retriesAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #merges = 0;
  #mergesFailed = 0;
  #failure: string | undefined;

  constructor(options: DeltasOptions) {
    const defaults = { capacity: CAPACITY, patienceMs: PATIENCE_MS, retryMs: RETRY_MS };
    this.#options = { ...defaults, merge: createMerger(), ...options };
  }

  get state(): DeltasState {
    return {
      ...(this.#served === undefined ? { rows: 0, bytes: 0 } : sizeOf(this.#served)),
      merges: this.#merges,
      mergesFailed: this.#mergesFailed,
      problem: this.#problem(),
    };
  }

  #problem(): string | undefined {
    if (!this.#isRefusing) return undefined;
    if (this.#failure === undefined)
      return 'points come faster than they are made part of the data';
    return `accepted points cannot be made part of the data: ${this.#failure}`;
  }

  /** Begins a new snapshot: posts that it lacks are added before it is served. */
  begin(parts: GenerationParts): Beginning {
    const { capacity, merge } = this.#options;
    return new Beginning(parts, capacity, merge);
  }

  /**
   * Serves a beginning that has all posts up to the sequence `base`. The caller lets nobody append
   * until this resolves; `done` resolves when all threads serve it.
   */
  async serve(beginning: Beginning, base: number): Promise<{ readonly done: Promise<void> }> {
    const parts = await beginning.finish(base);
    this.#open.add(parts.delta);
    return { done: this.#publish(() => createGeneration(parts)) };
  }

  /**
   * Reserves room for `rows` points with `bytes` bytes of records. Where there is none it waits its
   * turn for a merge; resolves with undefined when none ends in time, or no delta is that large.
   */
  reserve(rows: number, bytes: number): Promise<Release | undefined> {
    const asked = performance.now();
    return this.#asking(() => {
      // who waited for a snapshot has not waited for room yet
      const since = Math.max(asked, this.#exclusiveUntil);
      return this.#reserve({ rows, bytes }, since + this.#options.patienceMs);
    });
  }

  async #reserve(size: DeltaSize, until: number): Promise<Release | undefined> {
    if (fillOf(size, this.#options.capacity) > 1) return undefined;
    for (;;) {
      const { rows, bytes } = this.#reserved;
      const wanted = { rows: rows + size.rows, bytes: bytes + size.bytes };
      if ([...this.#open].every((delta) => hasRoom(delta, wanted))) {
        this.#reserved = wanted;
        break;
      }
      const left = until - performance.now();
      this.#isRefusing ||= left <= 0;
      if (left <= 0) return undefined;
      const woken = this.#woken(left);
      this.#isWanted = true;
      this.#mergeIfDue();
      await woken;
      this.#isWanted = false;
    }
    this.#isRefusing = false;
    let isReserved = true;
    return () => {
      const { rows, bytes } = this.#reserved;
      if (isReserved) this.#reserved = { rows: rows - size.rows, bytes: bytes - size.bytes };
      isReserved = false;
      this.#wake?.();
    };
  }

  /** Runs `work` while no room is reserved; reservations wait for it. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#asking(async () => {
      try {
        while (this.#reserved.rows > 0) await this.#woken();
        return await work();
      } finally {
        this.#exclusiveUntil = performance.now();
      }
    });
  }

  /** Resolves once room was given back or made, or after `ms` milliseconds. */
  #woken(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => this.#wake?.(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** Makes points visible to all requests, in the journal's order. Their room is reserved. */
  append(points: readonly AcceptedPoint[]): void {
    for (const delta of this.#open) appendToDelta(delta, points);
    this.#mergeIfDue();
  }

  /** Appends points as room comes for them, but none twice. Rejects where no room comes. */
  async follow(points: readonly AcceptedPoint[]): Promise<void> {
    for (const point of points) {
      const release = await this.reserve(1, point.record.length);
      if (release === undefined) throw new Error(this.#problem() ?? 'a point is too large');
      this.append([point]);
      release();
    }
  }

  /** Has all threads serve what is made, one generation after the other. */
  #publish(make: () => Generation | undefined): Promise<void> {
    const { current } = this.#options;
    return this.#publishing(async () => {
      const generation = make();
      if (generation === undefined) return;
      await current.publish(generation);
      if (this.#served !== undefined) this.#open.delete(this.#served);
      this.#served = generation.delta;
      this.#wake?.();
      this.#mergeIfDue();
    });
  }

  /** Begins a merge, unless one is under way or none is due. Called after each post. */
  #mergeIfDue(): void {
    const { current, capacity } = this.#options;
    if (this.#isMerging || current.isEmpty) return;
    const { generation } = current;
    const delta = generation.delta!;
    const size = sizeOf(delta);
    const fill = this.#isWanted ? 1 : fillOf(size, capacity);
    if (size.rows === 0 || fill < LEAST_FILL) return;
    const restsUntil = fill < MERGE_FILL ? this.#restsUntil : 0;
    const rest = Math.max(restsUntil, this.#retriesAt) - performance.now();
    clearTimeout(this.#timer);
    // there may be no later post to begin the merge
    if (rest > 0) this.#timer = setTimeout(() => this.#mergeIfDue(), rest).unref();
    else void this.#mergeNow(generation, delta, size.rows);
  }

  async #mergeNow(generation: Generation, delta: Delta, rows: number): Promise<void> {
    const { logger, retryMs } = this.#options;
    const startedAt = performance.now();
    this.#isMerging = true;
    logger.debug({ rows }, 'merging accepted points');
    try {
      await this.#merge(generation, delta);
      this.#merges++;
      this.#failure = undefined;
      this.#restsUntil = performance.now() + (performance.now() - startedAt) / MOST_MERGING;
    } catch (error) {
      this.#mergesFailed++;
      this.#failure = (error as Error).message;
      this.#retriesAt = performance.now() + retryMs;
      logger.error({ err: error, rows }, 'accepted points not merged');
    }
    this.#isMerging = false;
    reclaimMemory();
    // what came meanwhile may make the next one due
    this.#mergeIfDue();
  }

  async #merge(generation: Generation, delta: Delta): Promise<void> {
    const { current, capacity, merge } = this.#options;
    const { parts } = generation;
    const length = deltaLength(delta);
    const dataset = await merge(parts.dataset, delta, length);
    await this.#publish(() => {
      // another snapshot came meanwhile
      if (current.generation !== generation) return undefined;
      const next = continueDelta(delta, length, capacity);
      this.#open.add(next);
      return createGeneration({ ...parts, dataset, delta: next });
    });
  }
}
