import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import Database from 'libsql';
import type { Microseconds } from '../model/units.js';
import { type Post, StoreError } from './journal.js';

/** Raise it when a version before could not read the tables any more. */
const SCHEMA = 1;
const PAGE_BYTES = 4096;
const TABLES = `
  CREATE TABLE posts (
    sequence INTEGER PRIMARY KEY,
    id INTEGER NOT NULL,
    created_at INTEGER NOT NULL, -- microseconds since the epoch
    record TEXT NOT NULL, -- JSON, as the list shows it
    key TEXT UNIQUE, -- the user, a blank, and the Idempotency-Key
    body TEXT, -- SHA-256 of what the request with the key said
    moved_from INTEGER, -- the id that was acknowledged, where the point has another one by now
    crc INTEGER NOT NULL -- CRC-32 of the other columns
  ) STRICT;
  CREATE TABLE state (
    name TEXT NOT NULL, -- of this journal, random
    schema INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    next_id INTEGER NOT NULL,
    last_time INTEGER NOT NULL -- the latest created_at that there ever was
  ) STRICT;`;
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

/** What the system says where somebody has to change something. */
const RIGHTS = new Set(['EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENAMETOOLONG', 'ENOTDIR']);

// result codes of SQLite
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** What the one row of the table `state` says. */
export interface Head {
  readonly name: string;
  readonly lastSequence: number;
  readonly nextId: number;
  readonly lastTime: Microseconds;
}

/** A connection that owns the file, and the statements that are used all the time. */
export interface Connection {
  readonly db: Database.Database;
  readonly insert: Database.Statement;
  readonly remove: Database.Statement;
  readonly find: Database.Statement;
}

/** A row of the table `posts`. */
export interface Row {
  readonly sequence: number;
  readonly id: number;
  readonly created_at: number;
  readonly record: string;
  readonly key: string | null;
  readonly body: string | null;
  readonly moved_from: number | null;
  readonly crc: number;
}

/** Begins a journal at a path where there is nothing, and lets go of it. */
export function makeDatabase(path: string, head: Head, posts: Iterable<Post>): void {
  const db = own(path);
  try {
    db.exec(`BEGIN IMMEDIATE; ${TABLES}`);
    db.prepare('INSERT INTO state VALUES (?, ?, ?, ?, ?)').run([head.name, SCHEMA, 0, 0, 0]);
    putHead(db, head);
    const insert = db.prepare(INSERT);
    for (const post of posts) insert.run(valuesOf(post));
    db.exec('COMMIT');
  } catch (error) {
    throw storeError(error);
  } finally {
    release(db);
  }
}

/** Connects to a journal that is there, and owns it until {@link release}. */
export function connect(path: string): Connection {
  const db = own(path);
  try {
    return {
      db,
      insert: db.prepare(INSERT),
      remove: db.prepare('DELETE FROM posts WHERE sequence = ?'),
      find: db.prepare('SELECT * FROM posts WHERE key = ?'),
    };
  } catch (error) {
    release(db);
    throw storeError(error);
  }
}

const INSERT = 'INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, ?)';

function own(path: string): Database.Database {
  let db: Database.Database | undefined;
  try {
    // a name is never an address
    db = new Database(resolve(path));
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
    // the lock is kept until the process ends or says otherwise
    db.pragma('locking_mode = EXCLUSIVE');
    // at rest one file has everything
    db.pragma('journal_mode = TRUNCATE');
    db.pragma('synchronous = FULL');
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    return db;
  } catch (error) {
    if (db !== undefined) release(db);
    throw storeError(error);
  }
}

/** Gives the file free. Closing alone would do so when garbage is collected. */
export function release(db: Database.Database): void {
  try {
    if (db.inTransaction) db.exec('ROLLBACK');
    db.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema');
  } catch {
    // the end of the process gives it free
  }
  db.close();
}

/**
 * Reads a journal that no process has open: its state, and the posts behind a sequence. What a
 * process that was killed has left unfinished is taken back, as the next start would.
 */
export function readDatabase(path: string, after: number): { head: Head; posts: readonly Post[] } {
  if (!isJournal(path)) throw new StoreError('refused', 'there is no journal');
  let db: Database.Database | undefined;
  try {
    db = new Database(resolve(path));
    check(db);
    const head = headOf(db);
    return { head, posts: [...postsOf(db, after)] };
  } catch (error) {
    throw storeError(error);
  } finally {
    if (db !== undefined) release(db);
  }
}

