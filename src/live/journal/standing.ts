import type { Microseconds } from '../../model/units.js';
import type { Post } from './journal.js';

/** What becomes of a post beside a snapshot. */
export type Standing =
  /** The snapshot has it, or was made knowing of it. */
  | 'retired'
  /** The snapshot knows nothing of it. */
  | 'kept'
  /** The snapshot uses its id for another record: it needs a new one. */
  | 'moved';

/**
 * Compares a post with a snapshot: `createdAt` is when the snapshot's record with the post's id was
 * created, undefined where there is none; `watermark` the sequence up to which the snapshot knows of
 * all posts, 0 where it does not say.
 */
export function standingOf(
  { sequence, point }: Post,
  createdAt: Microseconds | undefined,
  watermark: number,
): Standing {
  if (sequence <= watermark || createdAt === point.createdAt.micros) return 'retired';
  return createdAt === undefined ? 'kept' : 'moved';
}
