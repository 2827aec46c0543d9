import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import type { JournalOptions } from '../live/journal/file-journal.js';
import { type Journal, JournalLocked, JournalUnwritable } from '../live/journal/journal.js';
import { openJournal } from '../live/journal/open.js';
import { isPattern } from '../live/source/names.js';
import type { ServeSettings } from '../settings/setting.js';
import { openOwned } from './owned.js';

/**
 * Opens the journal of the settings, or the one beside the snapshot; undefined where points are
 * only read, which is logged where nobody asked for it. Waits for a process that is still ending.
 * Throws an InputError when a journal cannot be used.
 */
export async function openConfiguredJournal(
  settings: Pick<ServeSettings, 'journal' | 'snapshot' | 'listenTimeout'>,
  events: JournalOptions,
  logger: Logger,
): Promise<Journal | undefined> {
  const { journal: given, snapshot, listenTimeout } = settings;
  if (given === 'none') return undefined;
  const path = given ?? besideSnapshot(snapshot);
  // the load says what is wrong with the snapshot, and no journal is begun for it
  if (path === undefined) return undefined;
  try {
    const journal = await openOwned(() => openJournal(path, events), {
      mostMs: listenTimeout,
      isOwned: (error) => error instanceof JournalLocked,
      onWait: () => logger.warn({ path }, 'waiting for the journal'),
    });
    const { created, cutBytes } = journal.opened;
    const { waiting, lastSequence } = journal.state;
    if (cutBytes > 0) logger.warn({ path, cutBytes }, 'unfinished end of the journal cut off');
    logger.debug({ path, created, waiting, lastSequence }, 'journal opened');
    return journal;
  } catch (error) {
    // one that is there may hold points that were accepted: it is not passed over
    if (error instanceof JournalUnwritable && given === undefined && !isFile(path)) {
      logger.warn({ path, reason: error.message }, 'points are only read');
      return undefined;
    }
    throw error;
  }
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

const FOLDER_JOURNAL = 'waypost.journal';

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
