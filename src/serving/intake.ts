import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { sharedArray } from '../common-array.js';
import { rankOf } from '../dataset/order.js';
import { recordBytes } from '../dataset/records.js';
import { seedThrottle, THROTTLE_NUMBERS, type ThrottleMemory } from '../http/request/throttle.js';
import { type Cell, NOT_SERVED } from '../live/current.js';
import type { Serve } from '../live/reload/commit.js';
import { Tails } from '../live/tails.js';
import type { Media } from '../media/media.js';
import type { TimeZone } from '../model/time-zone.js';
import { acceptedOf, adopt, Retired } from '../posts/adopt.js';
import { createPostClock } from '../posts/clock.js';
import { type Journal, readAll } from '../posts/journal.js';
import type { Posts } from '../posts/posts.js';
import type { PostStats } from '../posts/stats.js';
import { PostWriter } from '../posts/writer.js';
import type { ServeSettings } from '../settings/setting.js';
import { openConfiguredJournal } from './journal.js';
import type { Throttles } from './messages.js';

/** How often it is looked whether points are accepted. */
const TELL_MS = 250;
/** How often what was left of uploads is removed. */
const SWEEP_MS = 3_600_000;

/**
 * What accepts points, on the main thread; where points are only read it only serves generations.
 */
interface Intake {
  readonly posts: Posts | undefined;
  /** Has the posts that operators ask for. */
  readonly journal: Journal | undefined;
  readonly throttles: Throttles | undefined;
  /** Serves a new generation, and with it what was accepted and waits. */
  readonly serve: Serve;
  /**
   * Once, when the first generation is served: removes what a process that was killed has left, and
   * again every hour.
   */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the journal, and makes what is between it and the cell. Throws an InputError when the
 * journal or the folder of images cannot be used.
 */
export async function openIntake(
  settings: ServeSettings,
  zone: TimeZone,
  { current, stats, logger }: { current: Cell; stats: PostStats; logger: Logger },
): Promise<Intake> {
  let tell = (): void => {};
  const journal = await openConfiguredJournal(
    settings,
    {
      onFlush: (seconds) => stats.flushes.observe(seconds),
      onProblem: () => tell(),
      onAnew(reason) {
        logger.error({ reason }, 'the journal was written anew from memory');
      },
      onDeath(error) {
        logger.fatal({ err: error }, 'the thread of the journal died');
        process.exit(1);
      },
    },
    logger,
  );
  if (journal === undefined) {
    const reason = settings.journal === 'none' ? 'it was started so' : 'there is no place for them';
    current.tell({ posts: { accepted: false, reason: `points are only read: ${reason}` } });
    const serve: Serve = (generation) => current.publish(generation);
    const nothing = async (): Promise<void> => {};
    const none = { posts: undefined, journal, throttles: undefined };
    return { ...none, serve, tidy: nothing, close: nothing };
  }
  const media = await openImages(settings, stats, logger);
  const tails = new Tails({ current, logger });
  journal.changed((posts) => tails.append(posts.map(acceptedOf)));
  const clock = createPostClock(journal.state.lastTime, zone);
  const writer = new PostWriter({ journal, visible: tails, media, clock, stats });
  const retired = new Retired(journal, logger);
  const adopter = { journal, writer, tails, retired, logger };
  tell = () => {
    const reason = journal.state.problem ?? writer.refusal ?? tails.state.problem;
    const before = current.posts.reason;
    if (reason === before) return;
    if (reason !== undefined) logger.error({ reason }, 'no points are accepted');
    else if (before !== NOT_SERVED) logger.info('points are accepted again');
    current.tell({
      posts: reason === undefined ? { accepted: true } : { accepted: false, reason },
    });
  };
  const telling = setInterval(tell, TELL_MS).unref();
  let sweeping: NodeJS.Timeout | undefined;
  stats.journal = journal;
  stats.tails = tails;
  return {
    posts: writer,
    journal,
    throttles: { byAddress: throttleMemory(), byToken: throttleMemory() },
    async serve(generation) {
      await adopt(generation, adopter);
      tell();
    },
    async tidy() {
      if (media === undefined) return;
      const sweep = (): Promise<void> => sweepImages(media, journal, current, logger);
      await sweep();
      sweeping = setInterval(sweep, SWEEP_MS).unref();
    },
    async close() {
      clearInterval(telling);
      clearInterval(sweeping);
      retired.close();
      await journal.close();
      media?.close();
    },
  };
}

/** Removes what is left of uploads, but for the images of points that are known. */
async function sweepImages(
  media: Media,
  journal: Journal,
  current: Cell,
  logger: Logger,
): Promise<void> {
  try {
    const journaled = new Set<string | undefined>();
    for await (const posts of readAll(journal, 0)) {
      for (const { record } of posts) journaled.add(imageOf(record));
    }
    await media.sweep((address) => journaled.has(address) || hasImage(current, address));
  } catch (error) {
    logger.warn({ err: error }, 'what is left of uploads could not be removed');
  }
}

/** Whether the point of the snapshot whose id the address of an image names has that image. */
function hasImage({ generation }: Cell, address: string): boolean {
  const { byId, records } = generation.engine.dataset;
  const rank = rankOf(byId, Number(address.split('/').at(-2)));
  if (rank < 0) return false;
  return imageOf(Buffer.from(recordBytes(records, byId.rows[rank]!)).toString()) === address;
}

function imageOf(record: string): string | undefined {
  return (JSON.parse(record) as { image?: string }).image;
}

async function openImages(
  { media: folder, maxImagePixels: maxPixels, imageTimeout }: ServeSettings,
  { images }: PostStats,
  logger: Logger,
): Promise<Media | undefined> {
  if (folder === undefined) return undefined;
  const [{ openMedia }, { createDecoder }] = await Promise.all([
    import('../media/media.js'),
    import('../media/decoder.js'),
  ]);
  const decoder = createDecoder({ patienceMs: imageTimeout });
  return openMedia({ folder, maxPixels, logger, stats: images, decoder });
}

function throttleMemory(): ThrottleMemory {
  const memory = sharedArray(Float64Array, THROTTLE_NUMBERS);
  const seeds = randomBytes(8);
  seedThrottle(memory, seeds.readInt32LE(0), seeds.readInt32LE(4));
  return memory;
}
