import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Calls } from '../model/calls.js';
import {
  type Appended,
  Batches,
  type BatchTold,
  IdTaken,
  type JournalOptions,
  type JournalState,
  JournalUnavailable,
  type Listener,
  type Move,
  type NewPost,
  NotStored,
  type OwnJournal,
  type Post,
  StoreError,
} from './journal.js';
import type { Store } from './store.js';

const RETRY_MS = 500;
/** How often the file is compared with memory. */
const LOOK_MS = 1_000;

export interface FileJournalOptions extends JournalOptions {
  /** Takes a file that is not on a disk of this machine. */
  readonly anyFileSystem?: boolean;
}

/** What a method of the store returned, and the state after it. */
export interface Told<T> {
  readonly value: T;
  readonly state: Store['state'];
}

type Methods = Pick<Store, 'append' | 'read' | 'find' | 'move' | 'prune' | 'look'>;

/** Calls of the thread that has the file. */
export type OfStore = {
  [M in keyof Methods]: (...given: Parameters<Methods[M]>) => Told<ReturnType<Methods[M]>>;
} & { open(path: string, anyFileSystem: boolean): Told<undefined>; close(): void };

/** What that thread tells by itself: why the file was written anew. */
export type OfJournal = { anew(reason: string): void };

/**
 * Opens the journal of this path, or begins one, and owns it until it is closed. Rejects with a
 * {@link StoreError}.
 */
export async function openJournal(
  path: string,
  options: FileJournalOptions = {},
): Promise<OwnJournal> {
  const journal = new FileJournal(options);
  try {
    await journal.open(path);
  } catch (error) {
    await journal.close();
    const { fault, message } = error as StoreError;
    throw new StoreError(fault, `${path}: ${message}`);
  }
  return journal;
}

/** A journal in one SQLite file, which a thread of its own has. */
class FileJournal implements OwnJournal {
  readonly #options: FileJournalOptions;
  readonly #thread: Worker;
  readonly #store: Calls<OfStore>;
  /** Of the last answer. */
  #state: Store['state'] | undefined;
  #nextId = 0;
  /** Snapshots may use the ids below. */
  #leastId = 0;
  readonly #batches = new Batches((posts) => this.#write(posts));
  readonly #listeners: Listener[] = [];
  #isClosed = false;
  #problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FileJournalOptions) {
    const { logger } = options;
    this.#options = options;
    this.#thread = new Worker(new URL('./journal-thread.js', import.meta.url));
    const ours: OfJournal = {
      anew: (reason) => logger?.error({ reason }, 'the journal was written anew from memory'),
    };
    this.#store = new Calls<OfStore>(this.#thread, ours);
    const died = (error: unknown): void => {
      this.#store.fail(new JournalUnavailable('the journal ended', { cause: error }));
      if (this.#isClosed) return;
      logger?.fatal({ err: error }, 'the thread of the journal died');
      process.exit(1);
    };
    this.#thread.on('error', died);
    this.#thread.on('exit', (code) => died(new Error(`the journal's thread ended with ${code}`)));
  }

  async open(path: string): Promise<void> {
    const { anyFileSystem = false } = this.#options;
    this.#state = (await this.#store.call('open', path, anyFileSystem)).state;
    this.#nextId = this.#state.nextId;
    this.#lookLater();
  }

  get state(): JournalState {
    const state = this.#state!;
    return { ...state, line: state.name, removed: 0, problem: this.#problem };
  }

  async takeId(): Promise<number> {
    return this.#nextId++;
  }

  async giveIdsFrom(id: number): Promise<void> {
    this.#nextId = Math.max(this.#nextId, id);
    this.#leastId = Math.max(this.#leastId, id);
  }

  append(post: NewPost): Promise<Appended> {
    const reason = this.#isClosed ? 'the journal is closed' : this.#problem;
    if (reason !== undefined) return Promise.reject(new NotStored(reason));
    if (post.id < this.#leastId) return Promise.reject(new IdTaken());
    return this.#batches.append(post);
  }

  read(after: number, limit: number): Promise<readonly Post[]> {
    return this.#told(this.#store.call('read', after, limit));
  }

  changed(listener: Listener): void {
    this.#listeners.push(listener);
  }

  find(key: string): Promise<Post | undefined> {
    return this.#told(this.#store.call('find', key));
  }

  async move(moves: readonly Move[]): Promise<readonly Post[]> {
    await this.#batches.written();
    return this.#told(this.#store.call('move', moves));
  }

  prune(sequences: readonly number[]): Promise<void> {
    return this.#told(this.#store.call('prune', sequences));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#batches.written();
    const ended = once(this.#thread, 'exit');
    // the thread ends when it has done what it was asked
    await this.#store.call('close').catch(() => {});
    await ended;
  }

  async #write(posts: readonly NewPost[]): Promise<{ readonly told: BatchTold }> {
    const began = performance.now();
    const plain = posts.map(({ id, createdAt, record, key }) => ({ id, createdAt, record, key }));
    const appended = await this.#told(this.#store.call('append', plain));
    this.#options.onFlush?.((performance.now() - began) / 1000);
    const durable: Post[] = [];
    for (let i = 0; i < posts.length; i++) {
      const sequence = appended[i]!;
      const { id, createdAt, record, key, point } = posts[i]!;
      // a literal is made many times faster than a copy
      if (typeof sequence === 'number') {
        durable.push({ sequence, id, createdAt, record, key, point });
      }
    }
    if (durable.length > 0) for (const tell of this.#listeners) await tell(durable);
    return { told: Promise.resolve(appended) };
  }

  /** Returns what the thread returned; keeps the reason of a failure. */
  async #told<T>(asked: Promise<Told<T>>): Promise<T> {
    try {
      const { value, state } = await asked;
      this.#state = state;
      return value;
    } catch (error) {
      this.#problem = `the journal fails: ${(error as Error).message}`;
      this.#lookLater();
      throw new JournalUnavailable(this.#problem, { cause: error });
    }
  }

  /** Has the file compared every second, and a failing one tried. */
  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const ms = this.#problem === undefined ? LOOK_MS : RETRY_MS;
    this.#timer = setTimeout(() => void this.#look().catch(() => {}), ms).unref();
  }

  async #look(): Promise<void> {
    const isFailing = this.#problem !== undefined;
    await this.#told(this.#store.call('look', isFailing));
    if (isFailing) this.#problem = undefined;
    this.#lookLater();
  }
}
