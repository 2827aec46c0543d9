import { renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { flushFolder, targetOf } from '../formats/system-files.js';
import { crcsOf, Database, type Head, headBehind, isUndone, storeError } from './database.js';
import {
  type Appended,
  type JournalState,
  type Move,
  type NewPost,
  type Post,
  StoreError,
} from './journal.js';
import {
  type FileFacts,
  fileFacts,
  foreignChange,
  isOlderCopy,
  makeDraft,
  openOwn,
  REPLACED,
  tryRoom,
} from './journal-file.js';

/** Comparing the whole file with memory takes this share of the time at most. */
const AUDIT_SHARE = 1 / 50;
const DIFFERENT = 'it has not what was written';

/** What the file should have: posts, ascending by sequence, and the sum of their CRCs. */
interface Memory extends Pick<JournalState, 'keptAfter'> {
  readonly head: Head;
  readonly posts: Post[];
  readonly crcs: number;
}

/**
 * A journal in one SQLite file, which this process owns until it is closed. Methods are
 * synchronous: a store belongs in a thread of its own. Nothing else in the process may open the
 * file: the system drops the lock with any descriptor of it that is closed.
 * Memory has all posts. Around each transaction the file is compared with it: a file that is gone,
 * cut or older is written anew, and renamed into place. Methods throw a {@link StoreError}.
 */
export class Store {
  readonly #path: string;
  readonly #onAnew: (reason: string) => void;
  /** Undefined while no file is owned. */
  #db: Database | undefined;
  #memory: Memory;
  #seen: FileFacts | undefined;
  /** Why the file may differ from memory. */
  #doubt: string | undefined;
  /** Whether the whole file was compared since the last transaction, and when to do so next. */
  #isAudited = true;
  #auditAt = 0;

  /** `onAnew` hears each time why the file was written anew. */
  constructor(path: string, anyFileSystem = false, onAnew: (reason: string) => void = () => {}) {
    this.#onAnew = onAnew;
    try {
      this.#path = targetOf(path);
      this.#db = openOwn(this.#path, anyFileSystem);
      const { head, sums } = this.#db;
      const posts = [...this.#db.postsBehind(0)];
      const keptAfter = keptAfterOf(head.lastSequence, posts);
      this.#memory = { head, posts, crcs: sums.crcs, keptAfter };
      this.#seen = fileFacts(this.#path);
    } catch (error) {
      this.abandon();
      throw storeError(error);
    }
  }

  get state(): Head & Pick<JournalState, 'posts' | 'keptAfter' | 'bytes'> {
    const { head, posts, keptAfter } = this.#memory;
    return { ...head, posts: posts.length, keptAfter, bytes: Number(this.#seen?.size ?? 0) };
  }

  /** Adds posts in one transaction; a key that was used before fails its post only. */
  append(posts: readonly NewPost[]): readonly Appended[] {
    const inBatch = new Map<string, Post>();
    return this.#write((added, db) => {
      let { lastSequence } = this.#memory.head;
      return posts.map(({ id, createdAt, record, key }): Appended => {
        const earlier = key && (inBatch.get(key.name) ?? db.find(key.name));
        if (earlier !== undefined) return earlier;
        // a literal is made many times faster than a copy
        const post = { sequence: ++lastSequence, id, createdAt, record, key };
        if (key !== undefined) inBatch.set(key.name, post);
        added.push(post);
        return lastSequence;
      });
    });
  }

  move(moves: readonly Move[]): readonly Post[] {
    const gone = new Set(moves.map(({ sequence }) => sequence));
    return this.#write((added) => {
      let { lastSequence } = this.#memory.head;
      for (const { sequence, id, record } of moves) {
        const [post] = this.read(sequence - 1, 1);
        if (post?.sequence !== sequence) continue;
        added.push({ movedFrom: post.id, ...post, sequence: ++lastSequence, id, record });
      }
      return added;
    }, gone);
  }

  prune(sequences: readonly number[]): void {
    this.#write(() => {}, new Set(sequences));
  }

  read(after: number, limit: number): readonly Post[] {
    const { posts } = this.#memory;
    // by halves: a reader of all posts asks for a few at a time
    let from = 0;
    for (let to = posts.length; from < to; ) {
      const middle = (from + to) >>> 1;
      if (posts[middle]!.sequence <= after) from = middle + 1;
      else to = middle;
    }
    return posts.slice(from, from + limit);
  }

  find(key: string): Post | undefined {
    this.#restore();
    try {
      return this.#db!.find(key);
    } catch (error) {
      throw this.#undo(this.#db!, storeError(error));
    }
  }

  /** Writes the file anew where it differs from memory; of a failing one also tries the room. */
  look(isFailing = false): void {
    const now = performance.now();
    const isDue = now >= this.#auditAt;
    this.#compare(isDue);
    if (isDue) this.#auditAt = now + (performance.now() - now) / AUDIT_SHARE;
    this.#restore();
    if (isFailing) tryRoom(this.#path);
  }

  /** Writes the file anew where it differs from memory, then releases it. */
  close(): void {
    try {
      this.#compare(true);
      this.#restore();
    } finally {
      this.abandon();
    }
  }

  /** Releases the file as it is. */
  abandon(): void {
    this.#db?.release();
    this.#db = undefined;
  }

  /** Runs a transaction that adds what `work` puts into its argument, and removes `gone`. */
  #write<T>(work: (added: Post[], db: Database) => T, gone: ReadonlySet<number> = new Set()): T {
    // a change by others during the last transaction is part of what was seen after it
    this.look();
    const db = this.#db!;
    const added: Post[] = [];
    let result: T;
    let crcs: number;
    try {
      db.begin();
      result = work(added, db);
      // a moved post has the key of the one that goes
      for (const sequence of gone) db.remove(sequence);
      crcs = db.insert(added);
      db.head = headBehind(this.#memory.head, added);
      db.commit();
    } catch (error) {
      throw this.#undo(db, storeError(error));
    }
    this.#keep(added, crcs, gone);
    return result;
  }

  /** Takes a committed change into memory, where the file that has the name has it. */
  #keep(added: readonly Post[], crcs: number, gone: ReadonlySet<number>): void {
    const before = this.#memory;
    const { length } = before.posts;
    const next = { ...before, head: headBehind(before.head, added), crcs: before.crcs + crcs };
    if (gone.size > 0) {
      next.posts = before.posts.filter(({ sequence }) => !gone.has(sequence));
      next.crcs = crcsOf(next.posts) + crcs;
    }
    for (const post of added) next.posts.push(post);
    if (gone.size > 0) next.keptAfter = keptAfterOf(next.head.lastSequence, next.posts);
    this.#memory = next;
    try {
      if (!this.#see()) {
        this.#doubt = 'it was changed while it was written';
        this.#restore();
      }
    } catch (error) {
      before.posts.length = length;
      this.#memory = before;
      this.#doubt ??= 'a transaction failed';
      throw storeError(error);
    }
  }

  /** Takes the file as it is after a transaction. False where it cannot be what SQLite wrote. */
  #see(): boolean {
    const now = fileFacts(this.#path);
    const { dev, ino, beside = now?.beside } = this.#seen!;
    if (now?.dev !== dev || now.ino !== ino || Number(now.size) !== this.#db!.size) return false;
    if (beside === undefined || now.beside !== beside) return false;
    // the file was cut, and has its size again by what was written behind the cut
    if (now.blocks < this.#seen!.blocks) this.#auditAt = 0;
    this.#isAudited = false;
    this.#seen = now;
    return true;
  }

  /** Rolls back the transaction, if any, in which an error came, and returns the error. */
  #undo(db: Database, error: StoreError): StoreError {
    if (!isUndone(error)) this.#doubt ??= `a transaction failed: ${error.message}`;
    try {
      db.rollback();
      // the rollback has written to the file
      if (this.#doubt === undefined) this.#see();
    } catch {
      this.#doubt ??= 'a transaction could not be rolled back';
    }
    // damage is mended from memory while this process has the file
    return error.fault === 'refused' ? new StoreError('failing', error.message, error) : error;
  }

  /** Whether the file has the head and the last post that memory has. */
  #isSame(db: Database): boolean {
    db.forget();
    const { head, posts } = this.#memory;
    const last = posts.at(-1)?.sequence ?? 0;
    return isDeepStrictEqual(db.head, head) && db.lastSequence === last;
  }

  /** Compares the file's head and last post with memory, or all of it. */
  #compare(isWhole: boolean): void {
    const db = this.#db;
    if (db === undefined || this.#doubt !== undefined) return;
    try {
      let isSame = this.#isSame(db);
      if (isWhole && !this.#isAudited) {
        db.check('quick_check');
        const { posts, crcs } = this.#memory;
        isSame &&= isDeepStrictEqual(db.sums, { count: posts.length, crcs });
        this.#isAudited = true;
      }
      if (!isSame) this.#doubt = DIFFERENT;
    } catch (error) {
      this.#doubt = storeError(error).message;
    }
  }

  /** Makes sure that the file of this name is owned and has what memory has. */
  #restore(): void {
    const path = this.#path;
    try {
      const now = fileFacts(path);
      const change = foreignChange(this.#seen, now);
      if (change === REPLACED && !isOlderCopy(path, this.#memory.head)) {
        renameSync(path, `${path}.aside-${Date.now()}`);
      }
      const reason = change ?? this.#doubt;
      if (reason === undefined && this.#db !== undefined) return;
      this.#writeAnew();
      this.#onAnew(reason ?? 'it was given free');
    } catch (error) {
      throw storeError(error);
    }
  }

  /** Writes a file from memory, gives it the name, and owns it. */
  #writeAnew(): void {
    const draft = makeDraft(this.#path, this.#memory.head, this.#memory.posts);
    this.abandon();
    // SQLite would roll back the new file by the rollback journal of the old one
    rmSync(`${this.#path}-journal`, { force: true });
    renameSync(draft, this.#path);
    flushFolder(dirname(this.#path));
    this.#seen = fileFacts(this.#path);
    this.#db = new Database(this.#path);
    if (!this.#isSame(this.#db)) throw new StoreError('failing', DIFFERENT);
    this.#seen = fileFacts(this.#path);
    this.#doubt = undefined;
    this.#isAudited = true;
  }
}

/** All posts behind this sequence are kept. */
export function keptAfterOf(lastSequence: number, posts: readonly Post[]): number {
  let kept = lastSequence;
  for (let i = posts.length - 1; posts[i]?.sequence === kept; i--) kept--;
  return kept;
}
