import type { Logger } from 'pino';
import { storePoint } from '../formats/record-layout.js';
import type { DatasetParts } from '../index/dataset.js';
import type { AcceptedPoint } from '../index/delta.js';
import { firstAbove, rankOf } from '../index/order.js';
import { type Point, type Problem, readPoint } from '../model/point.js';
import { InputError } from '../model/quote.js';
import type { Microseconds } from '../model/units.js';
import type { GenerationParts } from '../reload/current.js';
import type { Deltas } from '../reload/deltas.js';
import {
  isShared,
  type JournalState,
  JournalUnavailable,
  type Move,
  type OwnJournal,
  type Post,
  readAll,
  type SharedJournal,
} from './journal.js';
import type { PostWriter } from './posts.js';

export interface Adopter {
  readonly journal: OwnJournal | SharedJournal;
  readonly writer: Pick<PostWriter, 'refusal'>;
  readonly deltas: Pick<Deltas, 'begin' | 'serve' | 'exclusively'>;
  readonly logger: Logger;
}

/** A snapshot must leave 2^32 ids for posts. */
const LARGEST_ID = Number.MAX_SAFE_INTEGER - 2 ** 32;
/** How long a post is kept that a snapshot has, for its key and for an older snapshot. */
export const KEPT_MS: number = 24 * 60 * 60 * 1000;
/** Posts that move in one transaction. */
const MOST_MOVES = 1_000;

/**
 * Serves a new snapshot and all accepted points that it lacks. A point whose id the snapshot uses
 * for another record moves to a fresh id, on stable storage before anybody sees it. Posts that the
 * snapshot has are pruned once a day old; `now` is in milliseconds since the epoch. Rejects with
 * JournalUnavailable where the journal cannot be written; the former snapshot stays.
 */
export async function adopt(
  parts: GenerationParts,
  adopter: Adopter,
  // a steady clock: the system's may be put back
  now: number = performance.timeOrigin + performance.now(),
): Promise<void> {
  const { journal, writer, deltas, logger } = adopter;
  const { dataset } = parts;
  const taken = dataset.byId.keys;
  // ids are never taken back, so those that would leave no room do not count
  await journal.giveIdsFrom((taken[firstAbove(taken, LARGEST_ID) - 1] ?? 0) + 1);
  const watermark = watermarkOf(dataset, adopter);
  // a snapshot that lacks posts which a shared journal has lost is refused
  const isOwn = !isShared(journal);
  const beginning = deltas.begin({ ...parts, journal: journal.state.line, isOwn });
  const prunable: number[] = [];
  /** Ids under which the kept posts were acknowledged. */
  const keptIds = new Set<number>();
  /** The sequence up to which posts were looked at. */
  let through = 0;

  const moves: Move[] = [];

  /** Looks at the posts behind the last look. */
  async function lookOn(): Promise<void> {
    for await (const posts of readAll(journal, through, journal.state.lastSequence)) {
      for (const post of posts) await look(post);
    }
  }

  /** Posts that move come behind all others, some at a time: a database has seconds for them. */
  async function moveAll(): Promise<void> {
    while (moves.length > 0) {
      for (const { sequence, id, movedFrom } of await journal.move(moves.splice(0, MOST_MOVES))) {
        const ids = { from: movedFrom, to: id };
        logger.warn({ sequence, ...ids }, 'accepted point moved: the snapshot uses its id');
      }
      await lookOn();
    }
  }

  async function look(post: Post): Promise<void> {
    const { sequence, createdAt } = post;
    through = sequence;
    // the post was kept under its former id
    if (post.movedFrom !== undefined && keptIds.has(post.movedFrom)) {
      throw new JournalUnavailable('a point got another id while the journal was read');
    }
    const standing = standingOf(post, (id) => createdAtOf(dataset, id), watermark);
    if (standing === 'kept') {
      keptIds.add(post.movedFrom ?? post.id);
      await beginning.add(acceptedOf(post));
    } else if (standing === 'retired') {
      if (createdAt / 1000 + KEPT_MS <= now) prunable.push(sequence);
    } else {
      const id = await journal.takeId();
      moves.push({ sequence, id, record: JSON.stringify({ ...JSON.parse(post.record), id }) });
    }
  }

  // most posts are looked at while others are accepted
  await lookOn();
  // from a move on a shared journal tells nobody of posts, until this generation is served
  if (isShared(journal)) await moveAll();
  // nobody is told of posts meanwhile
  const teller: Pick<SharedJournal, 'exclusively'> = isShared(journal) ? journal : deltas;
  const { done } = await teller.exclusively(async () => {
    await lookOn();
    const willMove = moves.length > 0;
    await moveAll();
    // somebody may have removed posts while others were read
    requireWatermark(journal.state.removed, watermark);
    writer.refusal = refusalOf(taken.at(-1) ?? 0);
    const served = await deltas.serve(beginning, journal.state.lastSequence);
    // a thread that served the former one would pass over a moved point with the next post
    if (willMove) await served.done;
    return served;
  });
  await done;
  // a shared journal is pruned by people
  if (isShared(journal)) journal.contains(watermark);
  else if (prunable.length > 0) await prune(prunable, journal, logger);
}

