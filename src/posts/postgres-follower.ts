import { EventEmitter, once } from 'node:events';
import { JournalUnavailable, type Listener, postOf } from './journal.js';
import type { Link } from './postgres-link.js';
import { type BatchRow, COLUMNS, type Head, readHead } from './postgres-schema.js';

const PIECE = 1_024;

/** Why an instance tells of no posts until its generation is built anew from the journal. */
export type Standstill =
  /** Nothing was told yet. */
  | 'begins'
  /** A post got another id after listeners were told of the old one. */
  | 'moved'
  /** Posts were removed before this instance read them, such as while its machine was paused. */
  | 'pruned'
  /** A failover lost posts that listeners were told of. */
  | 'parted';

type Reader = Pick<Link, 'read'>;

/** Tells listeners of the posts of all instances, in one order. */
export class Follower {
  /** Of the last look. */
  head: Head;
  standstill: Standstill | undefined = 'begins';
  /** By `performance.now()`: since when it stands still. */
  standsSince: number = performance.now();
  losses = 0;
  readonly listeners: Listener[] = [];
  /** The last post that was told. */
  #told = { sequence: 0, batch: '' };
  /** The branch of the last post that was told. */
  branch: number;
  /** By `performance.now()`: when nothing was left to tell. */
  #caughtUpAt = performance.now();
  /** `told` with the last sequence of each piece, `error` where posts were lost. */
  readonly #events = new EventEmitter().setMaxListeners(0);

  constructor(head: Head) {
    this.head = head;
    this.branch = head.branch;
  }

  /** The sequence up to which posts were told; the head's where the generation is built anew. */
  get sequence(): number {
    return this.standstill === undefined ? this.#told.sequence : this.head.lastSequence;
  }

  get lag(): { readonly posts: number; readonly seconds: number } {
    const posts = Math.max(0, this.head.lastSequence - this.#told.sequence);
    return { posts, seconds: (performance.now() - this.#caughtUpAt) / 1000 };
  }

  /** Resolves when the post of a sequence was told. Rejects with a {@link JournalUnavailable}. */
  async until(sequence: number, patienceMs: number): Promise<void> {
    let told = this.standstill === undefined ? this.#told.sequence : 0;
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(patienceMs)));
    while (told < sequence) {
      [told] = await once(this.#events, 'told', { signal }).catch((error) => {
        if (!signal.aborted) throw error;
        throw new JournalUnavailable('the journal fails: the instance is behind');
      });
    }
  }

  /**
   * Tells what is new. Rejects as the link does, as {@link readHead}, and with a
   * {@link JournalUnavailable} where posts are missing.
   */
  async look(link: Reader): Promise<void> {
    this.head = await readHead(link);
    if (this.standstill !== undefined) return;
    if (this.head.branch !== this.branch || this.#isBehind()) return this.stand('parted');
    while (this.#told.sequence < this.head.lastSequence) {
      const rows = await this.#readPiece(link);
      if (typeof rows === 'string') return this.stand(rows);
      const at = rows.findIndex(({ movedFrom }) => movedFrom !== null);
      const count = at < 0 ? rows.length : at;
      if (count > 0) await this.#tell(rows.slice(0, count));
      if (at >= 0) return this.stand('moved');
    }
    this.#caughtUpAt = performance.now();
  }

  /** Tells of nothing from now on. */
  stand(why: Standstill): void {
    if (this.standstill === undefined) this.standsSince = performance.now();
    this.standstill = why;
    if (why !== 'parted') return;
    this.losses++;
    if (this.#events.listenerCount('error') === 0) return;
    this.#events.emit(
      'error',
      new JournalUnavailable('the journal fails: the database lost posts'),
    );
  }

  /** Goes on behind the head: all posts before it were read from the journal. */
  goOn(): void {
    const { lastSequence, lastBatch, branch } = this.head;
    this.#told = { sequence: lastSequence, batch: lastBatch };
    this.branch = branch;
    this.standstill = undefined;
    this.#caughtUpAt = performance.now();
    this.#events.emit('told', lastSequence);
  }

  /** Whether the head went back, or is another one under the same sequence. */
  #isBehind(): boolean {
    const { lastSequence, lastBatch } = this.head;
    const { sequence, batch } = this.#told;
    return lastSequence < sequence || (lastSequence === sequence && lastBatch !== batch);
  }

  /** The next rows, or why there are none. */
  async #readPiece(link: Reader): Promise<readonly BatchRow[] | Standstill> {
    const { sequence, batch } = this.#told;
    const { lastSequence } = this.head;
    const rows = await link.read<BatchRow>(
      `SELECT ${COLUMNS} FROM waypost.posts WHERE sequence BETWEEN $1 AND $2
        ORDER BY sequence LIMIT ${PIECE}`,
      [sequence, lastSequence],
    );
    const last = rows.find((row) => row.sequence === sequence);
    if (last !== undefined && last.batch !== batch) return 'parted';
    // posts may have been removed since the head was read
    if (last === undefined) this.head = await readHead(link);
    if (last === undefined && sequence > this.head.pruned) return 'parted';
    const next = rows.slice(last === undefined ? 0 : 1);
    if (sequence < this.head.pruned && next[0]?.sequence !== sequence + 1) return 'pruned';
    for (const [i, row] of next.entries()) {
      if (row.sequence === sequence + 1 + i) continue;
      throw new JournalUnavailable(`post ${sequence + 1 + i} is missing in its table`);
    }
    if (next.length > 0) return next;
    throw new JournalUnavailable(`posts behind ${sequence} are missing in its table`);
  }

  async #tell(rows: readonly BatchRow[]): Promise<void> {
    const posts = rows.map(postOf);
    for (const tell of this.listeners) await tell(posts);
    const { sequence, batch } = rows.at(-1)!;
    this.#told = { sequence, batch };
    this.#events.emit('told', sequence);
  }
}
