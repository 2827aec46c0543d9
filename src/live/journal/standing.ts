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
 * Compares a post with a snapshot: `createdAt` says when the snapshot's record with an id was
 * created, undefined where there is none; `watermark` is the sequence up to which the snapshot
 * knows of all posts, 0 where it does not say. A post that has moved is also found under the id
 * with which it was acknowledged.
 */
export function standingOf(
  { sequence, point, movedFrom }: Post,
  createdAt: (id: number) => Microseconds | undefined,
  watermark: number,
): Standing {
  const { micros } = point.createdAt;
  if (sequence <= watermark) return 'retired';
  if (movedFrom !== undefined && createdAt(movedFrom) === micros) return 'retired';
  const there = createdAt(point.id);
  if (there === undefined) return 'kept';
  return there === micros ? 'retired' : 'moved';
}
