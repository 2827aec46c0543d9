import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { targetOf } from '../../link-target.js';
import { DISK, type Disk, reasonOf } from './disk.js';
import { Draft, JournalFile } from './file.js';
import { FileJournal, type JournalOptions } from './file-journal.js';
import { type Journal, JournalUnwritable } from './journal.js';
import { lockJournal } from './lock.js';
import { type Contents, readJournal, requireUndamaged } from './reading.js';

const EMPTY: Contents = {
  posts: [],
  keys: [],
  nextSequence: 1,
  nextId: 1,
  lastTime: 0,
  foreign: 0,
};

/**
 * Opens the journal of this path, or begins one, and owns it until it is closed. Bytes of a last
 * write that was never acknowledged are cut off. Throws a JournalLocked, a JournalUnwritable or a
 * JournalDamaged; the file is then as it was.
 */
export async function openJournal(path: string, options: JournalOptions = {}): Promise<Journal> {
  const disk = options.disk ?? DISK;
  const target = journalAt(path);
  const lock = await lockJournal(target);
  try {
    const opened = await openFile(disk, target);
    return new FileJournal({ ...opened, lock, disk }, options);
  } catch (error) {
    lock.release();
    if (!('syscall' in (error as Error))) throw error;
    throw new JournalUnwritable(`${path}: cannot be written: ${reasonOf(error)}`, { cause: error });
  }
}

/** What a path stands for, also where a link leads to a file that is yet to be made. */
function journalAt(path: string): string {
  try {
    return targetOf(path);
  } catch (error) {
    const isCircle = (error as NodeJS.ErrnoException).code === 'ELOOP';
    const reason = isCircle ? 'is a link that leads in a circle' : `is a link: ${reasonOf(error)}`;
    throw new JournalUnwritable(`${path}: ${reason}`, { cause: error });
  }
}

/** Writes a journal of these contents under this path, atomically, and leaves it open. */
export async function writeJournal(
  disk: Disk,
  path: string,
  contents: Contents,
): Promise<JournalFile> {
  const draft = new Draft(disk, path);
  try {
    await draft.keep(contents);
    disk.rename(draft.path, path);
    disk.syncFolder(dirname(path));
    return new JournalFile(disk, path, draft.fd, draft.end);
  } catch (error) {
    draft.discard();
    throw error;
  }
}

async function openFile(
  disk: Disk,
  path: string,
): Promise<{ file: JournalFile; contents: Contents; opened: Journal['opened'] }> {
  if (!existsSync(path)) {
    const file = await writeJournal(disk, path, EMPTY);
    return { file, contents: EMPTY, opened: { created: true, cutBytes: 0 } };
  }
  const fd = disk.open(path, 'r+');
  try {
    const reading = await readJournal(fd);
    requireUndamaged(path, reading);
    const { end, size } = reading;
    const file = new JournalFile(disk, path, fd, end);
    // entries that a killed process left in the memory of the system are served from now on
    await file.repeat(reading.synced);
    await file.restore();
    return { file, contents: reading, opened: { created: false, cutBytes: size - end } };
  } catch (error) {
    disk.close(fd);
    throw error;
  }
}
