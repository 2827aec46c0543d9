import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { isBucket } from '../formats/bucket.js';
import { createThrottleMemory, type ThrottleMemory } from '../http/request/client.js';
import type { TimeZone } from '../model/time-zone.js';
import { acceptedOf, adopt } from '../posts/adopt.js';
import { isShared, type Journal } from '../posts/journal.js';
import { createDecoder } from '../posts/media/decoder.js';
import { incomingOf, openImageFolder, openIncoming } from '../posts/media/folder.js';
import { Media } from '../posts/media/media.js';
import { createPostClock, type PostStats, type Posts, PostWriter } from '../posts/posts.js';
import { type Cell, createGeneration } from '../reload/current.js';
import { Deltas } from '../reload/deltas.js';
import type { Serve } from '../reload/reload.js';
import { openConfiguredJournal } from './journals.js';

/** How often to look whether points are accepted. */
const TELL_MS = 250;
/** How often to remove what is left of uploads. */
const SWEEP_MS = 3_600_000;

/** Accepts points, on the main thread; where points are only read it serves generations only. */
export interface Intake {
  readonly posts: Posts | undefined;
  readonly journal: Journal | undefined;
  readonly throttles: ThrottleMemory | undefined;
  /** Serves a new snapshot with the accepted points that it lacks. */
  readonly serve: Serve;
  close(): Promise<void>;
}

interface IntakeParts {
  readonly current: Cell;
  readonly stats: PostStats;
  readonly logger: Logger;
  /** Has the served generation built anew from its snapshot. */
  readonly renew: () => void;
}

/**
 * Opens the journal, and connects it with the cell. Throws an InputError when the journal or the
 * folder of images cannot be used.
 */
export async function openIntake(
  settings: ServeSettings,
  zone: TimeZone,
  { current, stats, logger, renew }: IntakeParts,
): Promise<Intake> {
  const journal = await openConfiguredJournal(settings, {
    logger,
    renew,
    onFlush: (seconds) => stats.flushes.observe(seconds),
  });
  if (journal === undefined) {
    const reason = settings.journal === 'none' ? 'it was started so' : 'there is no place for them';
    current.tell({ posts: { accepted: false, reason: `points are only read: ${reason}` } });
    const serve: Serve = (parts) => current.publish(createGeneration(parts));
    return { posts: undefined, journal, throttles: undefined, serve, async close() {} };
  }
  if (settings.requireToken && settings.tokens === undefined) {
    logger.warn('nobody can post: --require-token needs --tokens');
  }
  const media = await openImages(settings, stats, logger).catch(async (error: unknown) => {
    // it would keep the process alive, and its lock
    await journal.close();
    throw error;
  });
  const deltas = new Deltas({ current, logger });
  journal.changed((posts) => {
    const points = posts.map(acceptedOf);
    // own posts have reserved room, those of other instances wait for some
    return isShared(journal) ? deltas.follow(points) : deltas.append(points);
  });
  const clock = createPostClock(journal.state.lastTime, zone);
  const writer = new PostWriter({ journal, visible: deltas, media, clock, stats });
  const tell = (): void => {
    const reason = journal.state.problem ?? writer.refusal ?? deltas.state.problem;
    if (reason === current.posts.reason) return;
    if (reason === undefined) logger.info('points are accepted again');
    else logger.error({ reason }, 'no points are accepted');
    current.tell({ posts: { accepted: reason === undefined, reason } });
  };
  const telling = setInterval(tell, TELL_MS).unref();
  await media?.sweep();
  const sweeping = setInterval(() => media?.sweep(), SWEEP_MS).unref();
  stats.journal = journal;
  stats.deltas = deltas;
  return {
    posts: writer,
    journal,
    throttles: createThrottleMemory(),
    async serve(parts) {
      await adopt(parts, { journal, writer, deltas, logger });
      tell();
    },
    async close() {
      clearInterval(telling);
      clearInterval(sweeping);
      await journal.close();
    },
  };
}

async function openImages(
  { media, downloads, maxImagePixels: maxPixels, imageTimeout }: ServeSettings,
  { images }: PostStats,
  logger: Logger,
): Promise<Media | undefined> {
  if (media === undefined) return undefined;
  const store = isBucket(media)
    ? await (await import('../posts/media/image-bucket.js')).openImageBucket(media)
    : openImageFolder(media);
  const incoming = incomingOf(media, downloads);
  openIncoming(incoming);
  const decoder = createDecoder(imageTimeout);
  return new Media({ store, incoming, maxPixels, logger, stats: images, decoder });
}
