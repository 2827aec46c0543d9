import { InputError } from '../model/quote.js';
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
  type Post,
  type PostRow,
  postOf,
  type Served,
  type SharedJournal,
  StoreError,
} from './journal.js';
import type { DatabaseAddress } from './postgres-address.js';
import { Follower } from './postgres-follower.js';
import { connect, type Link, Refused } from './postgres-link.js';
import {
  APPEND,
  appendedOf,
  COLUMNS,
  givenOf,
  ID_BLOCK,
  makeTables,
  newName,
  readHead,
  readRows,
} from './postgres-schema.js';
import { Session } from './postgres-session.js';

/** How often an instance says that it is there, in milliseconds. */
const HEARTBEAT_MS = 5_000;
const TIMEOUT_MS = 10_000;
const LOST = 'the journal fails: a failover lost posts, and what is served is built anew';
/** Why what is served is built anew, where nothing was lost. */
const WHY = {
  moved: 'points got other ids',
  pruned: 'posts were removed before they were read',
} as const;
/** Between two calls of `renew`. */
const RENEW_MS = 5_000;

export interface DatabaseJournalOptions extends JournalOptions {
  /** How long a batch may take until it is certain, in milliseconds. */
  readonly timeoutMs?: number;
  /** Has the served generation built anew; called again until it is. */
  readonly renew?: () => void;
}

/**
 * Opens the journal in a database, whose tables are made where there are none. Rejects with a
 * {@link StoreError}.
 */
export async function openDatabaseJournal(
  address: DatabaseAddress,
  options: DatabaseJournalOptions = {},
): Promise<SharedJournal> {
  let link: Link | undefined;
  try {
    link = await connect(address, 0);
    await link.makeTables(makeTables);
    const journal = new DatabaseJournal(address, new Follower(await readHead(link)), options);
    await journal.begin(link);
    return journal;
  } catch (error) {
    link?.close();
    const text = `${address.name}: ${(error as Error).message}`;
    const isLasting = error instanceof InputError || (error instanceof Refused && error.isLasting);
    throw new StoreError(isLasting ? 'refused' : 'failing', text);
  }
}

class DatabaseJournal implements SharedJournal {
  readonly #session: Session;
  readonly #options: DatabaseJournalOptions;
  readonly #follower: Follower;
  /** Random: the name of this instance in the database. */
  readonly #name = newName();
  /** What an adoption under way began with. */
  #adopting: { readonly link: Link | undefined; readonly branch: number } | undefined;
  #isHeld = false;
  readonly #batches: Batches;
  /** Ids that were taken and not given yet. */
  #ids = { next: 0, end: 0 };
  #watermark = 0;
  #bytes = 0;
  #heartAt = 0;
  #renewAt = 0;
  #isClosed = false;

  constructor(address: DatabaseAddress, follower: Follower, options: DatabaseJournalOptions) {
    this.#options = options;
    this.#follower = follower;
    this.#session = new Session(address, options.logger, (link) => this.#look(link));
    this.#batches = new Batches((posts) => this.#write(posts));
  }

