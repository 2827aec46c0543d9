import { randomBytes } from 'node:crypto';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { InputError } from '../model/quote.js';
import {
  type Appended,
  type JournalState,
  JournalUnavailable,
  type NewPost,
  type Post,
  READ_POSTS,
  type SharedJournal,
} from './journal.js';
import type { DatabaseAddress } from './postgres-address.js';
import {
  Follower,
  type Listener,
  postOf,
  readHead,
  readRows,
  type Standstill,
} from './postgres-follower.js';
import { connect, type Link, Refused, type Row, Uncertain } from './postgres-link.js';
import { ID_BLOCK, migrate } from './postgres-schema.js';

/** How often it is looked what a notification may have failed to tell, in milliseconds. */
const LOOK_MS = 100;
/** Between two tries to reach the database. */
const RETRY_MS = 500;
/** How often an instance says that it is there. */
const HEARTBEAT_MS = 5_000;
/** Between two tries to have the generation made anew. */
const RENEW_MS = 5_000;
/** Calls that share a transaction at most. */
const MAX_CALLS = 1_024;

export interface DatabaseJournalOptions {
  /** How long a batch may take until it is certain, in milliseconds. */
  readonly timeoutMs?: number;
  /** Takes the seconds that each batch took until it was on stable storage. */
  readonly onFlush?: (seconds: number) => void;
  /** Told once why the journal cannot be written, and once, with undefined, that it can again. */
  readonly onProblem?: (problem: string | undefined) => void;
  /** Asks for the generation to be made anew, until it is. */
  readonly onStandstill?: (why: Standstill) => void;
}

/** One call of `append`. */
interface Call {
  readonly posts: readonly NewPost[];
  resolve(appended: readonly Appended[]): void;
  reject(error: unknown): void;
}

/**
 * Opens the journal in a database, whose tables are made or brought up to date. Rejects with an
 * InputError where that cannot be used, or a {@link JournalUnavailable} where it may be later.
 */
export async function openDatabaseJournal(
  address: DatabaseAddress,
  options: DatabaseJournalOptions = {},
): Promise<SharedJournal> {
  let link: Link | undefined;
  try {
    link = await connect(address, 0);
    await link.migrate(migrate);
    const journal = new DatabaseJournal(address, new Follower(await readHead(link)), options);
    await journal.begin(link);
    return journal;
  } catch (error) {
    link?.close();
    const text = `${address.name}: ${(error as Error).message}`;
    const isLasting = error instanceof InputError || (error instanceof Refused && error.isLasting);
    throw isLasting ? new InputError(text) : new JournalUnavailable(text);
  }
}

/** A journal in PostgreSQL, which many instances share. */
class DatabaseJournal implements SharedJournal {
  readonly #address: DatabaseAddress;
  readonly #options: DatabaseJournalOptions;
  readonly #follower: Follower;
  /** Under which this instance says that it is there. */
  readonly #name = randomBytes(9).toString('base64url');
  #link: Link | undefined;
  /** The highest that was seen. */
  #timeline = 0;
  /** What an adoption under way began with. */
  #adopting: { readonly link: Link | undefined; readonly branch: number } | undefined;
  #isHeld = false;
  #queue: Call[] = [];
  #draining: Promise<void> | undefined;
  /** What has the follower to itself, one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Ids that were taken and not given yet. */
  #ids = { next: 0, end: 0 };
  #watermark = 0;
  #bytes = 0;
  #readProblem: string | undefined;
  #writeProblem: string | undefined;
  #lastProblem: string | undefined;
  #heartAt = 0;
  #renewAt = 0;
  #isClosed = false;
  #running: Promise<void> | undefined;
  /** Has the next look begin at once. */
  #ring = (): void => {};

  constructor(address: DatabaseAddress, follower: Follower, options: DatabaseJournalOptions) {
    this.#address = address;
    this.#options = options;
    this.#follower = follower;
  }

