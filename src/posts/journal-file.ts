import { accessSync, constants, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beginningOf, DATABASE_MARK, keepRights } from '../formats/system-files.js';
import { quote } from '../model/quote.js';
import { Database, type Head, storeError } from './database.js';
import { type Post, type Posted, StoreError } from './journal.js';

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
export type Identity = Readonly<
  Record<'dev' | 'ino' | 'size' | 'mtimeNs' | 'blocks', bigint> & {
    /** The inode of the file that a transaction is rolled back by, from the first one on. */
    beside: bigint | undefined;
  }
>;

export const REPLACED = 'another file had its name';
const BESIDE = 'somebody removed or replaced the file beside it';

/** Undefined where there is no file. */
export function identityOf(path: string): Identity | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const { dev, ino, size, mtimeNs, blocks } = found;
  const beside = statSync(`${path}-journal`, { bigint: true, throwIfNoEntry: false })?.ino;
  return { dev, ino, size, mtimeNs, blocks, beside };
}

/** What somebody has done to a file since it was seen; undefined where nobody did. */
export function changeOf(
  seen: Identity | undefined,
  now: Identity | undefined,
): string | undefined {
  if (now === undefined) return 'somebody removed it';
  if (now.dev !== seen?.dev || now.ino !== seen.ino) return REPLACED;
  if (now.size !== seen.size || now.mtimeNs !== seen.mtimeNs) return 'somebody changed it';
  // SQLite goes on with a file that has no name, which the next start would not find
  if (now.beside !== seen.beside && seen.beside !== undefined) return BESIDE;
  return undefined;
}

/**
 * Tells whether there is a journal at a path; `false` where there is nothing. Throws where
 * something else has the name, or the rights are wanting. Not for a file that this process owns:
 * it is opened and closed.
 */
function isJournal(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  // to open a pipe would wait for whoever writes into it
  if (!found.isFile()) throw new StoreError('unwritable', 'it is no regular file');
  const begins = beginningOf(path);
  // an empty file is one that was about to become a journal
  if (begins === '' || begins === DATABASE_MARK) return begins !== '';
  const what = `it is no journal of accepted points, but begins with ${quote(begins)}`;
  throw new StoreError('refused', `${what}: name another file`);
}

/**
 * Tells whether there is a journal at a path. Throws where one cannot be written, or made, for want
 * of rights, or would be on a file system that is not of this machine.
 */
function findJournal(path: string, anyFileSystem: boolean): boolean {
  const exists = isJournal(path);
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) {
    throw new StoreError('unwritable', `there is no folder ${folder}`);
  }
  // the name of the file beside it may be too long
  statSync(`${path}-journal`, { throwIfNoEntry: false });
  if (exists) accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(folder, constants.W_OK);
  const name = anyFileSystem ? undefined : REMOTE.get(statfsSync(folder).type);
  if (name === undefined) return exists;
  const reason = `it is on ${name}, whose locks and flushes cannot be relied on`;
  const cure = 'name a file on a disk of this machine, or add --journal-any-fs';
  throw new StoreError('refused', `${reason}: ${cure}`);
}

/** Owns the journal at a path, which is begun where there is nothing. Throws where it is damaged. */
export function openOwn(path: string, anyFileSystem: boolean): Database {
  if (!findJournal(path, anyFileSystem)) makeJournal(path);
  const db = new Database(path);
  try {
    db.check();
    return db;
  } catch (error) {
    db.release();
    throw error;
  }
}

/** Begins a journal at a path where there is nothing, and lets go of it. */
function makeJournal(path: string, head?: Head, posts: readonly Post[] = []): void {
  const db = new Database(path);
  try {
    db.begin();
    db.makeTables();
    if (head !== undefined) db.head = head;
    db.insert(posts);
    db.commit();
  } catch (error) {
    throw storeError(error);
  } finally {
    db.release();
  }
}

/**
 * Reads a journal that no process has open: its state, and the posts behind a sequence. What a
 * process that was killed has left unfinished is taken back, as the next start would.
 */
export function readJournal(path: string, after: number): Posted {
  if (!isJournal(path)) throw new StoreError('refused', 'there is no journal');
  const db = new Database(path, false);
  try {
    db.check();
    const { name, lastSequence: through, nextId } = db.head;
    return { name, posts: [...db.postsBehind(after)], through, nextId };
  } catch (error) {
    throw storeError(error);
  } finally {
    db.release();
  }
}

/**
 * Whether the file that has a journal's name is an older copy of the journal with this head, or
 * empty. Throws where a process owns the file.
 */
export function isOlderCopy(path: string, head: Head): boolean {
  try {
    if (!isJournal(path)) return true;
    const db = new Database(path);
    try {
      const { name, lastSequence } = db.head;
      return name === head.name && lastSequence <= head.lastSequence;
    } finally {
      db.release();
    }
  } catch (error) {
    const found = storeError(error);
    if (found.fault === 'refused') return false;
    if (found.fault !== 'locked') throw found;
    throw new StoreError('locked', 'another process owns the file that has its name now');
  }
}

/** Room that must be there before posts are accepted again: that of some large ones. */
const ROOM = Buffer.alloc(256 * 1024);

/** Tries whether there is room beside a path: a transaction that changes nothing needs none. */
export function tryRoom(path: string): void {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, ROOM, { flush: true });
  } catch (error) {
    throw storeError(error);
  } finally {
    removeBoth(draft);
  }
}

/** Writes a journal beside a path, for whoever may read what is there. Returns its own path. */
export function makeDraft(path: string, head: Head, posts: readonly Post[]): string {
  const draft = draftOf(path);
  const rights = statSync(path, { throwIfNoEntry: false });
  removeBoth(draft);
  try {
    makeJournal(draft, head, posts);
    if (rights !== undefined) keepRights(draft, rights);
  } catch (error) {
    // it would take the room that is wanted
    removeBoth(draft);
    throw error;
  }
  rmSync(`${draft}-journal`);
  return draft;
}

function draftOf(path: string): string {
  return `${path}.new`;
}

/** Removes a journal that may be there, and what SQLite has beside it. */
function removeBoth(path: string): void {
  for (const suffix of ['', '-journal']) rmSync(path + suffix, { force: true });
}
