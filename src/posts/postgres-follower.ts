import { JournalUnavailable, type Post } from './journal.js';
import type { Link, Row } from './postgres-link.js';
import { checkVersion, postOf } from './postgres-schema.js';

/** Posts that are read and told at a time. */
const PIECE = 1_024;
const COLUMNS = 'sequence, id, created_at, record, key, body, batch, moved_from';

/** The one row of the table `state`. */
export interface Head {
  readonly name: string;
  /** Counts how often posts were lost that some instance had told of. */
  readonly branch: number;
  readonly lastSequence: number;
  /** The name of the batch that the last post came with. */
  readonly lastBatch: string;
  readonly lastTime: number;
  /** Posts up to this sequence were removed. */
  readonly pruned: number;
  readonly leastId: number;
}

/** Why an instance tells of no posts until it is made anew from the journal. */
export type Standstill =
  /** Nothing was told yet. */
  | 'begins'
  /** A post got another id, and the one with the old id was told before. */
  | 'moved'
  /** Posts that were told are not there any more: a failover lost them. */
  | 'parted';

/** Takes posts in the order of their sequences; the next ones come when it is done. */
export type Listener = (posts: readonly Post[]) => void | Promise<void>;

interface Waiting {
  readonly sequence: number;
  resolve(): void;
  reject(error: Error): void;
  readonly timer: NodeJS.Timeout;
}

/** Tells of the posts of the database, its own and those of other instances, in one order. */
export class Follower {
  /** Of the last look. */
  head: Head;
  standstill: Standstill | undefined = 'begins';
  /** How often posts were gone that had been told. */
  losses = 0;
  readonly listeners: Listener[] = [];
  /** The last post that was told. */
  #told: { readonly sequence: number; readonly batch: string };
  /** The branch that it belongs to. */
  branch: number;
  /** By `performance.now()`: when nothing was left to tell. */
  #caughtUpAt = performance.now();
  #waiting = new Set<Waiting>();

  constructor(head: Head) {
    this.head = head;
    this.branch = head.branch;
    this.#told = { sequence: 0, batch: '' };
  }

  /** Up to which sequence posts were told; all there are where the instance is made anew. */
  get sequence(): number {
    return this.standstill === undefined ? this.#told.sequence : this.head.lastSequence;
  }

