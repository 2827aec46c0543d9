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

/** What differs once somebody else changed or replaced a file. */
export type FileFacts = Readonly<
  Record<'dev' | 'ino' | 'size' | 'mtimeNs' | 'blocks', bigint> & {
    /** The inode of SQLite's rollback journal, from the first transaction on. */
    beside: bigint | undefined;
  }
>;

export const REPLACED = 'another file had its name';
const BESIDE = 'somebody removed or replaced the file beside it';

export function fileFacts(path: string): FileFacts | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const { dev, ino, size, mtimeNs, blocks } = found;
  const beside = statSync(`${path}-journal`, { bigint: true, throwIfNoEntry: false })?.ino;
  return { dev, ino, size, mtimeNs, blocks, beside };
}

/** What somebody did to a file since it was seen; undefined for nothing. */
export function foreignChange(
  seen: FileFacts | undefined,
  now: FileFacts | undefined,
): string | undefined {
  if (now === undefined) return 'somebody removed it';
  if (now.dev !== seen?.dev || now.ino !== seen.ino) return REPLACED;
  if (now.size !== seen.size || now.mtimeNs !== seen.mtimeNs) return 'somebody changed it';
  // SQLite goes on with a file that has no name, which the next start would not find
  if (now.beside !== seen.beside && seen.beside !== undefined) return BESIDE;
  return undefined;
}

/**
 * Whether there is a journal at a path. Throws where something else has the name, or for lack of
 * rights. Closes a descriptor of the file: never to be called for one that this process owns.
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
 * Throws where something else than a journal has the name, the rights to write or make one are
 * lacking, or the file system is not of this machine.
 */
function checkPlace(path: string, anyFileSystem: boolean): void {
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
  if (name === undefined) return;
  const reason = `it is on ${name}, whose locks and flushes cannot be relied on`;
  const cure = 'name a file on a disk of this machine, or add --journal-any-fs';
  throw new StoreError('refused', `${reason}: ${cure}`);
}

/** Owns the journal at a path, made where there is none. Throws where it is damaged. */
export function openOwn(path: string, anyFileSystem: boolean): Database {
  checkPlace(path, anyFileSystem);
  const db = new Database(path);
  try {
    // also one that a start left which was ended, or had no room
    if (db.isEmpty) fill(db);
    db.check('integrity_check');
    return db;
  } catch (error) {
    db.release();
    throw error;
  }
}

/** Does something with a file, and releases it. Throws StoreErrors. */
function withDatabase<T>(path: string, work: (db: Database) => T, isOwner = true): T {
  let db: Database | undefined;
  try {
    db = new Database(path, isOwner);
    return work(db);
  } catch (error) {
    throw storeError(error);
  } finally {
    db?.release();
  }
}

/** Makes a journal of an empty file. */
function fill(db: Database, head?: Head, posts: readonly Post[] = []): void {
  db.begin();
  db.makeTables();
  if (head !== undefined) db.head = head;
  db.insert(posts);
  db.commit();
}

/**
 * Reads the state and the posts behind a sequence of a journal that no process has open. Rolls back
 * what a killed process left unfinished, as the next start would.
 */
export function readJournal(path: string, after: number): Posted {
  if (!isJournal(path)) throw new StoreError('refused', 'there is no journal');
  const read = (db: Database): Posted => {
    db.check('integrity_check');
    const { name, lastSequence: through, nextId } = db.head;
    return { name, posts: [...db.postsBehind(after)], through, removed: 0, nextId };
  };
  return withDatabase(path, read, false);
}

/**
 * Whether the file that has a journal's name is an older copy of the journal with this head, or
 * empty. Throws where a process owns the file.
 */
export function isOlderCopy(path: string, head: Head): boolean {
  try {
    if (!isJournal(path)) return true;
    const { name, lastSequence } = withDatabase(path, (db) => db.head);
    return name === head.name && lastSequence <= head.lastSequence;
  } catch (error) {
    const found = storeError(error);
    if (found.fault === 'refused') return false;
    if (found.fault !== 'locked') throw found;
    throw new StoreError('locked', 'another process owns the file that has its name now');
  }
}

/** Room for some large posts must be there before posts are accepted again. */
const ROOM = Buffer.alloc(256 * 1024);

/** Throws where the disk is full: a transaction that changes nothing would not tell. */
export function tryRoom(path: string): void {
  const draft = draftOf(path);
  try {
    try {
      writeFileSync(draft, ROOM, { flush: true });
    } finally {
      removeBoth(draft);
    }
  } catch (error) {
    throw storeError(error);
  }
}

/** Writes a journal beside that of a path, with the same rights, and returns its path. */
export function makeDraft(path: string, head: Head, posts: readonly Post[]): string {
  const draft = draftOf(path);
  const rights = statSync(path, { throwIfNoEntry: false });
  removeBoth(draft);
  try {
    withDatabase(draft, (db) => fill(db, head, posts));
    if (rights !== undefined) keepRights(draft, rights);
  } catch (error) {
    // what was written of the draft takes room that is needed
    removeBoth(draft);
    throw error;
  }
  rmSync(`${draft}-journal`);
  return draft;
}

function draftOf(path: string): string {
  return `${path}.new`;
}

/** Removes a journal, which may be missing, and SQLite's file beside it. */
function removeBoth(path: string): void {
  for (const suffix of ['', '-journal']) rmSync(path + suffix, { force: true });
}
