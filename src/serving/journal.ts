import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { InputError } from '../errors.js';
import { isPattern } from '../live/source/names.js';
import {
  type Journal,
  JournalLocked,
  JournalUnavailable,
  JournalUnwritable,
} from '../posts/journal.js';
import { type JournalOptions, openJournal } from '../posts/sqlite-journal.js';
import type { ServeSettings } from '../settings/setting.js';

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
  if (isPattern(basename(snapshot))) return join(dirname(snapshot), FOLDER_JOURNAL);
  const stat = statSync(snapshot, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return stat.isDirectory() ? join(snapshot, FOLDER_JOURNAL) : `${snapshot}.journal`;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
