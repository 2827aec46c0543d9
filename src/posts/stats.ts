import type { TailsState } from '../live/tails.js';
import { createImageStats, type ImageStats } from '../media/stats.js';
import type { JournalState } from './journal.js';
import type { PostReply } from './posts.js';

/** Upper bounds of the buckets of flushes, in seconds; what took longer is in one bucket more. */
export const FLUSH_BOUNDS: readonly number[] = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
];

/**
 * What is counted of accepted points, in plain numbers; all at nought where points are only read.
 */
export interface PostStats {
  readonly outcomes: Record<PostReply['kind'], number>;
  /** Flushes of the journal by the first of {@link FLUSH_BOUNDS} that they kept to. */
  readonly buckets: number[];
  /** Of all flushes. */
  flushSeconds: number;
  readonly images: ImageStats;
  /** Of the journal, once there is one. */
  journal: { readonly state: JournalState } | undefined;
  /** Of the points that are not part of a generation yet, once any are taken. */
  tails: { readonly state: TailsState } | undefined;
}

/** Counts nothing yet. */
export function createPostStats(): PostStats {
  return {
    outcomes: { accepted: 0, replayed: 0, refused: 0, key_reused: 0, unavailable: 0 },
    buckets: Array<number>(FLUSH_BOUNDS.length + 1).fill(0),
    flushSeconds: 0,
    images: createImageStats(),
    journal: undefined,
    tails: undefined,
  };
}

/** Counts a flush of the journal that took `seconds`. */
export function countFlush(stats: PostStats, seconds: number): void {
  const bucket = FLUSH_BOUNDS.findIndex((bound) => seconds <= bound);
  stats.buckets[bucket === -1 ? FLUSH_BOUNDS.length : bucket]!++;
  stats.flushSeconds += seconds;
}
