import type { Dataset } from '../dataset/dataset.js';
import { rankOf } from '../dataset/order.js';
import type { Point } from '../model/point.js';

/** What a snapshot can be compared with of a journaled post. */
export interface WaitingPost {
  readonly sequence: number;
  readonly point: Point;
  /** The id under which the point was acknowledged, where it has another one by now. */
  readonly movedFrom?: number | undefined;
}

/** What becomes of the posts that wait when another snapshot is to be served. */
export interface Settlement<T extends WaitingPost> {
  /** The snapshot contains them. */
  readonly retired: readonly T[];
  /** They are served beside the snapshot. */
  readonly kept: readonly T[];
  /** The same, but the snapshot has another record under their id: they need fresh ones. */
  readonly moved: readonly T[];
}

/**
 * Compares a snapshot with the posts that wait. It contains those up to its watermark, which is a
 * sequence number, and those of which it has a record with the same id and time of creation.
 */
export function settle<T extends WaitingPost>(
  { byId, byCreatedAt }: Pick<Dataset, 'byId' | 'byCreatedAt'>,
  posts: Iterable<T>,
  watermark = 0,
): Settlement<T> {
  const retired: T[] = [];
  const kept: T[] = [];
  const moved: T[] = [];
  const createdAt = (rank: number): number =>
    byCreatedAt.keys[byCreatedAt.ranks[byId.rows[rank]!]!]!;
  for (const post of posts) {
    const { sequence, point, movedFrom } = post;
    const rank = rankOf(byId, point.id);
    const firstRank = movedFrom === undefined ? -1 : rankOf(byId, movedFrom);
    const isRecord = (at: number): boolean => at >= 0 && createdAt(at) === point.createdAt.micros;
    if (sequence <= watermark || isRecord(rank) || isRecord(firstRank)) retired.push(post);
    else if (rank < 0) kept.push(post);
    else moved.push(post);
  }
  return { retired, kept, moved };
}
