import { setImmediate as turn } from 'node:timers/promises';
import {
  type AcceptedPoint,
  appendToDelta,
  continueDelta,
  createDelta,
  type Delta,
  type DeltaSize,
  deltaLength,
  hasRoom,
  sizeOf,
} from '../index/delta.js';
import { reclaimMemory } from './background.js';
import { createGeneration, type Generation } from './current.js';
import type { Merge } from './merge.js';

/** Filled to this share, in rows or in bytes, a delta may be merged. */
export const LEAST_FILL: number = 1 / 16;
/** So many times what a delta takes is merged at once where more posts wait. */
const BACKLOG_TIMES = 4;
/** Points that are added in a turn of the event loop, at some 10 µs. */
const TURN_POINTS = 256;

/** A snapshot on its way to be served, and the posts beside it: more than a few are merged. */
export class Beginning {
  #generation: Generation;
  #delta: Delta;
  readonly #capacity: DeltaSize;
  readonly #most: DeltaSize;
  readonly #merge: Merge;

  constructor(generation: Generation, capacity: DeltaSize, merge: Merge) {
    const { rows, bytes } = capacity;
    this.#generation = generation;
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

  /** The generation and its first delta; `base` is the sequence up to which there are no others. */
  async finish(base: number): Promise<{ generation: Generation; delta: Delta }> {
    if (fillOf(sizeOf(this.#delta), this.#capacity) >= LEAST_FILL) await this.#mergeAll();
    const delta = { ...continueDelta(this.#delta, 0, this.#capacity), base };
    return { generation: this.#generation, delta };
  }

  async #mergeAll(): Promise<void> {
    const { parts } = this.#generation;
    const length = deltaLength(this.#delta);
    const dataset = await this.#merge(parts.dataset, this.#delta, length);
    this.#generation = createGeneration({ ...parts, dataset });
    this.#delta = continueDelta(this.#delta, length, this.#most);
    reclaimMemory();
  }
}

/** The share of a capacity that is taken, of its rows or of its bytes, whichever is more. */
export function fillOf({ rows, bytes }: DeltaSize, capacity: DeltaSize): number {
  return Math.max(rows / capacity.rows, bytes / capacity.bytes);
}
