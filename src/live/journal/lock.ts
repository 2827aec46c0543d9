import { dirname } from 'node:path';
import { type Claim, Claimed, claim } from '../../claim.js';
import { reasonOf } from './disk.js';
import { JournalLocked, JournalUnwritable } from './journal.js';

/**
 * Makes this process the one owner of a journal. Throws a {@link JournalLocked}, or a
 * {@link JournalUnwritable} where the folder takes no sockets.
 */
export async function lockJournal(path: string): Promise<Claim> {
  try {
    return await claim(path);
  } catch (error) {
    if (error instanceof Claimed) {
      throw new JournalLocked(
        `${path}: process ${error.pid} owns this journal: give each instance its own, or end that one first`,
      );
    }
    throw new JournalUnwritable(
      `${path}: no lock can be made in the folder ${dirname(path)}: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}