  /** How far what was told is behind, in posts and in seconds. */
  get lag(): { readonly posts: number; readonly seconds: number } {
    const posts = Math.max(0, this.head.lastSequence - this.#told.sequence);
    return { posts, seconds: (performance.now() - this.#caughtUpAt) / 1000 };
  }

  /** Resolves when the post of a sequence was told. Rejects with a {@link JournalUnavailable}. */
  until(sequence: number, patienceMs: number): Promise<void> {
    if (this.standstill === undefined && this.#told.sequence >= sequence) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const late = new JournalUnavailable('the journal fails: the instance is behind');
      const timer = setTimeout(reject, Math.max(0, patienceMs), late);
      this.#waiting.add({ sequence, resolve, reject, timer });
    });
  }

  /** Rejects what waits for a sequence. */
  giveUp(error: Error): void {
    for (const { reject, timer } of this.#waiting) {
      clearTimeout(timer);
      reject(error);
    }
    this.#waiting.clear();
  }

  /**
   * Tells what is new. Rejects as the link does, and with a {@link JournalUnavailable} where the
   * tables are not what this program made them.
   */
  async look(link: Link): Promise<void> {
    this.head = await readHead(link);
    if (this.standstill !== undefined) return;
    if (this.head.branch !== this.branch || this.#isBehind()) return this.stand('parted');
    while (this.#told.sequence < this.head.lastSequence) {
      const rows = await this.#readPiece(link);
      if (rows === undefined) return this.stand('parted');
      const posts = rows.map(postOf);
      const at = posts.findIndex(({ movedFrom }) => movedFrom !== undefined);
      const count = at < 0 ? posts.length : at;
      if (count > 0) await this.#tell(posts.slice(0, count), String(rows[count - 1]!['batch']));
      if (at >= 0) return this.stand('moved');
    }
    this.#caughtUpAt = performance.now();
  }

  /** Tells of nothing from now on. */
  stand(why: Standstill): void {
    this.standstill = why;
    if (why !== 'parted') return;
    this.losses++;
    this.giveUp(new JournalUnavailable('the journal fails: the database lost posts'));
  }

  /** Goes on behind the head: all before it was taken from the journal. */
  goOn(): void {
    const { lastSequence, lastBatch, branch } = this.head;
    this.#told = { sequence: lastSequence, batch: lastBatch };
    this.branch = branch;
    this.standstill = undefined;
    this.#caughtUpAt = performance.now();
    this.#wake();
  }

  /** Whether the head went back, or is another one under the same sequence. */
  #isBehind(): boolean {
    const { lastSequence, lastBatch } = this.head;
    const { sequence, batch } = this.#told;
    return lastSequence < sequence || (lastSequence === sequence && lastBatch !== batch);
  }

  /** The next rows; undefined where the last one that was told is another one by now. */
  async #readPiece(link: Link): Promise<readonly Row[] | undefined> {
    const { sequence, batch } = this.#told;
    const { lastSequence, pruned } = this.head;
    const rows = await link.read(
      `SELECT ${COLUMNS} FROM waypost.posts WHERE sequence BETWEEN $1 AND $2
        ORDER BY sequence LIMIT ${PIECE}`,
      [sequence, lastSequence],
    );
    const isFirst = sequence === 0;
    const last = isFirst ? undefined : rows.find((row) => Number(row['sequence']) === sequence);
    if (!isFirst && last?.['batch'] !== batch && (last !== undefined || sequence > pruned)) {
      return undefined;
    }
    const next = rows.slice(last === undefined ? 0 : 1);
    for (const [i, row] of next.entries()) {
      if (Number(row['sequence']) === sequence + 1 + i) continue;
      throw new JournalUnavailable(`post ${sequence + 1 + i} is missing in its table`);
    }
    if (next.length > 0) return next;
    throw new JournalUnavailable(`posts behind ${sequence} are missing in its table`);
  }

  async #tell(posts: readonly Post[], batch: string): Promise<void> {
    for (const tell of this.listeners) await tell(posts);
    this.#told = { sequence: posts.at(-1)!.sequence, batch };
    this.#wake();
  }

  #wake(): void {
    for (const waiting of this.#waiting) {
      if (waiting.sequence > this.#told.sequence) continue;
      this.#waiting.delete(waiting);
      clearTimeout(waiting.timer);
      waiting.resolve();
    }
  }
}

/** Reads the one row of the state. Rejects as the link does, or with what is wrong with the row. */
export async function readHead(link: Pick<Link, 'read'>): Promise<Head> {
  const [row] = await link.read('SELECT * FROM waypost.state');
  if (row === undefined) throw new JournalUnavailable('the table waypost.state has no row');
  checkVersion(Number(row['version']));
  return {
    name: String(row['name']),
    branch: Number(row['branch']),
    lastSequence: Number(row['last_sequence']),
    lastBatch: String(row['last_batch']),
    lastTime: Number(row['last_time']),
    pruned: Number(row['pruned']),
    leastId: Number(row['least_id']),
  };
}

/** Posts behind a sequence as they are at another one, ascending; what moved is at its new place. */
export async function readRows(
  link: Pick<Link, 'read'>,
  after: number,
  through: number,
  limit: number,
): Promise<readonly Post[]> {
  const rows = await link.read(
    `SELECT ${COLUMNS} FROM waypost.posts
      WHERE sequence > $1 AND sequence <= $2 AND (moved_to IS NULL OR moved_to > $2)
      ORDER BY sequence LIMIT $3`,
    [after, through, limit],
  );
  return rows.map(postOf);
}
