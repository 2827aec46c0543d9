import type { Draft, Refused } from '../model/point.js';
import type { DeltasState } from '../reload/deltas.js';
import { Durations } from '../reload/stats.js';
import type { JournalState, PostKey } from './journal.js';
import { createImageStats, type ImageStats, type Upload } from './media/upload.js';

/** A point that a client wants to be accepted. Plain data: threads pass it on. */
export interface PostRequest {
  /** Problems where fields are wrong and there is an image, which may be wrong, too. */
  readonly draft: Draft | Refused;
  /** Whose token came with it. */
  readonly user: number | undefined;
  /** By which its client is counted. */
  readonly address: string;
  /** What makes the same post count once. */
  readonly key: PostKey | undefined;
  /** The image, as it came; whoever asks removes it afterwards. */
  readonly upload: Upload | undefined;
}

/** A point that was accepted. */
export interface Acknowledged {
  readonly id: number;
  /** Its JSON. */
  readonly record: string;
  /** Of the journal: whoever has this one or a later one has the point. */
  readonly sequence: number;
}

/** What became of a post. Plain data: threads pass it on. */
export type PostReply =
  /** Durable, and visible to every request that begins from now on. */
  | ({ readonly kind: 'accepted' } & Acknowledged)
  /** The key was used before, with the same body, for this record. */
  | ({ readonly kind: 'replayed' } & Acknowledged)
  | (Refused & { readonly kind: 'refused' })
  /** The key was used before, with another body. */
  | { readonly kind: 'key_reused' }
  /** The point could not be stored; nothing of it is visible. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Takes posts, on whichever thread. */
export interface Posts {
  post(request: PostRequest): Promise<PostReply>;
}

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
  deltas: { readonly state: DeltasState } | undefined;
}

/** Counts nothing yet. */
export function createPostStats(): PostStats {
  return {
    outcomes: { accepted: 0, replayed: 0, refused: 0, key_reused: 0, unavailable: 0 },
    flushes: new Durations(FLUSH_BOUNDS),
    images: createImageStats(),
    journal: undefined,
    deltas: undefined,
  };
}
