import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { sharedArray } from '../common-array.js';
import { rankOf } from '../dataset/order.js';
import { recordBytes } from '../dataset/records.js';
import { seedThrottle, THROTTLE_NUMBERS, type ThrottleMemory } from '../http/request/throttle.js';
import type { Cell } from '../live/current.js';
import { adopt } from '../live/posts/adopt.js';
import { createPostClock } from '../live/posts/clock.js';
import type { Posts } from '../live/posts/posts.js';
import { countFlush, type PostStats } from '../live/posts/stats.js';
import { PostWriter } from '../live/posts/writer.js';
import type { Serve } from '../live/reload/commit.js';
import { Tails } from '../live/tails.js';
import { lockMedia, MediaLocked } from '../media/lock.js';
import type { Media } from '../media/media.js';
import type { TimeZone } from '../model/time-zone.js';
import type { ServeSettings } from '../settings/setting.js';
import { openConfiguredJournal } from './journal.js';
import type { Throttles } from './messages.js';
import { openOwned } from './owned.js';

/**
 * What accepts points, on the main thread; where points are only read it only serves generations.
 */
export interface Intake {
  readonly posts: Posts | undefined;
  readonly throttles: Throttles | undefined;
  /** Serves a new generation, and with it what was accepted and waits. */
  readonly serve: Serve;
  /** Once, when the first generation is served: removes what a process that was killed has left. */
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
  const journal = await openConfiguredJournal(
    settings,
    {
      onFlush: (seconds) => countFlush(stats, seconds),
      onProblem(reason) {
        if (reason === undefined) logger.info('points are accepted again');
        else logger.error({ reason }, 'no points are accepted');
        const unwritable = reason === undefined ? undefined : { reason, since: Date.now() };
        current.tell({ unwritable });
      },
    },
    logger,
  );
  if (journal === undefined) {
    const serve: Serve = (generation) => current.publish(generation);
    const nothing = async (): Promise<void> => {};
    return { posts: undefined, throttles: undefined, serve, tidy: nothing, close: nothing };
  }
  const media = await openImages(settings, stats, logger);
  // the first snapshot may retire these points, and have them under ids of its own
  const journaled = new Set(Array.from(journal.replay(), ({ point }) => point.image));
  const tails = new Tails({ current, logger });
  const clock = createPostClock(journal.state.lastTime, zone);
  const writer = new PostWriter({ journal, visible: tails, media, clock, stats });
  const adopter = { journal, writer, tails, logger, unretired: new Set<number>() };
  stats.journal = journal;
  stats.tails = tails;
  return {
    posts: writer,
    throttles: { byAddress: throttleMemory(), byToken: throttleMemory() },
    serve: (generation) => adopt(generation, adopter),
    async tidy() {
      await media?.sweep((address) => journaled.has(address) || hasImage(current, address));
      journaled.clear();
    },
    async close() {
      await journal.close();
      media?.close();
    },
  };
}

/** Whether the point of the snapshot whose id the address of an image names has that image. */
function hasImage({ generation }: Cell, address: string): boolean {
  const { byId, records } = generation.engine.dataset;
  const rank = rankOf(byId, Number(address.split('/').at(-2)));
  if (rank < 0) return false;
  const text = Buffer.from(recordBytes(records, byId.rows[rank]!)).toString();
  return (JSON.parse(text) as { image?: string }).image === address;
}

async function openImages(
  { media: folder, maxImagePixels: maxPixels, listenTimeout: mostMs }: ServeSettings,
  { images }: PostStats,
  logger: Logger,
): Promise<Media | undefined> {
  if (folder === undefined) return undefined;
  const { openMedia } = await import('../media/media.js');
  const lock = await openOwned(() => lockMedia(folder), {
    mostMs,
    isOwned: (error) => error instanceof MediaLocked,
    onWait: () => logger.warn({ folder }, 'waiting for the folder of images'),
  });
  const media = openMedia({ folder, maxPixels, logger, stats: images });
  return {
    ...media,
    close() {
      media.close();
      lock.release();
    },
  };
}

function throttleMemory(): ThrottleMemory {
  const memory = sharedArray(Float64Array, THROTTLE_NUMBERS);
  const seeds = randomBytes(8);
  seedThrottle(memory, seeds.readInt32LE(0), seeds.readInt32LE(4));
  return memory;
}
