import { MediaUnavailable } from '../../media/folder.js';
import type { CheckedImage, Media } from '../../media/media.js';
import type { Draft } from '../../model/draft.js';
import { type Point, renderPoint } from '../../model/point.js';
import { type Journal, JournalUnavailable, type Post } from '../journal/journal.js';
import type { Room } from '../tails.js';
import type { PostClock } from './clock.js';
import { SpentKeys } from './keys.js';
import type { PostReply, PostRequest, Posts } from './posts.js';
import type { PostStats } from './stats.js';

/** Where accepted points become visible, after the journal has them. */
export interface Visible {
  /** Keeps room; resolves with undefined where there is none, and none comes in time. */
  reserve(rows: number, bytes: number): Promise<Room | undefined>;
}

/** What a {@link PostWriter} is made with. */
export interface PostWriterParts {
  readonly journal: Journal;
  readonly visible: Visible;
  /** Undefined where no images are taken: no post has one then. */
  readonly media: Media | undefined;
  readonly clock: PostClock;
  readonly stats: Pick<PostStats, 'outcomes'>;
}

/** A post whose fields and image are as they should be. */
interface Checked extends Pick<PostRequest, 'user' | 'key'> {
  readonly draft: Draft;
  readonly image: CheckedImage | undefined;
}

/** A point is journaled, then made visible, then answered for. One a process. */
export class PostWriter implements Posts {
  readonly #parts: PostWriterParts;
  readonly #keys: SpentKeys;
  /** Posts by the name of their key, until they are answered. */
  readonly #underWay = new Map<string, Promise<PostReply>>();
  #nextId: number;
  /** Posts between their id and their answer. */
  #busy = 0;
  #whenIdle: (() => void) | undefined;
  /** Whoever has the journal to itself, one after the other. */
  #alone: Promise<unknown> | undefined;

  constructor(parts: PostWriterParts) {
    this.#parts = parts;
    this.#keys = new SpentKeys(parts.journal.keys());
    this.#nextId = parts.journal.state.nextId;
  }

  async post(request: PostRequest): Promise<PostReply> {
    const reply = await this.#postOnce(request);
    this.#parts.stats.outcomes[reply.kind]++;
    return reply;
  }

  /** Accepts a point once for each key; the same post meanwhile waits for the first one. */
  async #postOnce(request: PostRequest): Promise<PostReply> {
    const { key, upload } = request;
    if (key === undefined) return this.#check(request);
    for (let earlier = this.#underWay.get(key.name); earlier !== undefined; ) {
      // one that fails leaves the key to the next
      await earlier.catch(() => {});
      earlier = this.#underWay.get(key.name);
    }
    const spent = this.#keys.find(key.name);
    if (spent !== undefined) {
      if (upload !== undefined) await this.#parts.media?.discard(upload);
      if (spent.body !== key.body) return { kind: 'key_reused' };
      const { id } = JSON.parse(spent.record) as { id: number };
      return { kind: 'replayed', id, record: spent.record };
    }
    const accepting = this.#check(request).finally(() => this.#underWay.delete(key.name));
    this.#underWay.set(key.name, accepting);
    return accepting;
  }

  /** Gives ids from this one on, at least. */
  giveIdsFrom(id: number): void {
    this.#nextId = Math.max(this.#nextId, id);
  }

  /** An id that no point has or had. */
  takeId(): number {
    return this.#nextId++;
  }

  /** Works while no post is under way; those that come meanwhile wait. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#alone;
    const working = (async () => {
      await before?.catch(() => {});
      if (this.#busy > 0) {
        await new Promise<void>((resolve) => {
          this.#whenIdle = resolve;
        });
      }
      return work();
    })();
    this.#alone = working;
    try {
      return await working;
    } finally {
      if (this.#alone === working) this.#alone = undefined;
    }
  }

  /** Looks at the image, and then accepts the point. */
  async #check({ draft, user, key, upload }: PostRequest): Promise<PostReply> {
    if (upload === undefined && !('problems' in draft)) {
      return this.#accept({ draft, user, key, image: undefined });
    }
    const { media } = this.#parts;
    try {
      const image = upload === undefined ? undefined : await media!.accept(upload);
      const wrong = typeof image === 'string' ? { image: [image] } : {};
      if ('problems' in draft || typeof image === 'string') {
        if (typeof image === 'object') await media!.discard(image);
        const problems = 'problems' in draft ? draft.problems : {};
        return { kind: 'refused', problems: { ...problems, ...wrong } };
      }
      return await this.#accept({ draft, user, key, image });
    } catch (error) {
      if (error instanceof MediaUnavailable) return unavailable(error.message);
      throw error;
    }
  }

  async #accept(request: Checked): Promise<PostReply> {
    while (this.#alone !== undefined) await this.#alone.catch(() => {});
    this.#busy++;
    try {
      return await this.#store(request);
    } catch (error) {
      // the log says why, with the name of the file
      if (error instanceof JournalUnavailable) return unavailable('the journal cannot be written');
      throw error;
    } finally {
      this.#busy--;
      if (this.#busy === 0) this.#whenIdle?.();
    }
  }

  async #store(checked: Checked): Promise<PostReply> {
    const { journal, visible, media } = this.#parts;
    const { image, key } = checked;
    const id = this.takeId();
    const address = image === undefined ? undefined : await media!.store(id, image);
    const point = this.#pointOf(id, address, checked);
    const record = renderPoint(point);
    const room = await visible.reserve(1, Buffer.byteLength(record));
    if (room === undefined) {
      if (address !== undefined) await media!.remove(address);
      return unavailable('too many points wait to become part of the data');
    }
    let posts: readonly Post[];
    try {
      posts = await journal.append([{ point, key, record }]);
    } catch (error) {
      room.release();
      if (address !== undefined) await media!.remove(address);
      throw error;
    }
    // the key was journaled with the point
    if (key !== undefined) this.#keys.add(key, record);
    room.append(posts.map((post) => ({ ...post, record })));
    // a mark that stays costs the next start a look
    if (address !== undefined) void media!.settle(address).catch(() => {});
    return { kind: 'accepted', id, record };
  }

  #pointOf(id: number, image: string | undefined, { draft, user }: Checked): Point {
    const now = this.#parts.clock.next();
    return {
      id,
      status: 'NEW',
      comment: draft.comment,
      image,
      lat: draft.lat,
      lon: draft.lon,
      isProcessed: false,
      createdBy: user,
      tags: draft.tags,
      createdAt: now,
      modifiedAt: now,
    };
  }
}

function unavailable(reason: string): PostReply {
  return { kind: 'unavailable', reason };
}
