import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import type Sqlite from 'libsql';
import type { Microseconds } from '../model/units.js';
import { type Post, type PostRow, postOf, StoreError, type StoreFault } from './journal.js';

/** Error codes of the system that last until somebody changes something. */
const RIGHTS = new Set(['EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG', 'ENOTDIR', 'ELOOP']);
// result codes of SQLite
const [ERROR, BUSY, READONLY, IOERR] = [1, 5, 8, 10];
const [CORRUPT, FULL, CANTOPEN, NOTADB] = [11, 13, 14, 26];

/** The error for one of SQLite's or the system's. */
export function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  const raw = resultOf(error);
  const make = (fault: StoreFault, text: string): StoreError => new StoreError(fault, text, error);
  if (raw === BUSY) return make('locked', 'another process owns it');
  if (raw === CORRUPT || raw === NOTADB) return make('refused', `it is damaged: ${message}`);
  // such as a database of other tables
  if (raw === ERROR) return make('refused', `it is no journal of this service: ${message}`);
  if (raw === READONLY || RIGHTS.has(code ?? '')) {
    return make('unwritable', `it cannot be written (${code ?? message})`);
  }
  if (code === 'ENOENT') return make('failing', 'there is no such folder');
  if (raw === FULL || code === 'ENOSPC') return make('failing', 'the disk is full');
  if (raw === IOERR) return make('failing', `the disk fails (${code})`);
  if (raw === CANTOPEN) return make('failing', 'it cannot be opened');
  return make('failing', `it cannot be used (${code ?? message})`);
}

/** Whether a transaction that failed with this error left nothing in the file. */
export function isUndone({ cause }: StoreError): boolean {
  const raw = cause === undefined ? 0 : resultOf(cause);
  return raw === FULL || raw === BUSY;
}

