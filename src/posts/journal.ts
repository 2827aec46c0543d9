import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Point } from '../model/point.js';
import { InputError } from '../model/quote.js';
import { parseTimestamp, type Timestamp } from '../model/timestamp.js';
import type { Microseconds } from '../model/units.js';

/** The `Idempotency-Key` of a post, which counts once however often it is sent. */
export interface PostKey {
  /** Visible ASCII characters and blanks: the user, a blank, and the client's own key. */
  readonly name: string;
  /** The SHA-256 of what the request said, in hexadecimal. */
  readonly body: string;
}

export interface NewPost {
  readonly id: number;
  readonly createdAt: Microseconds;
  /** The point's JSON, as the list shows it. */
  readonly record: string;
  readonly key?: PostKey | undefined;
  /** The parsed record, where it is at hand: listeners need not parse it. */
  readonly point?: Point | undefined;
}

export interface Post extends NewPost {
  /** A whole number from 1, ascending, never used again. */
  readonly sequence: number;
  /** The id under which the point was acknowledged, where it has another one by now. */
  readonly movedFrom?: number | undefined;
}

/** A post as the tables of journals have it. */
export interface PostRow extends Pick<Post, 'sequence' | 'id' | 'createdAt' | 'record'> {
  readonly key: string | null;
  readonly body: string | null;
  readonly movedFrom: number | null;
}

export function postOf(row: PostRow): Post {
  const { sequence, id, createdAt, record, key, body, movedFrom } = row;
  return {
    ...{ sequence, id, createdAt, record },
    ...(key !== null && { key: { name: key, body: body ?? '' } }),
    ...(movedFrom !== null && { movedFrom }),
  };
}

/** The sequence of a post, its next id, and its record with that id. */
export type Move = Pick<Post, 'sequence' | 'id' | 'record'>;

/** What became of a post: its sequence, or the post that used its key before. */
export type Appended = number | Post;

export interface JournalState {
  /** Random: tells the journal from every other one. */
  readonly name: string;
  /** The name, and how often served posts were lost: a part of the names of states. */
  readonly line: string;
  /** Of the newest post that was told; 0 before the first. */
  readonly lastSequence: number;
  /** The latest time of creation that was ever journaled; 0 before the first post. */
  readonly lastTime: Microseconds;
  readonly posts: number;
  /** All posts behind this sequence are kept; of those before it some are not. */
  readonly keptAfter: number;
  /** Posts up to this sequence were removed by hand: a snapshot must have them. */
  readonly removed: number;
  readonly bytes: number;
  /** How far listeners are behind; undefined where nobody else writes. */
  readonly lag?: {
    readonly posts: number;
    readonly seconds: number;
    /** How often posts were lost that listeners had been told of. */
    readonly losses: number;
  };
  /** Why nothing can be written now; undefined where all is well. */
  readonly problem: string | undefined;
}

export interface JournalOptions {
  readonly logger?: Pick<Logger, 'fatal' | 'error' | 'info'>;
  /** Hears how many seconds each batch took until it was on stable storage. */
  readonly onFlush?: (seconds: number) => void;
}

/** Hears of posts in the order of their sequences; the next ones come when it is done. */
export type Listener = (posts: readonly Post[]) => void | Promise<void>;

/** Accepted points on stable storage, in one order for everybody, until a snapshot has them. */
export interface Journal {
  readonly state: JournalState;
  /** Takes an id that no other post has or had. */
  takeId(): Promise<number>;
  /** From now on no post gets an id below this one, whichever instance accepts it. */
  giveIdsFrom(id: number): Promise<void>;
  /**
   * Gives a post its sequence; resolves once it is on stable storage and the listeners were told.
   * Posts of one turn of the event loop share a transaction. Rejects with {@link NotStored}, or
   * with {@link JournalUnavailable} where it is unknown whether the post stays.
   */
  append(post: NewPost): Promise<Appended>;
  /** The posts behind a sequence, ascending, `limit` at most. */
  read(after: number, limit: number): Promise<readonly Post[]>;
  /** Adds a listener, which hears of posts once they are durable. */
  changed(listener: Listener): void;
  /** The post of a key, once listeners have heard of it. */
  find(key: string): Promise<Post | undefined>;
  /**
   * Gives posts other ids, each under a new sequence, and tells nobody. Returns the new posts of
   * those that are still there. Rejects with {@link JournalUnavailable}.
   */
  move(moves: readonly Move[]): Promise<readonly Post[]>;
  /** Waits for what is under way, and releases the journal. */
  close(): Promise<void>;
}

/** A journal that one process has to itself. */
export interface OwnJournal extends Journal {
  /** Removes posts and their keys, by sequence. Rejects with {@link JournalUnavailable}. */
  prune(sequences: readonly number[]): Promise<void>;
}

/** A journal that many instances share. */
export interface SharedJournal extends Journal {
  /**
   * Runs `work` while nobody is told of posts. Once its result is `done`, a generation is served
   * that has the posts up to the sequence of the state. Rejects with {@link JournalUnavailable}
   * where posts may have been lost since {@link giveIdsFrom} was called.
   */
  exclusively(work: () => Promise<Served>): Promise<Served>;
  /** Tells operators up to which sequence the snapshot that is served has posts. */
  contains(watermark: number): void;
}

