import { Durations } from '../durations.js';
import type { TailsState } from '../live/tails.js';
import { createImageStats, type ImageStats } from '../media/stats.js';
import type { JournalState } from './journal.js';
import type { PostReply } from './posts.js';

/** Upper bounds of the buckets of flushes, in seconds. */
const FLUSH_BOUNDS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
];

/**
 * What is counted of accepted points, in plain numbers; all at nought where points are only read.
 */
export interface PostStats {
  readonly outcomes: Record<PostReply['kind'], number>;
  /** Of the journal. */
  readonly flushes: Durations;
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
    flushes: new Durations(FLUSH_BOUNDS),
    images: createImageStats(),
    journal: undefined,
    tails: undefined,
  };
}