function refusalOf(largest: number): string | undefined {
  if (largest <= LARGEST_ID) return undefined;
  return `the snapshot has the id ${largest}, which leaves less than 2^32 for posts`;
}

function createdAtOf({ byId, byCreatedAt }: DatasetParts, id: number): Microseconds | undefined {
  const rank = rankOf(byId, id);
  return rank < 0 ? undefined : byCreatedAt.keys[byCreatedAt.ranks[byId.rows[rank]!]!];
}

/** Forgets posts; where that fails, the next snapshot tries again. */
async function prune(old: readonly number[], journal: OwnJournal, logger: Logger): Promise<void> {
  try {
    await journal.prune(old);
    logger.info({ posts: old.length }, 'accepted points pruned: the snapshot has them');
  } catch (error) {
    logger.error({ err: error, posts: old.length }, 'accepted points not pruned');
  }
}

type Standing =
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
  post: Pick<Post, 'sequence' | 'id' | 'createdAt' | 'movedFrom'>,
  createdAt: (id: number) => Microseconds | undefined,
  watermark: number,
): Standing {
  const { sequence, id, createdAt: micros, movedFrom } = post;
  if (sequence <= watermark) return 'retired';
  if (movedFrom !== undefined && createdAt(movedFrom) === micros) return 'retired';
  const there = createdAt(id);
  if (there === undefined) return 'kept';
  return there === micros ? 'retired' : 'moved';
}

/** A post as it is served. Throws an InputError where somebody has edited it. */
export function acceptedOf({ sequence, record, point: known }: Post): AcceptedPoint {
  let point: Point | readonly Problem[];
  try {
    point = known ?? readPoint(JSON.parse(record), () => {});
  } catch {
    throw new InputError(`the journal: post ${sequence} has a record that is no JSON`);
  }
  if ('id' in point) return { sequence, point, record: storePoint(point) };
  const [{ field, reason }] = point as readonly [Problem];
  throw new InputError(`the journal: post ${sequence} has a record whose ${field} ${reason}`);
}

/** Throws an InputError where posts are gone that a snapshot with this watermark may lack. */
export function requireWatermark(removed: number, watermark: number): void {
  if (watermark >= removed) return;
  const gone = `posts up to ${removed} were removed from the journal`;
  const has = `the snapshot says that it has those up to ${watermark}`;
  throw new InputError(`${gone}, and ${has}: take one with a later watermark`);
}

/** Why a reader cannot go on behind a sequence; undefined where all posts behind it are kept. */
export function unkept(
  after: number,
  { keptAfter, lastSequence }: Pick<JournalState, 'keptAfter' | 'lastSequence'>,
): string | undefined {
  if (after > lastSequence)
    return `The last post is ${lastSequence}: ${after} is of another journal.`;
  if (after >= keptAfter) return undefined;
  return `All posts are kept behind ${keptAfter} only, and those behind ${after} were asked for.`;
}

/**
 * The sequence up to which the snapshot has all posts of this journal. Throws an InputError where
 * posts are gone that it may lack.
 */
function watermarkOf({ report }: DatasetParts, { journal, logger }: Adopter): number {
  const { watermark } = report;
  const { name, lastSequence, removed } = journal.state;
  const isOwn = watermark?.journal === name && watermark.sequence <= lastSequence;
  const through = isOwn ? watermark.sequence : 0;
  requireWatermark(removed, through);
  if (isOwn || watermark === undefined) return through;
  logger.warn({ watermark, journal: name }, 'the snapshot tells of a journal that is not this one');
  return through;
}
