import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { InputError } from '../model/quote.js';
import {
  type Appended,
  JournalLocked,
  type JournalState,
  JournalUnavailable,
  JournalUnwritable,
  type NewPost,
  type OwnJournal,
  type Post,
  READ_POSTS,
} from './journal.js';
import { targetAt } from './journal-file.js';
import type { Batch, JournalStart, Question, Reply, StoreState } from './journal-thread.js';
import { StoreError } from './store-error.js';

/** Calls that share a transaction at most: others wait for all of them. */
const MAX_CALLS = 1_024;
/** How often a journal that fails is tried, in milliseconds. */
const RETRY_MS = 500;
/** How often it is looked whether the file is what it should be, in milliseconds. */
const LOOK_MS = 1_000;

export interface JournalOptions {
  /** Takes a file that is not on a disk of this machine. */
  readonly anyFileSystem?: boolean;
  /** Takes the seconds that each write took until it was on stable storage. */
  readonly onFlush?: (seconds: number) => void;
  /** Told once why the journal cannot be written, and once, with undefined, that it can again. */
  readonly onProblem?: (problem: string | undefined) => void;
  /** Told why the file was written anew from memory. */
  readonly onAnew?: (reason: string) => void;
  /** Told when the thread ends that should not. */
  readonly onDeath?: (error: unknown) => void;
  readonly retryMs?: number;
  readonly lookMs?: number;
}

/** One call of `append`. */
interface Call {
  readonly posts: readonly NewPost[];
  resolve(appended: readonly Appended[]): void;
  reject(error: unknown): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Opens the journal of this path, or begins one, and owns it until it is closed. Rejects with a
 * {@link JournalLocked}, a {@link JournalUnwritable}, an InputError where the file is none that can
 * be used, or a {@link JournalUnavailable} where it may be possible later.
 */
export async function openJournal(path: string, options: JournalOptions = {}): Promise<OwnJournal> {
  const thread = new StoreThread(path, options);
  try {
    await thread.ask('open');
  } catch (error) {
    await thread.end();
    throw error instanceof StoreError ? openingError(path, error) : error;
  }
  return new FileJournal(thread, options);
}

/** The thread that has the file. */
class StoreThread {
  /** Of the last answer. */
  state: StoreState | undefined;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #isEnding = false;

