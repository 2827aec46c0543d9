import { setImmediate as turn } from 'node:timers/promises';
import type { DatasetParts } from '../index/dataset.js';
import {
  type AcceptedPoint,
  appendToDelta,
  continueDelta,
  createDelta,
  type Delta,
  type DeltaRow,
  type DeltaSize,
  deltaLength,
  hasRoom,
  sizeOf,
} from '../index/delta.js';
import { type Offer, startThread } from '../model/calls.js';
import { reclaimMemory, stepBack } from './background.js';
import type { GenerationParts } from './current.js';

/** Makes rows of a delta, those below `length`, part of a dataset. */
export type Merge = (parts: DatasetParts, delta: Delta, length: DeltaRow) => Promise<DatasetParts>;

/** Nice value. Requests go first, but posts may wait: at 10 it gets a tenth of a busy core. */
const PRIORITY = 5;

export async function offer(): Promise<Offer> {
  const { mergeDataset } = await import('../index/merge-dataset.js');
  stepBack(PRIORITY);
  const merge: Merge = async (...given) => {
    const merged = mergeDataset(...given);
    // the main thread has the merged memory now
    reclaimMemory();
    return merged;
  };
  return [{ merge }];
}

/**
 * Merges in a thread of low priority, which stays: to load and compile its code costs more than a
 * merge. A merge rejects when the thread dies, such as out of memory; the next one starts another.
 */
export function createMerger(): Merge {
  let merge: Merge | undefined;
  return (...given) => {
    if (merge === undefined) {
      const { thread, calls } = startThread<{ merge: Merge }>('merge', import.meta.url);
      thread.on('exit', () => {
        merge = undefined;
      });
      // an unfinished merge must not keep the process alive
      thread.unref();
      merge = (...task) => calls.call('merge', ...task);
    }
    return merge(...given);
  };
}

/** Filled to this share, in rows or in bytes, a delta may be merged. */
export const LEAST_FILL: number = 1 / 16;
/** Posts that a snapshot lacks are merged by this many deltas at a time. */
const BACKLOG_TIMES = 4;
/** Points that are added in a turn of the event loop, at some 10 µs. */
const TURN_POINTS = 256;

/** A snapshot that is not served yet, and the posts that it lacks. */
export class Beginning {
  #parts: GenerationParts;
  #delta: Delta;
  readonly #capacity: DeltaSize;
  readonly #most: DeltaSize;
  readonly #merge: Merge;

  constructor(parts: GenerationParts, capacity: DeltaSize, merge: Merge) {
    const { rows, bytes } = capacity;
    this.#parts = parts;
    this.#capacity = capacity;
    this.#most = { rows: BACKLOG_TIMES * rows, bytes: BACKLOG_TIMES * bytes };
    this.#delta = createDelta(this.#most);
    this.#merge = merge;
  }

  /** Adds a post, in the order of the sequences. Requests are answered in between. */
  async add(point: AcceptedPoint): Promise<void> {
    const { rows } = sizeOf(this.#delta);
    if (rows % TURN_POINTS === TURN_POINTS - 1) await turn();
    if (!hasRoom(this.#delta, { rows: 1, bytes: point.record.length })) await this.#mergeAll();
    appendToDelta(this.#delta, [point]);
  }

  /** The snapshot with its first delta; both have all posts up to the sequence `base`. */
  async finish(base: number): Promise<GenerationParts & { readonly delta: Delta }> {
    if (fillOf(sizeOf(this.#delta), this.#capacity) >= LEAST_FILL) await this.#mergeAll();
    const delta = { ...continueDelta(this.#delta, 0, this.#capacity), base };
    return { ...this.#parts, delta };
  }

  async #mergeAll(): Promise<void> {
    const length = deltaLength(this.#delta);
    const dataset = await this.#merge(this.#parts.dataset, this.#delta, length);
    this.#parts = { ...this.#parts, dataset };
    this.#delta = continueDelta(this.#delta, length, this.#most);
    reclaimMemory();
  }
}

/** The share of a capacity that is taken, of its rows or of its bytes, whichever is more. */
export function fillOf({ rows, bytes }: DeltaSize, capacity: DeltaSize): number {
  return Math.max(rows / capacity.rows, bytes / capacity.bytes);
}
