import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  openSync,
  readSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { targetOf } from '../formats/system-files.js';
import { JournalUnwritable } from './journal.js';
import { StoreError, storeError } from './store-error.js';

const MAGIC = 'SQLite format 3\0';
/** What a journal begins with that was written before journals were databases. */
const LINES = /^[0-9a-f]{8} \{"journal":"waypost"/;
/** File systems whose locks and flushes cannot be relied on, by what `statfs` calls them. */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
]);

/** By what a file that somebody else changed or replaced is known. */
export type Identity = Readonly<Record<'dev' | 'ino' | 'size' | 'mtimeNs' | 'blocks', bigint>>;

/**
 * Tells whether there is a journal at a path; `false` where there is nothing. Throws where
 * something else has the name, or the rights are wanting. Not for a file that this process owns:
 * it is opened and closed.
 */
export function isJournal(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw storeError(error);
  }
  try {
    const bytes = Buffer.alloc(64);
    const length = readSync(fd, bytes);
    const start = bytes.toString('latin1', 0, length);
    // an empty file is one that was about to become a journal
    if (length === 0 || start.startsWith(MAGIC)) return length > 0;
    if (LINES.test(start)) {
      const reason =
        'it is a journal of a former version, which this one does not read: take its points into a snapshot with that version, and remove it';
      throw new StoreError('refused', reason);
    }
    throw new StoreError('refused', 'it is no journal of accepted points');
  } catch (error) {
    throw storeError(error);
  } finally {
    closeSync(fd);
  }
}

/** Throws where a file cannot be written, or made, for want of rights. */
export function requireRights(path: string, exists: boolean): void {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) {
    throw new StoreError('unwritable', `there is no folder ${folder}`);
  }
  try {
    // SQLite has a file of this name beside it
    statSync(`${path}-journal`, { throwIfNoEntry: false });
    if (exists) accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw storeError(error);
  }
}

/** Throws where a folder is on a file system that is not of this machine. */
export function requireLocal(folder: string): void {
  const name = REMOTE.get(statfsSync(folder).type);
  if (name === undefined) return;
  const reason = `it is on ${name}, whose locks and flushes cannot be relied on: name a file on a disk of this machine, or add --journal-any-fs`;
  throw new StoreError('refused', reason);
}

/** What a path stands for, also where a link leads to a file that is yet to be made. */
export function targetAt(path: string): string {
  try {
    return targetOf(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ELOOP' ? 'is a link that leads in a circle' : `is a link: ${message}`;
    throw new JournalUnwritable(`${path}: ${reason}`, { cause: error });
  }
}

/** Undefined where there is no file. */
export function identityOf(path: string): Identity | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

export function isSameFile(one: Identity, other: Identity | undefined): boolean {
  return one.dev === other?.dev && one.ino === other.ino;
}

/** The readers of the file that was there are to read the new one, too. */
export function giveRights(path: string, { mode, uid, gid }: Stats): void {
  chmodSync(path, mode & 0o777);
  try {
    chownSync(path, uid, gid);
  } catch {
    // only root gives files away
  }
}