  constructor(path: string, { anyFileSystem = false, onAnew, onDeath }: JournalOptions) {
    const start: JournalStart = { path: targetAt(path), anyFileSystem };
    this.#worker = new Worker(new URL('./journal-thread.js', import.meta.url), {
      workerData: start,
    });
    this.#worker.on('message', (reply: Reply) => {
      if ('anew' in reply) onAnew?.(reply.anew);
      else this.#hear(reply);
    });
    const died = (error: unknown): void => {
      const gone = new JournalUnavailable('the journal ended', { cause: error });
      for (const { reject } of this.#waiting.values()) reject(gone);
      this.#waiting.clear();
      if (!this.#isEnding) onDeath?.(error);
    };
    this.#worker.on('error', died);
    this.#worker.on('exit', (code) => died(new Error(`the journal's thread ended with ${code}`)));
  }

  /** Resolves with what the store returns. Rejects with its StoreError. */
  ask<T>(...question: Question): Promise<T> {
    return new Promise((resolve, reject) => {
      const number = ++this.#last;
      this.#waiting.set(number, { resolve: resolve as Waiting['resolve'], reject });
      this.#worker.postMessage([number, question]);
    });
  }

  /** Ends the thread when it has done what it was asked. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const ended = once(this.#worker, 'exit');
    try {
      await this.ask('close');
    } finally {
      await ended;
    }
  }

  #hear(reply: Exclude<Reply, { anew: string }>): void {
    const waiting = this.#waiting.get(reply.number)!;
    this.#waiting.delete(reply.number);
    if ('fault' in reply) {
      waiting.reject(new StoreError(reply.fault, reply.reason));
      return;
    }
    this.state = reply.state ?? this.state;
    waiting.resolve(reply.value);
  }
}

/** A journal in one SQLite file; a thread of its own has the file. */
class FileJournal implements OwnJournal {
  readonly #thread: StoreThread;
  readonly #options: JournalOptions;
  #nextId: number;
  #queue: Call[] = [];
  #draining: Promise<void> | undefined;
  #listeners: ((posts: readonly Post[]) => void | Promise<void>)[] = [];
  #isClosed = false;
  #problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(thread: StoreThread, options: JournalOptions) {
    this.#thread = thread;
    this.#options = options;
    this.#nextId = thread.state!.nextId;
    this.#lookLater();
  }

  get state(): JournalState {
    const state = this.#thread.state!;
    return { ...state, line: state.name, removed: 0, problem: this.#problem };
  }

  async takeId(): Promise<number> {
    return this.#nextId++;
  }

  async giveIdsFrom(id: number): Promise<void> {
    this.#nextId = Math.max(this.#nextId, id);
  }

  append(posts: readonly NewPost[]): Promise<readonly Appended[]> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#queue.push({ posts, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  read(after: number, limit: number = READ_POSTS): Promise<readonly Post[]> {
    return this.#try(() => this.#thread.ask('read', after, limit));
  }

  changed(callback: (posts: readonly Post[]) => void): void {
    this.#listeners.push(callback);
  }

  find(key: string): Promise<Post | undefined> {
    return this.#try(() => this.#thread.ask('find', key));
  }

  async move(ids: ReadonlyMap<number, number>): Promise<readonly Post[]> {
    await this.#draining;
    return this.#try(() => this.#thread.ask('move', ids));
  }

  async prune(sequences: readonly number[]): Promise<void> {
    await this.#try(() => this.#thread.ask('prune', sequences));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#draining;
    await this.#thread.end().catch(() => {});
  }

  #refusal(): JournalUnavailable | undefined {
    const reason = this.#isClosed ? 'the journal is closed' : this.#problem;
    return reason === undefined ? undefined : new JournalUnavailable(reason);
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // those that arrive in the same turn of the event loop share a transaction
      await turn();
      await this.#commit();
    }
    this.#draining = undefined;
  }

  /** Has what waits made durable, as many posts as a transaction takes. */
  async #commit(): Promise<void> {
    const calls = this.#queue.splice(0, MAX_CALLS);
    const posts = calls.flatMap((call) => call.posts);
    const began = performance.now();
    let appended: readonly Appended[];
    try {
      appended = await this.#try(() => this.#thread.ask('append', packed(posts)));
    } catch (error) {
      for (const { reject } of [...calls, ...this.#queue.splice(0)]) reject(error);
      return;
    }
    this.#options.onFlush?.((performance.now() - began) / 1000);
    const durable: Post[] = [];
    for (const [i, one] of appended.entries()) {
      if (typeof one === 'number') durable.push({ ...posts[i]!, sequence: one });
    }
    if (durable.length > 0) for (const tell of this.#listeners) await tell(durable);
    let from = 0;
    for (const call of calls) {
      call.resolve(appended.slice(from, from + call.posts.length));
      from += call.posts.length;
    }
  }

  /** Remembers why the thread could not do what it was asked. */
  async #try<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#fail((error as Error).message);
      throw new JournalUnavailable(this.#problem, { cause: error });
    }
  }

  #fail(reason: string): void {
    const isNews = this.#problem === undefined;
    this.#problem = `the journal fails: ${reason}`;
    if (isNews) this.#options.onProblem?.(this.#problem);
    this.#lookLater();
  }

  /** Looks at the file every second, and tries one that fails to be written. */
  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const { lookMs = LOOK_MS, retryMs = RETRY_MS } = this.#options;
    const isFailing = this.#problem !== undefined;
    this.#timer = setTimeout(() => void this.#look(), isFailing ? retryMs : lookMs).unref();
  }

  async #look(): Promise<void> {
    const isFailing = this.#problem !== undefined;
    try {
      await (isFailing ? this.#thread.ask('prune', []) : this.#thread.ask('look'));
    } catch (error) {
      this.#fail((error as Error).message);
      return;
    }
    if (isFailing) {
      this.#problem = undefined;
      this.#options.onProblem?.(undefined);
    }
    this.#lookLater();
  }
}

function packed(posts: readonly NewPost[]): Batch {
  const hasKeys = posts.some(({ key }) => key !== undefined);
  return {
    ids: posts.map(({ id }) => id),
    times: posts.map(({ createdAt }) => createdAt),
    records: posts.map(({ record }) => record),
    keys: hasKeys ? posts.map(({ key }) => key) : undefined,
  };
}

/** What somebody can do about a fault. */
function openingError(path: string, { fault, message }: StoreError): Error {
  const text = `${path}: ${message}`;
  if (fault === 'locked') return new JournalLocked(text);
  if (fault === 'unwritable') return new JournalUnwritable(text);
  return fault === 'failing' ? new JournalUnavailable(text) : new InputError(text);
}
