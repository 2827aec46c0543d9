import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { InputError } from '../model/quote.js';
import { type OwnJournal, type SharedJournal, StoreError } from '../posts/journal.js';
import { isDatabaseAddress, parseDatabaseAddress } from '../posts/postgres-address.js';
import type { DatabaseJournalOptions } from '../posts/postgres-journal.js';
import { openJournal } from '../posts/sqlite-journal.js';
import { isAddress, isPattern } from '../reload/source/source.js';

/** Between two tries to open a journal that another process owns, or that cannot be read. */
const RETRY_MS = 100;
const FOLDER_JOURNAL = 'waypost.journal';
const WITHOUT_IT = 'it may have points that were accepted; serve without it by --journal none';
const WAYS_OUT = 'name another journal (--journal FILE), or have it only read (--journal none)';

type JournalSettings = Pick<
  ServeSettings,
  'journal' | 'journalAnyFs' | 'journalWait' | 'journalTimeout' | 'snapshot' | 'listenTimeout'
>;

/**
 * Opens the journal of the settings, or the one beside the snapshot; undefined where points are
 * only read. Waits for a process that is still ending, for a failing disk, and for a database.
 * Throws an InputError when a journal cannot be used.
 */
export async function openConfiguredJournal(
  settings: JournalSettings,
  options: DatabaseJournalOptions & { readonly logger: Logger },
): Promise<OwnJournal | SharedJournal | undefined> {
  const { journal: given, journalAnyFs: anyFileSystem = false, snapshot } = settings;
  const { logger } = options;
  if (given === 'none') return undefined;
  if (given !== undefined && isDatabaseAddress(given)) {
    const { openDatabaseJournal } = await import('../posts/postgres-journal.js');
    const database = parseDatabaseAddress(given);
    return openPatiently(database.name, settings, logger, () =>
      openDatabaseJournal(database, { ...options, timeoutMs: settings.journalTimeout }),
    );
  }
  const path = given ?? besideSnapshot(snapshot);
  // the load says what is wrong with the snapshot, and no journal is begun for it
  if (path === undefined) return undefined;
  try {
    return await openPatiently(path, settings, logger, () =>
      openJournal(path, { ...options, anyFileSystem }),
    );
  } catch (error) {
    // a journal that is there may have accepted points: it must be opened
    if (!(error instanceof StoreError) || error.fault !== 'unwritable') throw error;
    if (given !== undefined || statSync(path, { throwIfNoEntry: false })?.isFile()) {
      throw new InputError(`${error.message}: ${WAYS_OUT}`, { cause: error });
    }
    logger.warn({ path, reason: error.message }, 'points are only read');
    return undefined;
  }
}

/** Tries again where the fault may pass, as long as the settings say. */
async function openPatiently<Opened extends OwnJournal | SharedJournal>(
  path: string,
  { listenTimeout, journalWait }: JournalSettings,
  logger: Logger,
  open: () => Promise<Opened>,
): Promise<Opened> {
  const began = performance.now();
  for (let round = 0; ; round++) {
    try {
      const journal = await open();
      const { name, posts, lastSequence } = journal.state;
      logger.debug({ path, name, posts, lastSequence }, 'journal opened');
      return journal;
    } catch (error) {
      const { fault, message } = error as StoreError;
      const isLocked = fault === 'locked';
      if (!isLocked && fault !== 'failing') throw error;
      const waited = performance.now() - began;
      // a first try that took long is no wait
      const hasWaited = round > 0 && waited > (isLocked ? listenTimeout : journalWait);
      if (hasWaited) {
        const cure = isLocked ? `end that process, ${WAYS_OUT}` : WITHOUT_IT;
        const after = `after ${Math.round(waited / 1000)} s`;
        throw new InputError(`${message}, ${after}: ${cure}`, { cause: error });
      }
      if (round === 0) logger.warn({ path, reason: message }, 'waiting for the journal');
      await delay(RETRY_MS);
    }
  }
}

/** The journal of a snapshot file, or of a folder of them; undefined where nothing is there. */
function besideSnapshot(snapshot: string): string | undefined {
  if (isAddress(snapshot)) return undefined;
  if (isPattern(basename(snapshot))) return join(dirname(snapshot), FOLDER_JOURNAL);
  const stat = statSync(snapshot, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return stat.isDirectory() ? join(snapshot, FOLDER_JOURNAL) : `${snapshot}.journal`;
}
