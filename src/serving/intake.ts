import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { seedThrottle, THROTTLE_NUMBERS, type ThrottleMemory } from '../http/request/client.js';
import { rankOf } from '../index/order.js';
import { recordBytes } from '../index/records.js';
import { sharedArray } from '../index/shared-array.js';
import { InputError } from '../model/quote.js';
import type { TimeZone } from '../model/time-zone.js';
import { acceptedOf, adopt, Retired } from '../posts/adopt.js';
import { createPostClock } from '../posts/clock.js';
import {
  type Journal,
  JournalLocked,
  JournalUnavailable,
  JournalUnwritable,
  readAll,
} from '../posts/journal.js';
import type { Media } from '../posts/media/media.js';
import type { PostStats, Posts } from '../posts/posts.js';
import { type JournalOptions, openJournal } from '../posts/sqlite-journal.js';
import { PostWriter } from '../posts/writer.js';
import { type Cell, NOT_SERVED } from '../reload/current.js';
import { Deltas } from '../reload/deltas.js';
import type { Serve } from '../reload/reconcile.js';
import { isAddress, isPattern } from '../reload/source/names.js';
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
  const deltas = new Deltas({ current, logger });
  journal.changed((posts) => deltas.append(posts.map(acceptedOf)));
  const clock = createPostClock(journal.state.lastTime, zone);
  const writer = new PostWriter({ journal, visible: deltas, media, clock, stats });
  const retired = new Retired(journal, logger);
  const adopter = { journal, writer, deltas, retired, logger };
  tell = () => {
    const reason = journal.state.problem ?? writer.refusal ?? deltas.state.problem;
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
  stats.deltas = deltas;
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
    import('../posts/media/media.js'),
    import('../posts/media/decoder.js'),
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

/** Between two tries to open a journal that another process owns, or that cannot be read. */
const RETRY_MS = 100;
/** How long a journal that cannot be read is tried: without it points would be missing. */
const PATIENCE_MS = 30_000;
const FOLDER_JOURNAL = 'waypost.journal';

type JournalSettings = Pick<
  ServeSettings,
  'journal' | 'journalAnyFs' | 'snapshot' | 'listenTimeout'
>;

/**
 * Opens the journal of the settings, or the one beside the snapshot; undefined where points are
 * only read, which is logged where nobody asked for it. Waits for a process that is still ending,
 * and for a disk that fails. Throws an InputError when a journal cannot be used.
 */
export async function openConfiguredJournal(
  settings: JournalSettings,
  options: JournalOptions,
  logger: Logger,
  patienceMs: number = PATIENCE_MS,
): Promise<Journal | undefined> {
  const { journal: given, journalAnyFs: anyFileSystem = false, snapshot, listenTimeout } = settings;
  if (given === 'none') return undefined;
  const path = given ?? besideSnapshot(snapshot);
  // the load says what is wrong with the snapshot, and no journal is begun for it
  if (path === undefined) return undefined;
  const began = performance.now();
  for (let round = 0; ; round++) {
    try {
      const journal = await openJournal(path, { ...options, anyFileSystem });
      const { name, posts, lastSequence } = journal.state;
      logger.debug({ path, name, posts, lastSequence }, 'journal opened');
      return journal;
    } catch (error) {
      // one that is there may hold points that were accepted: it is not passed over
      if (error instanceof JournalUnwritable && given === undefined && !isFile(path)) {
        logger.warn({ path, reason: error.message }, 'points are only read');
        return undefined;
      }
      const waited = performance.now() - began;
      const isLocked = error instanceof JournalLocked;
      if (!isLocked && !(error instanceof JournalUnavailable)) throw error;
      if (waited > (isLocked ? listenTimeout : patienceMs)) throw lastWord(error, waited);
      if (round === 0) logger.warn({ path, reason: error.message }, 'waiting for the journal');
      await delay(RETRY_MS);
    }
  }
}

function lastWord(error: Error, waitedMs: number): InputError {
  const cure =
    error instanceof JournalLocked
      ? ': end that process, name a journal of its own for this one (--journal FILE), or have it only read (--journal none)'
      : ': it may have points that were accepted; serve without it by --journal none';
  const seconds = Math.round(waitedMs / 1000);
  return new InputError(`${error.message}, after ${seconds} s${cure}`, { cause: error });
}

/**
 * The journal of a snapshot file, or of the folder of several; undefined where there is nothing at
 * the path.
 */
function besideSnapshot(snapshot: string): string | undefined {
  if (isAddress(snapshot)) return undefined;
  if (isPattern(basename(snapshot))) return join(dirname(snapshot), FOLDER_JOURNAL);
  const stat = statSync(snapshot, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return stat.isDirectory() ? join(snapshot, FOLDER_JOURNAL) : `${snapshot}.journal`;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
