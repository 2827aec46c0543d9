import type { Dataset } from '../dataset/dataset.js';
import { rankOf } from '../dataset/order.js';
import type { Post } from './journal/journal.js';
import { standingOf } from './journal/standing.js';

/** What becomes of the posts that wait when another snapshot is to be served. */
export interface Settlement {
  /** The snapshot contains them. */
  readonly retired: readonly Post[];
  /** They are served beside the snapshot. */
  readonly kept: readonly Post[];
  /** The same, but the snapshot has another record under their id: they need fresh ones. */
  readonly moved: readonly Post[];
}

/** Compares a snapshot with the posts that wait. */
export function settle(
  { byId, byCreatedAt }: Pick<Dataset, 'byId' | 'byCreatedAt'>,
  posts: Iterable<Post>,
  watermark = 0,
): Settlement {
  const settlement = { retired: [] as Post[], kept: [] as Post[], moved: [] as Post[] };
  const createdAt = (id: number): number | undefined => {
    const rank = rankOf(byId, id);
    return rank < 0 ? undefined : byCreatedAt.keys[byCreatedAt.ranks[byId.rows[rank]!]!];
  };
  for (const post of posts) settlement[standingOf(post, createdAt, watermark)].push(post);
  return settlement;
}