  get state(): JournalState {
    const { head, sequence, lag, losses } = this.#follower;
    const { name, branch, pruned, lastTime } = head;
    return {
      name,
      line: branch === 0 ? name : `${name}-${branch}`,
      lastSequence: sequence,
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
    if (this.#session.problem !== undefined) return this.#session.problem;
    const { standstill, standsSince } = this.#follower;
    if (standstill === 'parted') return LOST;
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    if (standstill !== 'moved' && standstill !== 'pruned') return undefined;
    if (performance.now() - standsSince <= timeoutMs) return undefined;
    return `the journal fails: ${WHY[standstill]}, and what is served is not built anew yet`;
  }

  /** Begins to look. Rejects where the database does not let it. */
  async begin(link: Link): Promise<void> {
    await link.read("DELETE FROM waypost.instances WHERE seen_at < now() - interval '1 day'");
    await this.#sayHello(link);
    await this.#session.begin(link);
  }

  async takeId(): Promise<number> {
    const { next: first, end: last } = this.#ids;
    if (first === last || first < this.#follower.head.leastId) {
      const take = "SELECT nextval('waypost.ids') AS next";
      const { next } = (await this.#session.read<{ next: number }>(take))[0]!;
      this.#ids = { next, end: next + ID_BLOCK };
    }
    return this.#ids.next++;
  }

  async giveIdsFrom(id: number): Promise<void> {
    await this.#lookAlone(this.#session);
    if (this.#follower.head.leastId < id) {
      await this.#session.write('SELECT waypost.give_ids_from($1)', [id]);
      // the head has all earlier posts by now, and later ones have none of these ids
      await this.#lookAlone(this.#session);
    }
    this.#adopting = { link: this.#session.link, branch: this.#follower.head.branch };
  }

  append(post: NewPost): Promise<Appended> {
    const reason = this.#isClosed ? 'the journal is closed' : this.#problem;
    if (reason !== undefined) return Promise.reject(new NotStored(reason));
    return this.#batches.append(post);
  }

  read(after: number, limit: number): Promise<readonly Post[]> {
    return readRows(this.#session, after, this.#follower.sequence, limit);
  }

  changed(listener: Listener): void {
    this.#follower.listeners.push(listener);
  }

  async find(key: string): Promise<Post | undefined> {
    const byKey = `SELECT ${COLUMNS} FROM waypost.posts WHERE key = $1`;
    const [row] = await this.#session.read<PostRow>(byKey, [key]);
    if (row === undefined) return undefined;
    const problem = this.#problem;
    if (problem !== undefined) throw new JournalUnavailable(problem);
    // another instance may have appended it: who is told of it here may ask for it here
    await this.#follower.until(row.sequence, this.#options.timeoutMs ?? TIMEOUT_MS);
    return postOf(row);
  }

  async move(moves: readonly Move[]): Promise<readonly Post[]> {
    // exclusively() has the session: a move within its work would wait for ever
    if (this.#isHeld) throw new JournalUnavailable('the journal fails: a point has to move');
    // listeners were told of the old ids
    return this.#session.alone(async () => {
      this.#follower.stand(this.#follower.standstill ?? 'moved');
      const move = 'SELECT * FROM waypost.move($1, $2::text::json)';
      const rows = await this.#session.write<PostRow>(move, [newName(), JSON.stringify(moves)]);
      await this.#follower.look(this.#session);
      return rows.map(postOf);
    });
  }

  /** Where posts are not told at all, telling goes on once `work` is done. */
  exclusively(work: () => Promise<Served>): Promise<Served> {
    return this.#session.alone(async () => {
      const isAnew = this.#follower.standstill !== undefined;
      if (isAnew) await this.#follower.look(this.#session);
      const { link, branch } = this.#adopting!;
      if (link !== this.#session.link || branch !== this.#follower.head.branch) {
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
    await this.#batches.written();
    await this.#session.close(async (link) => {
      await link.read('DELETE FROM waypost.instances WHERE name = $1', [this.#name]);
    });
  }

  /** Writes a batch under a name; `told` resolves once listeners heard of all its posts. */
  async #write(posts: readonly NewPost[]): Promise<{ readonly told: BatchTold }> {
    const { timeoutMs = TIMEOUT_MS, onFlush } = this.#options;
    const began = performance.now();
    const deadline = began + timeoutMs;
    const rows = await this.#session.insist<PostRow>(APPEND, [newName(), givenOf(posts)], deadline);
    onFlush?.((performance.now() - began) / 1000);
    const appended = appendedOf(posts, rows);
    // the rest of the block is as old
    if (appended.some((one) => one instanceof IdTaken)) this.#ids = { next: 0, end: 0 };
    this.#session.ring();
    const last = Math.max(0, ...rows.map(({ sequence }) => sequence));
    const told = this.#follower.until(last, deadline - performance.now());
    return { told: told.then(() => appended) };
  }

  #lookAlone(link: Pick<Link, 'read'>): Promise<void> {
    return this.#session.alone(() => this.#follower.look(link));
  }

  async #look(link: Link): Promise<void> {
    await this.#lookAlone(link);
    const { standstill } = this.#follower;
    if (standstill === 'parted') await this.#beginBranch(link);
    if (standstill !== undefined && standstill !== 'begins') this.#askAnew(standstill);
    if (performance.now() > this.#heartAt) await this.#sayHello(link);
  }

  /** Begins a branch after a loss, so that names of states differ: one instance does. */
  async #beginBranch(link: Link): Promise<void> {
    const { branch, head } = this.#follower;
    // a loss may have taken the branch of an earlier one
    if (head.branch > branch) return;
    await link.write('UPDATE waypost.state SET branch = $1 + 1 WHERE branch <= $1', [branch]);
    await this.#lookAlone(link);
  }

  #askAnew(why: keyof typeof WHY | 'parted'): void {
    const now = performance.now();
    if (now < this.#renewAt) return;
    this.#renewAt = now + RENEW_MS;
    const { logger, renew } = this.#options;
    if (why === 'parted') logger?.error('the database lost posts: what is served is built anew');
    else logger?.info({ reason: WHY[why] }, 'what is served is built anew');
    renew?.();
  }

  async #sayHello(link: Link): Promise<void> {
    this.#heartAt = performance.now() + HEARTBEAT_MS;
    const [row] = await link.read<{ bytes: number }>(
      `INSERT INTO waypost.instances VALUES ($1, $2, $3, now())
        ON CONFLICT (name) DO UPDATE SET
          watermark = excluded.watermark, sequence = excluded.sequence, seen_at = now()
        RETURNING pg_total_relation_size('waypost.posts') AS bytes`,
      [this.#name, this.#watermark, this.#follower.sequence],
    );
    this.#bytes = row!.bytes;
  }
}
