import { CRC_MASK, crcOf } from './database.js';
import type { Post } from './journal.js';

/** A post as JSON: a buffer, so that it is not in the heap. */
interface Kept {
  readonly sequence: number;
  readonly json: Buffer;
  readonly crc: number;
}

/** Posts in memory, ascending by sequence. */
export class Copy {
  readonly #posts: Kept[];
  /** Posts beyond these are of a copy that was made of this one. */
  #count: number;
  #wholeAfter: number;

  constructor(posts: Kept[] = [], wholeAfter = 0) {
    this.#posts = posts;
    this.#count = posts.length;
    this.#wholeAfter = wholeAfter;
  }

  get count(): number {
    return this.#count;
  }

  /** How many posts there are, and the sum of their CRCs by {@link CRC_MASK}. */
  get sums(): { readonly count: number; readonly crcs: number } {
    let crcs = 0;
    for (let at = 0; at < this.#count; at++) crcs += this.#posts[at]!.crc & CRC_MASK;
    return { count: this.#count, crcs };
  }

  /** Of the newest post; 0 where there is none. */
  get lastSequence(): number {
    return this.#posts[this.#count - 1]?.sequence ?? 0;
  }

  /** All posts behind this sequence are there. What has moved before the start counts as gone. */
  get wholeAfter(): number {
    return this.#wholeAfter;
  }

  /** The post is behind all others. */
  add(post: Post): void {
    const before = Math.max(this.lastSequence, this.#wholeAfter);
    if (post.sequence > before + 1) this.#wholeAfter = post.sequence - 1;
    const json = Buffer.from(JSON.stringify(post));
    this.#posts[this.#count++] = { sequence: post.sequence, json, crc: crcOf(post) };
  }

  /**
   * A copy with posts behind these, and without some; those are there under other sequences where
   * both come together. Only one of the two copies may be changed again.
   */
  changed(added: readonly Post[], gone: ReadonlySet<number>): Copy {
    this.#posts.length = this.#count;
    const kept =
      gone.size === 0 ? this.#posts : this.#posts.filter(({ sequence }) => !gone.has(sequence));
    const last =
      added.length > 0 ? undefined : this.#posts.findLast((one) => gone.has(one.sequence));
    const changed = new Copy(kept, Math.max(this.#wholeAfter, last?.sequence ?? 0));
    for (const post of added) changed.add(post);
    return changed;
  }

  /** Posts behind a sequence, `limit` at most. */
  behind(sequence: number, limit: number): readonly Post[] {
    let [from, to] = [0, this.#count];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#posts[middle]!.sequence <= sequence) from = middle + 1;
      else to = middle;
    }
    return this.#posts.slice(from, Math.min(from + limit, this.#count)).map(postIn);
  }

  *[Symbol.iterator](): Generator<Post, void, undefined> {
    for (let at = 0; at < this.#count; at++) yield postIn(this.#posts[at]!);
  }
}

function postIn({ json }: Kept): Post {
  return JSON.parse(json.toString());
}
