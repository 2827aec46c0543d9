import { crcOf } from './database.js';
import type { Post } from './journal.js';

/** Sums of so many bits of each CRC stay whole numbers for 2^29 posts. */
export const CRC_MASK = 0xffffff;

/** What a {@link Copy} was at some moment. */
export type Moment = Pick<Copy, 'count'> & { readonly columns: Columns };

interface Columns {
  readonly sequences: number[];
  /** The posts as JSON: buffers, so that they are not in the heap. */
  readonly posts: Buffer[];
  readonly crcs: number[];
}

/** Posts in memory, ascending by sequence. */
export class Copy {
  #columns: Columns = { sequences: [], posts: [], crcs: [] };
  #crcs = 0;

  get count(): number {
    return this.#columns.sequences.length;
  }

  /** The sum of the CRCs, by {@link CRC_MASK}. */
  get crcs(): number {
    return this.#crcs;
  }

  /** Of the newest post; 0 where there is none. */
  get lastSequence(): number {
    return this.#columns.sequences.at(-1) ?? 0;
  }

  get moment(): Moment {
    return { count: this.count, columns: this.#columns };
  }

  /** The post is behind all others. */
  add(post: Post): void {
    const { sequences, posts, crcs } = this.#columns;
    const crc = crcOf(post) & CRC_MASK;
    sequences.push(post.sequence);
    posts.push(Buffer.from(JSON.stringify(post)));
    crcs.push(crc);
    this.#crcs += crc;
  }

  /** Removes posts; the columns of moments before stay as they are. */
  remove(gone: ReadonlySet<number>): void {
    const { sequences, posts, crcs } = this.#columns;
    const isKept = (_: unknown, i: number): boolean => !gone.has(sequences[i]!);
    this.#set({
      sequences: sequences.filter(isKept),
      posts: posts.filter(isKept),
      crcs: crcs.filter(isKept),
    });
  }

  /** Makes it what it was; what was added since is gone. */
  reset({ count, columns }: Moment): void {
    for (const column of [columns.sequences, columns.posts, columns.crcs]) column.length = count;
    this.#set(columns);
  }

  get(sequence: number): Post | undefined {
    const at = this.#after(sequence - 1);
    return this.#columns.sequences[at] === sequence ? this.#at(at) : undefined;
  }

  /** Posts behind a sequence, `limit` at most. */
  behind(sequence: number, limit: number): readonly Post[] {
    const from = this.#after(sequence);
    const length = Math.min(limit, this.count - from);
    return Array.from({ length }, (_, i) => this.#at(from + i));
  }

  *[Symbol.iterator](): Generator<Post, void, undefined> {
    for (let at = 0; at < this.count; at++) yield this.#at(at);
  }

  #at(index: number): Post {
    return JSON.parse(this.#columns.posts[index]!.toString());
  }

  /** The place of the first post behind a sequence. */
  #after(sequence: number): number {
    const { sequences } = this.#columns;
    let [from, to] = [0, sequences.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (sequences[middle]! <= sequence) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #set(columns: Columns): void {
    this.#columns = columns;
    this.#crcs = columns.crcs.reduce((sum, crc) => sum + crc, 0);
  }
}