/** The primary result code of SQLite's error; 0 of another. */
function resultOf(error: unknown): number {
  const { message, rawCode } = error as Error & { rawCode?: number };
  // the library has no code for a file that cannot be opened
  return (rawCode ?? Number(/: (\d+)"?\)?$/.exec(message)?.[1] ?? 0)) & 0xff;
}

/** Raise it once older versions cannot read the tables any more. */
const SCHEMA = 1;
const PAGE_BYTES = 4096;
const NAME = /^[0-9a-f]{16}$/;
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

/** The one row of the table `state`. */
export interface Head {
  readonly name: string;
  readonly lastSequence: number;
  readonly nextId: number;
  readonly lastTime: Microseconds;
}

export function headBehind(head: Head, added: readonly Post[]): Head {
  return {
    name: head.name,
    lastSequence: added.at(-1)?.sequence ?? head.lastSequence,
    nextId: added.reduce((most, { id }) => Math.max(most, id + 1), head.nextId),
    lastTime: added.reduce((most, { createdAt }) => Math.max(most, createdAt), head.lastTime),
  };
}

interface Row extends Omit<PostRow, 'record' | 'key' | 'body'> {
  readonly record: ArrayBuffer;
  readonly key: ArrayBuffer | null;
  readonly body: ArrayBuffer | null;
  readonly crc: number;
}

// texts are read as bytes: the library ends the process where one is no UTF-8
const SELECT = `SELECT sequence, id, created_at AS createdAt, CAST(record AS BLOB) AS record,
  CAST(key AS BLOB) AS key, CAST(body AS BLOB) AS body, moved_from AS movedFrom, crc FROM posts`;
const HEAD = `SELECT schema, CAST(name AS BLOB) AS name,
  last_sequence AS lastSequence, next_id AS nextId, last_time AS lastTime FROM state`;
const INSERT = 'INSERT INTO posts VALUES ';
const ROW = '(?, ?, ?, ?, ?, ?, ?, ?)';
/** Rows of one INSERT: a call of the library takes as long as a row. */
const MOST_ROWS = 8;
/** Sums have 24 bits of each CRC, and so are exact for 2^29 posts. */
const CRC_MASK = 0xffffff;

const NO_SQLITE =
  'install the optional packages, too (npm ci without --omit=optional), or serve with --journal none or postgres://…';

/** Loads the library, whose part for each platform is an optional package. Throws a StoreError. */
function loadSqlite(): typeof Sqlite {
  try {
    return createRequire(import.meta.url)('libsql');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = `SQLite cannot be loaded (${code ?? message})`;
    throw new StoreError('refused', `${reason}: ${NO_SQLITE}`, error);
  }
}

/** A connection to a journal's file. Its methods throw what SQLite does. */
export class Database {
  readonly #db: Sqlite.Database;
  readonly #prepared = new Map<string, Sqlite.Statement>();

  /** Connects to a file, made where there is none; an owner locks it until {@link release}. */
  constructor(path: string, isOwner = true) {
    // the library would take some names for addresses
    this.#db = new (loadSqlite())(resolve(path));
    if (!isOwner) return;
    try {
      this.#db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
      // the lock is kept until the release, or the end of the process
      this.#db.pragma('locking_mode = EXCLUSIVE');
      // at rest one file has everything
      this.#db.pragma('journal_mode = TRUNCATE');
      this.#db.pragma('synchronous = FULL');
      this.#db.exec('BEGIN EXCLUSIVE; COMMIT');
    } catch (error) {
      this.release();
      throw storeError(error);
    }
  }

  /** Releases the lock. Closing alone would release it only when garbage is collected. */
  release(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      this.#db.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema');
    } catch {
      // the end of the process releases the lock
    }
    this.#db.close();
  }

  begin(): void {
    this.#db.exec('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.#db.exec('COMMIT');
  }

  rollback(): void {
    if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
  }

  /** Whether it has no tables, such as one whose making was broken off. */
  get isEmpty(): boolean {
    const counted = 'SELECT count(*) AS tables FROM sqlite_schema';
    return this.#get<{ tables: number }>(counted)!.tables === 0;
  }

  makeTables(): void {
    this.#db.exec(TABLES);
    const name = randomBytes(8).toString('hex');
    this.#run('INSERT INTO state VALUES (?, ?, 0, 1, 0)', [name, SCHEMA]);
  }

  /** Throws for a journal of a newer version, and for what is no journal. */
  get head(): Head {
    const row = this.#get<Omit<Head, 'name'> & { name: ArrayBuffer; schema: number }>(HEAD);
    if (row === undefined) throw new StoreError('refused', 'its table state has no row');
    const { schema, lastSequence, nextId, lastTime } = row;
    const name = textOf(row.name);
    if (!NAME.test(name)) throw new StoreError('refused', 'it is damaged: its name is none');
    if (schema <= SCHEMA) return { name, lastSequence, nextId, lastTime };
    const reason = `it has schema ${schema}, but this program knows ${SCHEMA}`;
    const cure = 'use the version that wrote it, or a newer one';
    throw new StoreError('refused', `${reason}: ${cure}`);
  }

  set head({ name, lastSequence, nextId, lastTime }: Head) {
    const sql = 'UPDATE state SET name = ?, last_sequence = ?, next_id = ?, last_time = ?';
    this.#run(sql, [name, lastSequence, nextId, lastTime]);
  }

  /** Of the newest post; 0 where there is none. */
  get lastSequence(): number {
    return this.#get<{ last: number }>('SELECT coalesce(max(sequence), 0) AS last FROM posts')!
      .last;
  }

  /** Drops SQLite's page cache, which says nothing of the file. */
  forget(): void {
    this.#db.exec('PRAGMA shrink_memory');
  }

  /** How many posts there are, and the sum of their CRCs by {@link CRC_MASK}. */
  get sums(): { readonly count: number; readonly crcs: number } {
    const { count, crcs } = this.#get<{ count: number; crcs: number }>(
      `SELECT count(*) AS count, coalesce(sum(crc & ${CRC_MASK}), 0) AS crcs FROM posts`,
    )!;
    return { count, crcs };
  }

  /** The size that the file has by SQLite's count. */
  get size(): number {
    return this.#get<{ page_count: number }>('PRAGMA page_count')!.page_count * PAGE_BYTES;
  }

  /** Throws where its CRC is wrong. */
  find(key: string): Post | undefined {
    const row = this.#get<Row>(`${SELECT} WHERE key = ?`, [key]);
    return row && checked(row);
  }

  /** Returns the sum of the posts' CRCs by {@link CRC_MASK}. */
  insert(posts: readonly Post[]): number {
    let crcs = 0;
    for (let from = 0; from < posts.length; from += MOST_ROWS) {
      const rows = posts.slice(from, from + MOST_ROWS);
      const values: unknown[] = [];
      for (const post of rows) {
        const { sequence, id, createdAt, record, key, movedFrom = null } = post;
        const crc = crcOf(post);
        values.push(sequence, id, createdAt, record);
        values.push(key?.name ?? null, key?.body ?? null, movedFrom, crc);
        crcs += crc & CRC_MASK;
      }
      this.#run(INSERT + Array(rows.length).fill(ROW).join(), values);
    }
    return crcs;
  }

  remove(sequence: number): void {
    this.#run('DELETE FROM posts WHERE sequence = ?', [sequence]);
  }

  /** The posts behind a sequence, ascending. Throws where a CRC is wrong. */
  *postsBehind(after: number): Generator<Post, void, undefined> {
    const sql = `${SELECT} WHERE sequence > ? ORDER BY sequence`;
    for (const row of this.#db.prepare(sql).iterate([after])) yield checked(row as Row);
  }

  /** Throws where SQLite finds damage; the `integrity_check` compares the index of keys, too. */
  check(pragma: 'quick_check' | 'integrity_check'): void {
    const [found] = this.#db.pragma(`${pragma}(1)`) as Record<string, string>[];
    const told = found?.[pragma];
    if (told !== 'ok') throw new StoreError('refused', `it is damaged: ${told}`);
  }

  #get<T>(sql: string, values: readonly unknown[] = []): T | undefined {
    return this.#statement(sql).get(values) as T | undefined;
  }

  #run(sql: string, values: readonly unknown[]): void {
    this.#statement(sql).run(values);
  }

  #statement(sql: string): Sqlite.Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

function checked({ crc, record, key, body, ...row }: Row): Post {
  const own = { key: key && textOf(key), body: body && textOf(body) };
  const post = postOf({ ...row, ...own, record: textOf(record) });
  if (crcOf(post) === crc) return post;
  throw new StoreError('refused', `the CRC of post ${post.sequence} is not that of its row`);
}

function textOf(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString();
}

export function crcOf({ sequence, id, createdAt, record, key, movedFrom }: Post): number {
  const facts = [sequence, id, createdAt, key?.name, key?.body, movedFrom].join('\n');
  return crc32(facts + record);
}

export function crcsOf(posts: readonly Post[]): number {
  return posts.reduce((sum, post) => sum + (crcOf(post) & CRC_MASK), 0);
}
