import { chmodSync, chownSync, renameSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { flushFolder } from '../flush-folder.js';
import { Copy, CRC_MASK } from './copy.js';
import {
  type Connection,
  check,
  connect,
  type Head,
  headOf,
  isJournal,
  isUndone,
  makeDatabase,
  newHead,
  postOf,
  postsOf,
  putHead,
  type Row,
  release,
  requireLocal,
  requireRights,
  sizeOf,
  storeError,
  valuesOf,
} from './database.js';
import { type Appended, type NewPost, type Post, StoreError } from './journal.js';

/** The whole file is compared with memory, for this share of the time at most. */
const AUDIT_SHARE = 1 / 20;
const DIFFERENT = 'it has not what was written';

/** By what a file that somebody else changed or replaced is known. */
type Identity = Readonly<Record<'dev' | 'ino' | 'size' | 'mtimeNs', bigint>>;

/** Opened posts, and what the log says of them. */
export interface StoreOptions {
  /** Takes a file that is not on a disk of this machine. */
  readonly anyFileSystem?: boolean;
  /** Hears why the file was written anew. */
  readonly onAnew?: (reason: string) => void;
}

/**
 * A journal in one SQLite file, which this process owns. Every method works to its end, so it
 * belongs in a thread of its own. Nothing else in the process may open the file: the system drops
 * the lock with any descriptor of it that is closed.
 *
 * Memory has a copy of all posts. Before and after each transaction the file is compared with what
 * it was: one that is gone, cut, or older is written anew from the copy, in a new file which then
 * gets the name. All methods throw a {@link StoreError}.
 */
export class Store {
  readonly #path: string;
  readonly #onAnew: (reason: string) => void;
  /** Undefined while no file is owned. */
  #connection: Connection | undefined;
  #head: Head;
  readonly #copy = new Copy();
  #seen: Identity | undefined;
  /** Why the file may have something else than the copy. */
  #doubt: string | undefined;
  /** Whether the file was compared with the copy since something was written. */
  #isAudited = true;
  /** By `performance.now()`: the next comparison is not earlier. */
  #auditAt = 0;

  /** Opens a journal, or begins one, and owns it until it is closed. */
  constructor(path: string, { anyFileSystem = false, onAnew = () => {} }: StoreOptions = {}) {
    this.#path = path;
    this.#onAnew = onAnew;
    try {
      const exists = isJournal(path);
      requireRights(path, exists);
      if (!anyFileSystem) requireLocal(dirname(path));
      this.#head = newHead();
      if (!exists) makeDatabase(path, this.#head, []);
      this.#connection = connect(path);
      this.#load(this.#connection);
      this.#seen = identityOf(path);
    } catch (error) {
      if (this.#connection !== undefined) release(this.#connection.db);
      throw storeError(error);
    }
  }

  get head(): Head {
    return this.#head;
  }

  get posts(): number {
    return this.#copy.count;
  }

  get bytes(): number {
    return Number(this.#seen?.size ?? 0);
  }

  /** Adds posts in one transaction; a key that was used before fails its post only. */
  append(posts: readonly NewPost[]): readonly Appended[] {
    const inBatch = new Map<string, Post>();
    return this.#write((added, { find }) => {
      let { lastSequence } = this.#head;
      return posts.map((given): Appended => {
        const name = given.key?.name;
        if (name !== undefined) {
          const row = find.get([name]) as Row | undefined;
          const earlier = inBatch.get(name) ?? (row && postOf(row));
          if (earlier !== undefined) return { earlier };
        }
        const post = { ...given, sequence: ++lastSequence };
        if (name !== undefined) inBatch.set(name, post);
        added.push(post);
        return { sequence: lastSequence };
      });
    });
  }

  /** Gives posts other ids, each under a sequence of its own. */
  move(ids: ReadonlyMap<number, number>): readonly Post[] {
    return this.#write((added) => {
      let { lastSequence } = this.#head;
      for (const [sequence, id] of ids) {
        const post = this.#copy.get(sequence);
        if (post === undefined) continue;
        const record = JSON.stringify({ ...JSON.parse(post.record), id });
        added.push({ movedFrom: post.id, ...post, sequence: ++lastSequence, id, record });
      }
      return added;
    }, new Set(ids.keys()));
  }

  /** Forgets posts. */
  prune(sequences: readonly number[]): void {
    this.#write(() => {}, new Set(sequences));
  }

  /** Posts behind a sequence, ascending, `limit` at most. */
  read(after: number, limit: number): readonly Post[] {
    return this.#copy.behind(after, limit);
  }

  find(key: string): Post | undefined {
    this.#restore();
    try {
      const row = this.#connection!.find.get([key]) as Row | undefined;
      return row && postOf(row);
    } catch (error) {
      throw storeError(error);
    }
  }

  /** Looks whether the file is what it should be, and writes it anew where it is not. */
  look(): void {
    const now = performance.now();
    if (now >= this.#auditAt) {
      this.#audit();
      this.#auditAt = now + (performance.now() - now) / AUDIT_SHARE;
    }
    this.#restore();
  }

  /** Tries whether something can be written. */
  probe(): void {
    this.#write(() => {});
  }

  /** Gives the file free; one that is not what it should be is written anew before. */
  close(): void {
    try {
      this.#audit();
      this.#restore();
    } finally {
      this.abandon();
    }
  }

  /** Gives the file free as it is. */
  abandon(): void {
    if (this.#connection !== undefined) release(this.#connection.db);
    this.#connection = undefined;
  }

  /** Reads all posts, and checks that they are what was written. */
  #load({ db }: Connection): void {
    check(db);
    this.#head = headOf(db);
    for (const post of postsOf(db)) this.#copy.add(post);
  }

  /** Runs a transaction that adds what `work` puts into its argument, and removes `gone`. */
  #write<T>(
    work: (added: Post[], connection: Connection) => T,
    gone: ReadonlySet<number> = new Set(),
  ): T {
    this.#restore();
    const connection = this.#connection!;
    const { db, insert, remove } = connection;
    const added: Post[] = [];
    let head: Head;
    let result: T;
    try {
      db.exec('BEGIN IMMEDIATE');
      if (!this.#isSame(db)) {
        db.exec('ROLLBACK');
        this.#doubt = DIFFERENT;
        return this.#write(work, gone);
      }
      result = work(added, connection);
      // what has moved has the key of what goes
      for (const sequence of gone) remove.run([sequence]);
      for (const post of added) insert.run(valuesOf(post));
      head = headBehind(this.#head, added);
      putHead(db, head);
      db.exec('COMMIT');
    } catch (error) {
      throw this.#undo(db, storeError(error));
    }
    this.#keep(head, added, gone);
    return result;
  }

  /** Takes a change that is committed, once the file that has the name is the one that has it. */
  #keep(head: Head, added: readonly Post[], gone: ReadonlySet<number>): void {
    const [oldHead, moment] = [this.#head, this.#copy.moment];
    this.#head = head;
    if (gone.size > 0) this.#copy.remove(gone);
    for (const post of added) this.#copy.add(post);
    this.#isAudited = false;
    try {
      const now = identityOf(this.#path);
      const isOwn = now !== undefined && isSameFile(now, this.#seen);
      if (isOwn && Number(now.size) === sizeOf(this.#connection!.db)) {
        this.#seen = now;
      } else {
        this.#doubt = 'it was changed while it was written';
        this.#restore();
      }
    } catch (error) {
      this.#head = oldHead;
      this.#copy.reset(moment);
      this.#doubt ??= 'a transaction failed';
      throw storeError(error);
    }
  }

  /** Rolls a transaction back that failed with an error, and returns the error. */
  #undo(db: Connection['db'], error: StoreError): StoreError {
    if (!isUndone(error)) this.#doubt ??= `a transaction failed: ${error.message}`;
    try {
      if (db.inTransaction) db.exec('ROLLBACK');
    } catch {
      this.#doubt ??= 'a transaction could not be rolled back';
    }
    // damage under the hands of this process is mended from the copy
    return error.fault === 'refused' ? new StoreError('failing', error.message, error) : error;
  }

  /** Whether the file has the head and the last post that the copy has. */
  #isSame(db: Connection['db']): boolean {
    const { name, lastSequence, nextId } = headOf(db);
    const last = db.prepare('SELECT max(sequence) AS sequence FROM posts').get() as Row;
    const own = this.#head;
    return (
      name === own.name &&
      lastSequence === own.lastSequence &&
      nextId === own.nextId &&
      (last.sequence ?? 0) === this.#copy.lastSequence
    );
  }

  /** Compares the whole file with the copy. */
  #audit(): void {
    const db = this.#connection?.db;
    if (this.#isAudited || db === undefined || this.#doubt !== undefined) return;
    try {
      // what SQLite has in its own memory says nothing of the file
      db.exec('PRAGMA shrink_memory');
      const sums = `SELECT count(*) AS count, coalesce(sum(crc & ${CRC_MASK}), 0) AS crcs FROM posts`;
      const { count, crcs } = db.prepare(sums).get() as { count: number; crcs: number };
      const isWhole = count === this.#copy.count && crcs === this.#copy.crcs;
      if (!isWhole || !this.#isSame(db)) this.#doubt = DIFFERENT;
      this.#isAudited = true;
    } catch (error) {
      this.#doubt = storeError(error).message;
    }
  }

  /** Makes sure that the file that has the name is owned and has what the copy has. */
  #restore(): void {
    try {
      const now = identityOf(this.#path);
      let reason = this.#doubt;
      if (now === undefined) {
        reason = 'somebody removed it';
      } else if (!isSameFile(now, this.#seen)) {
        this.#judgeOther();
        reason = 'another file had its name';
      } else if (now.size !== this.#seen!.size || now.mtimeNs !== this.#seen!.mtimeNs) {
        reason = 'somebody changed it';
      }
      if (reason === undefined && this.#connection !== undefined) return;
      this.#writeAnew();
      this.#onAnew(reason ?? 'it was given free');
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Looks at a file that has the name and is not this journal's. Throws where a process owns it;
   * what is no older copy of this journal is put aside.
   */
  #judgeOther(): void {
    let isOlder = false;
    try {
      if (!isJournal(this.#path)) return;
      const { db } = connect(this.#path);
      try {
        const { name, lastSequence } = headOf(db);
        isOlder = name === this.#head.name && lastSequence <= this.#head.lastSequence;
      } finally {
        release(db);
      }
    } catch (error) {
      const { fault } = storeError(error);
      if (fault === 'locked') {
        throw new StoreError('locked', 'another process owns the file that has its name now');
      }
      if (fault !== 'refused') throw error;
    }
    if (!isOlder) renameSync(this.#path, `${this.#path}.aside-${Date.now()}`);
  }

  /** Writes a file of the copy, gives it the name, and owns it. */
  #writeAnew(): void {
    const draft = `${this.#path}.new`;
    const rights = this.#rights();
    for (const suffix of ['', '-journal']) rmSync(draft + suffix, { force: true });
    makeDatabase(draft, this.#head, this.#copy);
    if (rights !== undefined) giveRights(draft, rights);
    this.abandon();
    // SQLite would play back into the new file what was meant for the old one
    rmSync(`${this.#path}-journal`, { force: true });
    renameSync(draft, this.#path);
    flushFolder(dirname(this.#path));
    rmSync(`${draft}-journal`, { force: true });
    this.#seen = identityOf(this.#path);
    this.#connection = connect(this.#path);
    if (!this.#isSame(this.#connection.db)) throw new StoreError('failing', DIFFERENT);
    this.#seen = identityOf(this.#path);
    this.#doubt = undefined;
    this.#isAudited = true;
  }

  #rights(): Stats | undefined {
    return statSync(this.#path, { throwIfNoEntry: false });
  }
}

function headBehind(head: Head, added: readonly Post[]): Head {
  let { lastSequence, nextId, lastTime } = head;
  for (const { sequence, id, createdAt } of added) {
    lastSequence = sequence;
    nextId = Math.max(nextId, id + 1);
    lastTime = Math.max(lastTime, createdAt);
  }
  return { name: head.name, lastSequence, nextId, lastTime };
}

function identityOf(path: string): Identity | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSameFile(one: Identity, other: Identity | undefined): boolean {
  return one.dev === other?.dev && one.ino === other.ino;
}

/** The readers of the file that was there are to read the new one, too. */
function giveRights(path: string, { mode, uid, gid }: Stats): void {
  chmodSync(path, mode & 0o777);
  try {
    chownSync(path, uid, gid);
  } catch {
    // only root gives files away
  }
}
