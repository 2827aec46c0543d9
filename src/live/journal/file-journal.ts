import { setImmediate as turn } from 'node:timers/promises';
import type { Claim } from '../../claim.js';
import type { Microseconds } from '../../model/units.js';
import { type Call, requireReadable, takeBatch } from './batch.js';
import { type Disk, reasonOf } from './disk.js';
import { Draft, type JournalFile } from './file.js';
import {
  type Journal,
  type JournalState,
  JournalUnavailable,
  type NewPost,
  type Post,
  type SpentKey,
} from './journal.js';
import { postLines } from './line.js';
import type { Contents } from './reading.js';
import { KEY_LIFETIME, keysSince, select } from './selection.js';

/** Beyond what a journal can reach: a mistake that must not use up all numbers. */
const MAX_WATERMARK: number = 2 ** 52;
/** How often it is tried whether a journal that failed can be written again, in milliseconds. */
const RETRY_MS = 250;
const LOOK_MS = 1_000;

const REASONS = { gone: 'somebody removed it', taken: 'another file has its name' } as const;

export interface JournalOptions {
  /** Takes the seconds that each write took until it was on stable storage, and its posts. */
  readonly onFlush?: (seconds: number, posts: number) => void;
  /** Told once why the journal cannot be written, and once, with undefined, that it can again. */
  readonly onProblem?: (problem: string | undefined) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly disk?: Disk;
  /** How often it is tried whether a journal that failed can be written again, in milliseconds. */
  readonly retryMs?: number;
  /** How often it is looked whether the file is in its place, in milliseconds. */
  readonly lookMs?: number;
}

/** The parts of an open journal, and what its file holds. */
export interface Opened {
  readonly file: JournalFile;
  readonly lock: Claim;
  readonly disk: Disk;
  readonly contents: Contents;
  readonly opened: Journal['opened'];
}

/** A journal in one file. */
export class FileJournal implements Journal {
  readonly opened: Journal['opened'];
  readonly #file: JournalFile;
  readonly #lock: Claim;
  readonly #disk: Disk;
  readonly #options: JournalOptions;
  #posts: Post[];
  #keys: readonly SpentKey[];
  #lastSequence: number;
  /** The number of the next post, for whoever reads the file. */
  #expected: number;
  #nextId: number;
  #lastTime: Microseconds;
  #foreign: number;
  #queue: Call[] = [];
  #draining: Promise<void> | undefined;
  #isClosed = false;
  #problem: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  readonly #looking: NodeJS.Timeout;
  /** Settles when the file is free for the next who works on it. */
  #working: Promise<unknown> = Promise.resolve();
  #retiring: Promise<unknown> = Promise.resolve();

  constructor({ file, lock, disk, contents, opened }: Opened, options: JournalOptions) {
    this.opened = opened;
    this.#file = file;
    this.#lock = lock;
    this.#disk = disk;
    this.#options = options;
    this.#posts = [...contents.posts];
    this.#keys = contents.keys;
    this.#expected = contents.nextSequence;
    this.#lastSequence = contents.nextSequence - 1;
    this.#nextId = contents.nextId;
    this.#lastTime = contents.lastTime;
    this.#foreign = contents.foreign;
    this.#looking = setInterval(() => this.#look(), options.lookMs ?? LOOK_MS).unref();
  }

  get state(): JournalState {
    return {
      bytes: this.#file.bytes,
      waiting: this.#posts.length,
      lastSequence: this.#lastSequence,
      nextId: this.#nextId,
      lastTime: this.#lastTime,
      problem: this.#problem,
    };
  }

