import type { Logger } from 'pino';
import type { Generation } from '../generation.js';
import type { Journal, Post } from '../journal/journal.js';
import { settle } from '../settlement.js';
import type { Tails } from '../tails.js';
import type { PostWriter } from './writer.js';

/** What adopts new generations. */
export interface Adopter {
  readonly journal: Journal;
  readonly writer: PostWriter;
  readonly tails: Pick<Tails, 'prepare' | 'serve'>;
  readonly logger: Logger;
  /** Sequences of posts that a snapshot had and that are still in the journal. */
  readonly unretired: Set<number>;
}

/**
 * Serves a new generation of the snapshot and all accepted points that wait for one which contains
 * them. Those that it contains are retired. One whose id the snapshot uses for something else moves
 * to a fresh id, on stable storage before anybody sees it. Rejects with JournalUnavailable where
 * that cannot be written; what was served then stays.
 */
export async function adopt(generation: Generation, adopter: Adopter): Promise<void> {
  const { journal, writer, tails, unretired } = adopter;
  const { retired, serving } = await writer.exclusively(async () => {
    const { dataset } = generation.engine;
    const watermark = watermarkOf(generation, adopter);
    writer.giveIdsFrom(largestId(generation) + 1);
    const waiting = [...journal.replay()].filter(({ sequence }) => !unretired.has(sequence));
    const found = settle(dataset, waiting, watermark);
    if (found.moved.length > 0) await move(found.moved, adopter);
    const gone = new Set([...unretired, ...found.retired.map(({ sequence }) => sequence)]);
    const posts = [...journal.replay()].filter(({ sequence }) => !gone.has(sequence));
    // posts may come as soon as the tail that begins with these is served
    const first = await tails.prepare(posts);
    return { retired: gone, serving: tails.serve(generation, first) };
  });
  await serving;
  if (retired.size > 0) await retire(retired, adopter);
}

/** The sequence up to which the snapshot has all posts of this journal. */
function watermarkOf(generation: Generation, { journal, logger }: Adopter): number {
  const { journalThrough = 0 } = generation.parts.dataset.report;
  const watermark = journal.takeWatermark(journalThrough);
  if (watermark < journalThrough) {
    logger.warn({ journalThrough }, 'the snapshot tells of a journal that is not this one');
  }
  return watermark;
}

async function move(posts: readonly Post[], { journal, writer, logger }: Adopter): Promise<void> {
  const moves = new Map(posts.map(({ sequence }) => [sequence, writer.takeId()]));
  await journal.retire(() => false, moves);
  for (const { sequence, point } of posts) {
    const ids = { from: point.id, to: moves.get(sequence) };
    logger.warn({ sequence, ...ids }, 'accepted point moved: the snapshot uses its id');
  }
}

async function retire(
  sequences: ReadonlySet<number>,
  { journal, logger, unretired }: Adopter,
): Promise<void> {
  const posts = sequences.size;
  try {
    await journal.retire(({ sequence }) => sequences.has(sequence));
    unretired.clear();
    logger.info({ posts }, 'accepted points retired: the snapshot has them');
  } catch (error) {
    // the next snapshot need not have them any more
    for (const sequence of sequences) unretired.add(sequence);
    logger.error({ err: error, posts }, 'accepted points not retired');
  }
}

function largestId({ engine: { dataset } }: Generation): number {
  return dataset.byId.keys.at(-1) ?? 0;
}