/** Reads the state. Throws for a journal of a newer version, and for what is no journal. */
export function headOf(db: Database.Database): Head {
  const row = db.prepare('SELECT * FROM state').get() as
    | { name: string; schema: number; last_sequence: number; next_id: number; last_time: number }
    | undefined;
  if (row === undefined) throw new StoreError('refused', 'its table state has no row');
  if (row.schema > SCHEMA) {
    const reason = `it has schema ${row.schema}, but this program knows ${SCHEMA}: use the version that wrote it, or a newer one`;
    throw new StoreError('refused', reason);
  }
  const { name, last_sequence: lastSequence, next_id: nextId, last_time: lastTime } = row;
  return { name, lastSequence, nextId, lastTime };
}

export function putHead(
  db: Database.Database,
  { lastSequence, nextId, lastTime }: Omit<Head, 'name'>,
): void {
  db.prepare('UPDATE state SET last_sequence = ?, next_id = ?, last_time = ?').run([
    lastSequence,
    nextId,
    lastTime,
  ]);
}

/** A head that nothing was journaled under yet. */
export function newHead(): Head {
  return { name: randomBytes(8).toString('hex'), lastSequence: 0, nextId: 1, lastTime: 0 };
}

/** The values of a row, in the order of its columns. */
export function valuesOf(post: Post): unknown[] {
  const { sequence, id, createdAt, record, key, movedFrom = null } = post;
  const { name = null, body = null } = key ?? {};
  return [sequence, id, createdAt, record, name, body, movedFrom, crcOf(post)];
}

export function postOf(row: Row): Post {
  const { sequence, id, created_at: createdAt, record, key, body, moved_from: from } = row;
  return {
    ...{ sequence, id, createdAt, record },
    ...(key !== null && { key: { name: key, body: body ?? '' } }),
    ...(from !== null && { movedFrom: from }),
  };
}

export function crcOf({ sequence, id, createdAt, record, key, movedFrom }: Post): number {
  const facts = [sequence, id, createdAt, key?.name, key?.body, movedFrom].join('\n');
  return crc32(record, crc32(facts));
}

/** The posts behind a sequence, ascending. Throws where one is not what was written. */
export function* postsOf(db: Database.Database, after = 0): Generator<Post, void, undefined> {
  const behind = 'SELECT * FROM posts WHERE sequence > ? ORDER BY sequence';
  for (const row of db.prepare(behind).iterate([after])) {
    const post = postOf(row as Row);
    if (crcOf(post) !== (row as Row).crc) {
      throw new StoreError('refused', `the CRC of post ${post.sequence} is not that of its row`);
    }
    yield post;
  }
}

/** Throws where SQLite finds damage. */
export function check(db: Database.Database): void {
  const [found] = db.pragma('quick_check(1)') as { quick_check: string }[];
  if (found?.quick_check === 'ok') return;
  throw new StoreError('refused', `it is damaged: ${found?.quick_check}`);
}

/** The size that SQLite takes the file for. */
export function sizeOf(db: Database.Database): number {
  const [row] = db.pragma('page_count') as { page_count: number }[];
  return row!.page_count * PAGE_BYTES;
}

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

/** The error for one of SQLite's or the system's. */
export function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { message, rawCode, code } = error as Error & { rawCode?: number; code?: string };
  // the library has no code for what cannot be opened
  const raw = (rawCode ?? Number(/: (\d+)"?\)?$/.exec(message)?.[1] ?? 0)) & 0xff;
  if (raw === BUSY) return new StoreError('locked', 'another process owns it', error);
  if (raw === CORRUPT || raw === NOTADB) {
    return new StoreError('refused', `it is damaged: ${message}`, error);
  }
  if (raw === READONLY || RIGHTS.has(code ?? '')) {
    return new StoreError('unwritable', `it cannot be written (${code ?? message})`, error);
  }
  if (code === 'ENOENT') {
    return new StoreError('failing', 'there is no such folder', error);
  }
  if (raw === FULL) return new StoreError('failing', 'the disk is full', error);
  if (raw === IOERR) return new StoreError('failing', `the disk fails (${code})`, error);
  if (raw === CANTOPEN) return new StoreError('failing', 'it cannot be opened', error);
  return new StoreError('failing', `it cannot be used (${code ?? message})`, error);
}

/** Whether nothing of a transaction is in the file that failed with this error. */
export function isUndone({ cause }: StoreError): boolean {
  const raw = ((cause as { rawCode?: number } | undefined)?.rawCode ?? 0) & 0xff;
  return raw === FULL || raw === BUSY;
}