  append(posts: readonly NewPost[]): Promise<readonly Post[]> {
    requireReadable(posts);
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    if (posts.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#queue.push({ posts, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  replay(): Iterable<Post> {
    return this.#posts.values();
  }

  keys(): Iterable<SpentKey> {
    return keysSince({ posts: this.#posts, keys: this.#keys }, this.#now() - KEY_LIFETIME);
  }

  retire(
    isRetired: (post: Post) => boolean,
    moves: ReadonlyMap<number, number> = new Map(),
  ): Promise<void> {
    const rewritten = this.#retiring.then(() => this.#rewrite(isRetired, moves));
    this.#retiring = rewritten.catch(() => {});
    return rewritten;
  }

  takeWatermark(watermark: number): number {
    if (watermark > MAX_WATERMARK) return 0;
    if (watermark <= this.#lastSequence) return watermark > this.#foreign ? watermark : 0;
    this.#foreign = watermark;
    // one is passed over: a snapshot made of this journal has a watermark above the foreign one
    this.#lastSequence = watermark + 1;
    return 0;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    clearInterval(this.#looking);
    await this.#retiring;
    await this.#draining;
    if (this.#file.place === 'gone') await this.#writeAnew(this.#contents()).catch(() => {});
    await this.#alone(async () => {
      try {
        await this.#file.mark();
      } catch {
        // what was acknowledged is on stable storage without the mark
      }
      this.#file.close();
      this.#lock.release();
    });
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  #refusal(): JournalUnavailable | undefined {
    if (this.#isClosed) return new JournalUnavailable(`${this.#file.path} is closed`);
    return this.#problem === undefined ? undefined : new JournalUnavailable(this.#problem);
  }

  /** Runs work on the file when that before it is done. */
  #alone<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#working.then(run);
    this.#working = done.catch(() => {});
    return done;
  }

  async #drain(): Promise<void> {
    // those that arrive in the same turn of the event loop share the first flush
    await turn();
    while (this.#queue.length > 0) await this.#alone(() => this.#commit());
    this.#draining = undefined;
  }

  /** Writes what waits, as many posts as a batch takes, with one `fdatasync`. */
  async #commit(): Promise<void> {
    const { calls, numbered, count, lines, last } = takeBatch(
      this.#queue,
      this.#lastSequence,
      this.#expected,
      this.#foreign,
    );
    if (count === 0) return;
    const began = performance.now();
    try {
      await this.#file.append(lines);
    } catch (error) {
      await this.#fail(error, calls);
      return;
    }
    this.#options.onFlush?.((performance.now() - began) / 1000, count);
    this.#settle(numbered.flat(), last);
    for (const [i, call] of calls.entries()) call.resolve(numbered[i]!);
    await this.#markWhenIdle();
  }

  #settle(added: readonly Post[], last: number): void {
    for (const post of added) {
      this.#posts.push(post);
      this.#nextId = Math.max(this.#nextId, post.point.id + 1);
      this.#lastTime = Math.max(this.#lastTime, post.point.createdAt.micros);
    }
    this.#lastSequence = Math.max(this.#lastSequence, last);
    this.#expected = last + 1;
  }

  /** A further batch would mark the file as it goes. */
  async #markWhenIdle(): Promise<void> {
    if (this.#queue.length > 0) return;
    // whoever was answered may have more
    await turn();
    if (this.#queue.length > 0) return;
    try {
      await this.#file.mark();
    } catch {
      // there is no harm in its absence; the next batch tries again
    }
  }

  /** Rejects those whose posts could not be written, and all that wait behind them. */
  async #fail(error: unknown, calls: readonly Call[]): Promise<void> {
    const isNews = this.#problem === undefined;
    this.#problem = `${this.#file.path}: cannot be written: ${reasonOf(error)}`;
    if (isNews) this.#options.onProblem?.(this.#problem);
    try {
      await this.#file.restore();
    } catch {
      // is tried again before anything else is written
    }
    const refusal = new JournalUnavailable(this.#problem, { cause: error });
    for (const call of calls) call.reject(refusal);
    for (const call of this.#queue.splice(0)) call.reject(refusal);
    this.#retryLater();
  }

  /** What is appended to a file that somebody removed, or put another one over, is lost. */
  #look(): void {
    if (this.#problem !== undefined || this.#file.place === 'here') return;
    void this.#alone(async () => {
      const { place } = this.#file;
      if (this.#isClosed || this.#problem !== undefined || place === 'here') return;
      await this.#fail(new Error(REASONS[place]), []);
    });
  }

  #retryLater(): void {
    clearTimeout(this.#retry);
    if (this.#isClosed) return;
    this.#retry = setTimeout(() => {
      this.#retiring = this.#retiring.then(() => this.#recover());
    }, this.#options.retryMs ?? RETRY_MS).unref();
  }

  /** Lets posts be appended again, to a new file where the old one cannot be relied on. */
  async #recover(): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.#alone(() => this.#file.probe());
      const { isDoubtful, place } = this.#file;
      if (place === 'taken') throw new Error(REASONS[place]);
      if (isDoubtful || place === 'gone') await this.#writeAnew(this.#contents());
      this.#problem = undefined;
      this.#options.onProblem?.(undefined);
    } catch {
      this.#retryLater();
    }
  }

  #contents(): Contents {
    return {
      posts: this.#posts.slice(),
      keys: this.#keys,
      nextSequence: this.#expected,
      nextId: this.#nextId,
      lastTime: this.#lastTime,
      foreign: this.#foreign,
    };
  }

  async #rewrite(
    isRetired: (post: Post) => boolean,
    moves: ReadonlyMap<number, number>,
  ): Promise<void> {
    const refusal = this.#refusal();
    if (refusal !== undefined) throw refusal;
    const count = this.#posts.length;
    const kept = select(this.#contents(), isRetired, moves, this.#now() - KEY_LIFETIME);
    if (kept === undefined) return;
    try {
      await this.#writeAnew(kept, count);
    } catch (error) {
      throw new JournalUnavailable(
        `${this.#file.path}: cannot be written anew: ${reasonOf(error)}`,
        { cause: error },
      );
    }
  }

  /** Writes a file of `kept`, which stands for the first `count` posts, and those behind them. */
  async #writeAnew(kept: Contents, count: number = kept.posts.length): Promise<void> {
    const draft = new Draft(this.#disk, this.#file.path);
    try {
      await draft.keep(kept);
    } catch (error) {
      draft.discard();
      throw error;
    }
    // appends wait from here on; it takes one flush of what was appended meanwhile
    await this.#alone(() => this.#replaceBy(draft, kept, count));
  }

  async #replaceBy(draft: Draft, kept: Contents, count: number): Promise<void> {
    const late = this.#posts.slice(count);
    try {
      await draft.append(postLines(late, kept.nextSequence, this.#foreign));
      this.#file.adopt(draft);
    } catch (error) {
      draft.discard();
      throw error;
    }
    this.#posts = [...kept.posts, ...late];
    this.#keys = kept.keys;
    this.#nextId = Math.max(this.#nextId, kept.nextId);
    try {
      // nothing may be acknowledged in the new file before it has its name on stable storage
      await this.#file.restore();
    } catch (error) {
      await this.#fail(error, []);
      throw error;
    }
  }
}
