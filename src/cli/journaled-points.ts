import {
  BlockBuilder,
  type ColumnBlock,
  MAX_RECORD_BYTES,
  type PointBlock,
} from '../formats/block.js';
import { openSnapshot } from '../formats/files/open.js';
import { renderPoint } from '../model/point.js';
import { InputError } from '../model/quote.js';
import type { Microseconds } from '../model/units.js';
import { acceptedOf, standingOf } from '../posts/adopt.js';
import type { Post, Posted } from '../posts/journal.js';
import { counted } from '../serving/progress.js';
import { readPosts, shownName } from './journal-posts.js';

/** Reads the posts of a journal that belong to a snapshot. Throws as `readPosts` does. */
export async function journaledPoints(snapshot: string, journal: string): Promise<JournaledPoints> {
  const posted = await readPosts(journal);
  return new JournaledPoints(journal, posted, await watermarkOf(snapshot, posted));
}

/** Up to which sequence the snapshot has posts of this journal. */
async function watermarkOf(path: string, { name, through }: Posted): Promise<number> {
  const reader = await openSnapshot(path, {});
  reader.close();
  const { journal, sequence = 0 } = reader.watermark ?? {};
  return journal === name && sequence <= through ? sequence : 0;
}

/** Posts that are packed or exported beside the points of a snapshot. */
export class JournaledPoints {
  /** What is said of them to people. */
  readonly origin: string;
  /** When the latest of them was made, in milliseconds since the epoch. */
  readonly latest: number;
  readonly summary: string[] = [];
  readonly #journal: string;
  readonly posted: Posted;
  readonly #watermark: number;
  readonly #postedIds: ReadonlySet<number>;
  readonly #created = new Map<number, Microseconds>();
  #nextId: number;

  constructor(journal: string, posted: Posted, watermark: number) {
    this.#journal = shownName(journal);
    this.origin = `compact, with ${counted(posted.posts.length, 'post')} of ${this.#journal}`;
    this.latest = posted.posts.reduce(
      (latest, { createdAt }) => Math.max(latest, Math.floor(createdAt / 1000)),
      0,
    );
    this.posted = posted;
    this.#watermark = watermark;
    this.#postedIds = new Set(posted.posts.flatMap(({ id, movedFrom = id }) => [id, movedFrom]));
    this.#nextId = posted.nextId;
  }

  /** To be told of each block of the snapshot, before the points are asked for. */
  see({ count, id, createdAt }: ColumnBlock): void {
    for (let i = 0; i < count; i++) {
      const each = id[i]!;
      if (each >= this.#nextId) this.#nextId = each + 1;
      if (this.#postedIds.has(each)) this.#created.set(each, createdAt[i]!);
    }
  }

  *blocks(): Generator<PointBlock, void, undefined> {
    const builder = new BlockBuilder();
    let added = 0;
    for (const post of this.posted.posts) {
      const standing = standingOf(post, (id) => this.#created.get(id), this.#watermark);
      if (standing === 'retired') continue;
      const { point: posted } = acceptedOf(post);
      const point = standing === 'moved' ? { ...posted, id: this.#freshId(post) } : posted;
      const bytes = Buffer.from(renderPoint(point));
      if (bytes.length > MAX_RECORD_BYTES) {
        throw new InputError(
          `${this.#journal}: post ${post.sequence} has ${bytes.length} bytes as JSON, at ` +
            `most ${MAX_RECORD_BYTES} fit into a snapshot`,
        );
      }
      const block = builder.add(point, bytes);
      if (block !== undefined) yield block;
      added++;
    }
    const last = builder.take();
    if (last !== undefined) yield last;
    const { posts, through } = this.posted;
    this.summary.push(
      `${counted(added, 'post')} of ${this.#journal} added, ` +
        `${counted(posts.length - added, 'post')} already there; sequences up to ${through}`,
    );
  }

  #freshId({ sequence, id: taken }: Post): number {
    if (!Number.isSafeInteger(this.#nextId)) {
      throw new InputError(`${this.#journal}: there is no id left for post ${sequence}`);
    }
    const id = this.#nextId++;
    this.summary.push(
      `post ${sequence} has id ${id}: the snapshot uses ${taken} for another record`,
    );
    return id;
  }
}