  get state(): JournalState {
    const { head, sequence, lag, losses } = this.#follower;
    const { name, branch, pruned, leastId, lastTime } = head;
    return {
      name,
      line: branch === 0 ? name : `${name}-${branch}`,
      lastSequence: sequence,
      nextId: leastId,
      lastTime,
      posts: sequence - pruned,
      keptAfter: pruned,
      removed: pruned,
      bytes: this.#bytes,
      lag: { ...lag, losses },
      problem: this.#problem,
    };
  }

  get #problem(): string | undefined {
    const standing =
      this.#follower.standstill === 'parted'
        ? 'the database lost posts in a failover: what is served is made anew'
        : undefined;
    const reason = this.#readProblem ?? this.#writeProblem ?? standing;
    return reason && `the journal fails: ${reason}`;
  }

  /** Begins to look. Rejects where the database does not let it. */
  async begin(link: Link): Promise<void> {
    await this.#use(link);
    await this.#sayHello(link);
    this.#running = this.#run();
  }

  async takeId(): Promise<number> {
    const { next: first, end: last } = this.#ids;
    if (first === last || first < this.#follower.head.leastId) {
      const [row] = await this.#ask((link) => link.read("SELECT nextval('waypost.ids') AS id"));
      const next = Number(row!['id']);
      this.#ids = { next, end: next + ID_BLOCK };
    }
    return this.#ids.next++;
  }

  async giveIdsFrom(id: number): Promise<void> {
    await this.#ask((link) => link.write('SELECT waypost.give_ids_from($1)', [id]));
    if (this.#ids.next < id) this.#ids = { next: 0, end: 0 };
    // what comes from now on has none of these ids; what came before is there then
    await this.#alone(() => this.#ask((link) => this.#follower.look(link)));
    this.#adopting = { link: this.#link, branch: this.#follower.head.branch };
  }

  append(posts: readonly NewPost[]): Promise<readonly Appended[]> {
    const reason = this.#isClosed ? 'the journal is closed' : this.#problem;
    if (reason !== undefined) return Promise.reject(new JournalUnavailable(reason));
    return new Promise((resolve, reject) => {
      this.#queue.push({ posts, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  read(after: number, limit: number = READ_POSTS): Promise<readonly Post[]> {
    return this.#ask((link) => readRows(link, after, this.#follower.sequence, limit));
  }

  changed(callback: Listener): void {
    this.#follower.listeners.push(callback);
  }

  async find(key: string): Promise<Post | undefined> {
    const rows = await this.#ask((link) =>
      link.read('SELECT * FROM waypost.posts WHERE key = $1', [key]),
    );
    return rows[0] && postOf(rows[0]);
  }

  async move(ids: ReadonlyMap<number, number>): Promise<readonly Post[]> {
    const posts: { sequence: number; id: number; record: string }[] = [];
    for (const [sequence, id] of ids) {
      const [post] = await this.read(sequence - 1, 1);
      if (post?.sequence !== sequence) continue;
      posts.push({ sequence, id, record: JSON.stringify({ ...JSON.parse(post.record), id }) });
    }
    // nobody may be told of others while work has the journal to itself
    if (this.#isHeld) throw new JournalUnavailable('the journal fails: a point has to move');
    // what was told of them is not so any more
    return this.#alone(async () => {
      this.#follower.stand(this.#follower.standstill ?? 'moved');
      const rows = await this.#ask((link) =>
        link.write('SELECT * FROM waypost.move($1, $2::text::json)', [
          newName(),
          JSON.stringify(posts),
        ]),
      );
      await this.#ask((link) => this.#follower.look(link));
      return rows.map(postOf);
    });
  }

  /** Runs work while nobody is told of posts. Where they are not told anyway, they are again then. */
  exclusively<T extends { readonly done: Promise<void> }>(work: () => Promise<T>): Promise<T> {
    return this.#alone(async () => {
      const isAnew = this.#follower.standstill !== undefined;
      if (isAnew) await this.#ask((link) => this.#follower.look(link));
      const { link, branch } = this.#adopting!;
      if (link !== this.#link || branch !== this.#follower.head.branch) {
        throw new JournalUnavailable('the journal fails: the connection was lost meanwhile');
      }
      this.#isHeld = true;
      try {
        const result = await work();
        if (!isAnew) return result;
        await result.done;
        this.#follower.goOn();
        return result;
      } finally {
        this.#isHeld = false;
      }
    });
  }

  contains(watermark: number): void {
    this.#watermark = watermark;
    this.#heartAt = 0;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ring();
    await this.#draining;
    await this.#running;
    const leaving = this.#link?.read('DELETE FROM waypost.instances WHERE name = $1', [this.#name]);
    await leaving?.catch(() => {});
    this.#link?.close();
  }

  /** Looks, until the journal is closed. */
  async #run(): Promise<void> {
    while (!this.#isClosed) {
      let pauseMs = LOOK_MS;
      const isLinked = this.#link !== undefined;
      const rung = new Promise<void>((resolve) => {
        this.#ring = resolve;
      });
      try {
        await this.#look();
        this.#readProblem = undefined;
      } catch (error) {
        // a connection that was lost is tried once more before anybody hears of it
        if (error instanceof Uncertain && isLinked) pauseMs = 0;
        else {
          this.#readProblem = (error as Error).message;
          pauseMs = RETRY_MS;
        }
      }
      this.#tellProblem();
      const timer = new AbortController();
      const pause = delay(pauseMs, undefined, { signal: timer.signal }).catch(() => {});
      await Promise.race([pause, rung]);
      timer.abort();
    }
  }

  async #look(): Promise<void> {
    const link = this.#link ?? (await this.#connect());
    await this.#alone(() => this.#follower.look(link));
    const { standstill } = this.#follower;
    if (standstill === 'parted') await this.#part(link);
    if (standstill === 'parted' || standstill === 'moved') this.#askAnew(standstill);
    if (this.#writeProblem !== undefined) {
      // takes the lock that batches take, and is confirmed as they are
      await link.write('UPDATE waypost.state SET one = true', []).then(
        () => {
          this.#writeProblem = undefined;
        },
        (error: Error) => {
          this.#writeProblem = error.message;
        },
      );
    }
    if (performance.now() > this.#heartAt) await this.#sayHello(link);
  }

  async #connect(): Promise<Link> {
    const link = await connect(this.#address, this.#timeline);
    await this.#use(link);
    return link;
  }

  async #use(link: Link): Promise<void> {
    this.#timeline = link.timeline;
    this.#link = link;
    void link.lost.then(() => {
      if (this.#link === link) this.#link = undefined;
      this.#ring();
    });
    await link.listen('waypost', () => this.#ring());
  }

  /** Gives the posts that are there another name than those that were: once, by whoever is first. */
  async #part(link: Link): Promise<void> {
    const { branch, head } = this.#follower;
    if (branch !== head.branch) return;
    await link.write('UPDATE waypost.state SET branch = branch + 1 WHERE branch = $1', [branch]);
    await this.#alone(() => this.#follower.look(link));
  }

  #askAnew(why: Standstill): void {
    const now = performance.now();
    if (now < this.#renewAt) return;
    this.#renewAt = now + RENEW_MS;
    this.#options.onStandstill?.(why);
  }

  async #sayHello(link: Link): Promise<void> {
    this.#heartAt = performance.now() + HEARTBEAT_MS;
    const [row] = await link.read(
      `INSERT INTO waypost.instances VALUES ($1, $2, $3, now())
        ON CONFLICT (name) DO UPDATE SET
          watermark = excluded.watermark, sequence = excluded.sequence, seen_at = now()
        RETURNING pg_total_relation_size('waypost.posts') AS bytes`,
      [this.#name, this.#watermark, this.#follower.sequence],
    );
    this.#bytes = Number(row!['bytes']);
  }

  /** Tells once of each problem, and that there is none any more. */
  #tellProblem(): void {
    const problem = this.#problem;
    if (problem === this.#lastProblem) return;
    this.#lastProblem = problem;
    this.#options.onProblem?.(problem);
  }

  /** Runs work after all that came before, and before what comes then. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const working = this.#turn.then(work);
    this.#turn = working.catch(() => {});
    return working;
  }

  /** Asks the database. Rejects with a {@link JournalUnavailable}. */
  async #ask<T>(work: (link: Link) => Promise<T>): Promise<T> {
    try {
      if (this.#link === undefined) throw new Uncertain('the database cannot be reached');
      return await work(this.#link);
    } catch (error) {
      if (error instanceof JournalUnavailable) throw error;
      throw new JournalUnavailable(`the journal fails: ${(error as Error).message}`);
    }
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // those that arrive in the same turn of the event loop share a transaction
      await turn();
      await this.#commit(this.#queue.splice(0, MAX_CALLS));
    }
    this.#draining = undefined;
  }

  /** Has posts made durable; their calls end once everybody here was told of them. */
  async #commit(calls: readonly Call[]): Promise<void> {
    const posts = calls.flatMap((call) => call.posts);
    const deadline = performance.now() + (this.#options.timeoutMs ?? 10_000);
    const began = performance.now();
    try {
      const rows = await this.#send(posts, deadline);
      this.#options.onFlush?.((performance.now() - began) / 1000);
      const appended = appendedOf(posts, rows);
      void this.#answer(calls, appended, deadline);
    } catch (error) {
      this.#writeProblem = (error as Error).message;
      this.#tellProblem();
      const reason = new JournalUnavailable(this.#problem);
      for (const { reject } of [...calls, ...this.#queue.splice(0)]) reject(reason);
    }
  }

  /** Sends a batch under one name until it is certain that it is there, once. */
  async #send(posts: readonly NewPost[], deadline: number): Promise<readonly Row[]> {
    const name = newName();
    const keys = new Set<string>();
    const given = JSON.stringify(
      posts.flatMap(({ id, createdAt, record, key }, at) => {
        // of those with the same key the first one counts
        if (key !== undefined && keys.size === keys.add(key.name).size) return [];
        return { at, id, created_at: createdAt, record, key: key?.name, body: key?.body };
      }),
    );
    for (;;) {
      const left = deadline - performance.now();
      try {
        if (this.#link === undefined) throw new Uncertain('the database cannot be reached');
        return await this.#link.write(
          'SELECT * FROM waypost.append($1, $2::text::json)',
          [name, given],
          left,
        );
      } catch (error) {
        if (!(error instanceof Uncertain) || performance.now() >= deadline) throw error;
        this.#ring();
        await delay(Math.min(LOOK_MS, Math.max(0, deadline - performance.now())));
      }
    }
  }

  async #answer(
    calls: readonly Call[],
    appended: readonly (Appended | undefined)[],
    deadline: number,
  ): Promise<void> {
    let from = 0;
    const own = appended.map((one) => (typeof one === 'object' ? one.sequence : (one ?? 0)));
    const timer = new AbortController();
    const late = async (): Promise<never> => {
      await delay(Math.max(0, deadline - performance.now()), undefined, { signal: timer.signal });
      throw new JournalUnavailable('the journal fails: the instance is behind');
    };
    try {
      this.#ring();
      await Promise.race([this.#follower.until(Math.max(...own)), late()]);
      for (const { posts, resolve, reject } of calls) {
        const mine = appended.slice(from, from + posts.length);
        from += posts.length;
        if (mine.every((one) => one !== undefined)) resolve(mine);
        else reject(new JournalUnavailable('a new snapshot uses the id of the point'));
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    } finally {
      timer.abort();
    }
  }
}

/** What became of each post; undefined where its id may not be used any more. */
function appendedOf(
  posts: readonly NewPost[],
  rows: readonly Row[],
): readonly (Appended | undefined)[] {
  const byId = new Map<number, number>();
  const byKey = new Map<string, Post>();
  for (const row of rows) {
    const post = postOf(row);
    if (post.key === undefined) byId.set(post.id, post.sequence);
    else byKey.set(post.key.name, post);
  }
  return posts.map((post) => {
    const sequence = byId.get(post.id);
    if (post.key === undefined) return sequence;
    if (sequence !== undefined) byKey.set(post.key.name, { ...post, sequence });
    return sequence ?? byKey.get(post.key.name);
  });
}

function newName(): string {
  return randomBytes(9).toString('base64url');
}