export interface Served {
  readonly done: Promise<void>;
}

export function isShared(journal: OwnJournal | SharedJournal): journal is SharedJournal {
  return 'exclusively' in journal;
}

/** A journal, as threads that answer see it. */
export interface JournalReader extends Pick<Journal, 'read'> {
  state(): Promise<JournalState>;
}

/** A journal, as another process reads it. */
export interface Posted {
  readonly name: string;
  readonly posts: readonly Post[];
  /** Every post up to this sequence is among them, or was pruned; 0 where there was none yet. */
  readonly through: number;
  /** Posts up to this sequence were removed by hand. */
  readonly removed: number;
  /** Above every id that a post has or had. */
  readonly nextId: number;
}

/** Posts that are read at a time: whoever gets fewer has got all. */
const READ_POSTS = 4_096;

/** All posts behind the sequence `after` up to `through`, {@link READ_POSTS} at a time. */
export async function* readAll(
  journal: Pick<Journal, 'read'>,
  after: number,
  through: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Post[], void, undefined> {
  for (let last = after; last < through; ) {
    const posts = await journal.read(last, READ_POSTS);
    const wanted = posts.filter(({ sequence }) => sequence <= through);
    if (wanted.length > 0) yield wanted;
    if (posts.length < READ_POSTS) return;
    last = posts.at(-1)!.sequence;
  }
}

/** Posts that share a transaction at most: others wait for all of them. */
const MOST_POSTS = 1_024;

/** What became of each post of a batch, once listeners were told. */
export type BatchTold = Promise<readonly (Appended | Error)[]>;

interface Waiting {
  readonly post: NewPost;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

/** Writes posts in batches: those that come while one is under way are the next. */
export class Batches {
  readonly #write: (posts: readonly NewPost[]) => Promise<{ readonly told: BatchTold }>;
  #queue: Waiting[] = [];
  #writing: Promise<void> | undefined;

  /** Once `write` resolves, posts are durable and the next batch begins. */
  constructor(write: (posts: readonly NewPost[]) => Promise<{ readonly told: BatchTold }>) {
    this.#write = write;
  }

  /** Rejects as `write` does, and what it tells. */
  append(post: NewPost): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ post, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async written(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      // posts of one turn of the event loop share a transaction
      await turn();
      const batch = this.#queue.splice(0, MOST_POSTS);
      try {
        const { told } = await this.#write(batch.map(({ post }) => post));
        void answer(batch, told);
      } catch (error) {
        for (const { reject } of batch) reject(error);
        const { message } = error as Error;
        for (const { reject } of this.#queue.splice(0)) reject(new NotStored(message));
      }
    }
    this.#writing = undefined;
  }
}

async function answer(batch: readonly Waiting[], told: BatchTold): Promise<void> {
  const appended = await told.catch((error: Error) => batch.map(() => error));
  for (const [i, one] of appended.entries()) {
    if (one instanceof Error) batch[i]!.reject(one);
    else batch[i]!.resolve(one);
  }
}

/** The journal cannot be written now, such as on a full disk; it may be possible later. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable';
}

/** A post was refused, and nothing of it stored. */
export class NotStored extends Error {}

/** Meanwhile a snapshot was loaded that may use the post's id. */
export class IdTaken extends NotStored {
  override readonly message = 'a new snapshot may use the id of the point';
}

export type StoreFault =
  /** Another process owns it. */
  | 'locked'
  /** The rights of the file or its folder are lacking. */
  | 'unwritable'
  /** It is no journal, or a damaged one: people have to look at it. */
  | 'refused'
  /** The disk is full, or fails; that may pass. */
  | 'failing';

/** Why a journal cannot be opened or used. */
export class StoreError extends InputError {
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

/**
 * A post as a line of NDJSON: the record as the service answers it, then its `sequence` and, where
 * there are some, the `key` that its client sent, the `user` of the token, the hash of the `body`,
 * and the id under which it was acknowledged, `moved_from`. A snapshot reader drops all of these.
 */
export function postLine({ sequence, record, key, movedFrom }: Post): string {
  const [user, ...rest] = key?.name.split(' ') ?? [];
  const facts = JSON.stringify({
    sequence,
    key: key && rest.join(' '),
    user: user === undefined || user === '-' ? undefined : Number(user),
    body: key?.body,
    moved_from: movedFrom,
  });
  return `${record.slice(0, -1)},${facts.slice(1)}\n`;
}

/** Reads a line that {@link postLine} wrote. Throws a SyntaxError for any other. */
export function readPostLine(line: string): Post {
  const { sequence, key, user = '-', body, moved_from: movedFrom, ...record } = JSON.parse(line);
  return {
    ...{ sequence, id: record.id, record: JSON.stringify(record) },
    createdAt: (parseTimestamp(record.created_at) as Timestamp).micros,
    ...(key !== undefined && { key: { name: `${user} ${key}`, body } }),
    ...(movedFrom !== undefined && { movedFrom }),
  };
}
