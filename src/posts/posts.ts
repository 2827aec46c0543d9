import { type Draft, type Point, type Refused, renderPoint } from '../model/point.js';
import type { TimeZone } from '../model/time-zone.js';
import { formatLocal, type Timestamp } from '../model/timestamp.js';
import type { Microseconds } from '../model/units.js';
import type { Deltas, DeltasState } from '../reload/deltas.js';
import { Durations } from '../reload/stats.js';
import {
  IdTaken,
  isShared,
  type JournalState,
  JournalUnavailable,
  NotStored,
  type OwnJournal,
  type Post,
  type PostKey,
  type SharedJournal,
} from './journal.js';
import { MediaUnavailable } from './media/folder.js';
import type { CheckedImage, Media } from './media/media.js';
import { ImageStats, type Upload } from './media/upload.js';

/** A point that a client wants to be accepted. Plain data: threads pass it on. */
export interface PostRequest {
  /** Problems where fields are wrong; those of the image are added to them. */
  readonly draft: Draft | Refused;
  /** The user of the token. */
  readonly user: number | undefined;
  /** The address that limits count by. */
  readonly address: string;
  readonly key: PostKey | undefined;
  /** The image, as it came; the caller removes it afterwards. */
  readonly upload: Upload | undefined;
}

/** A point that was accepted: whoever has its sequence or a later one has the point. */
type Acknowledged = Pick<Post, 'id' | 'record' | 'sequence'>;

/** What became of a post. Plain data: threads pass it on. */
type PostReply =
  /** Durable, and visible to every request that begins from now on. */
  | ({ readonly kind: 'accepted' } & Acknowledged)
  /** The key was used before, with the same body, for this record. */
  | ({ readonly kind: 'replayed' } & Acknowledged)
  | (Refused & { readonly kind: 'refused' })
  /** The key was used before, with another body. */
  | { readonly kind: 'key_reused' }
  /** Not stored, not visible. Where the reason says so, the point may appear later. */
  | { readonly kind: 'unavailable'; readonly reason: string };

export interface Posts {
  post(request: PostRequest): Promise<PostReply>;
}

/** Upper bounds of the buckets of flushes, in seconds. */
const FLUSH_BOUNDS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
];

/** What is counted of posts; all 0 where points are only read. */
export class PostStats {
  readonly outcomes = { accepted: 0, replayed: 0, refused: 0, key_reused: 0, unavailable: 0 };
  readonly flushes: Durations = new Durations(FLUSH_BOUNDS);
  readonly images: ImageStats = new ImageStats();
  journal: { readonly state: JournalState } | undefined;
  deltas: { readonly state: DeltasState } | undefined;
}

interface PostWriterParts {
  readonly journal: OwnJournal | SharedJournal;
  /** Where accepted points become visible, after the journal has them. */
  readonly visible: Pick<Deltas, 'reserve' | 'state'>;
  /** Undefined where no images are taken: then no post has one. */
  readonly media: Media | undefined;
  readonly clock: () => Timestamp | undefined;
  readonly stats: Pick<PostStats, 'outcomes'>;
}

/** A point is journaled, then visible, then answered for. One a process. */
export class PostWriter implements Posts {
  /** Why no points are accepted although the journal could be written. */
  refusal: string | undefined;
  readonly #parts: PostWriterParts;

  constructor(parts: PostWriterParts) {
    this.#parts = parts;
  }

  async post(request: PostRequest): Promise<PostReply> {
    let reply: PostReply;
    try {
      reply = await this.#check(request);
    } catch (error) {
      if (error instanceof MediaUnavailable || error instanceof NotStored)
        reply = unavailable(error.message);
      else if (error instanceof JournalUnavailable) reply = unavailable(`${error.message}${AGAIN}`);
      else throw error;
    }
    this.#parts.stats.outcomes[reply.kind]++;
    return reply;
  }

  async #check(request: PostRequest): Promise<PostReply> {
    const { draft, key, upload } = request;
    const { media, journal } = this.#parts;
    let image: CheckedImage | string | undefined;
    if (upload !== undefined) {
      const earlier = key && (await journal.find(key.name).catch(() => undefined));
      if (earlier !== undefined) return repeated(earlier, request);
      image = await media!.accept(upload, request.address);
    }
    try {
      if (!('problems' in draft) && typeof image !== 'string') {
        return await this.#accept(request, draft, image);
      }
      const problems = 'problems' in draft ? draft.problems : {};
      const wrong = typeof image === 'string' ? { image: [image] } : {};
      return { kind: 'refused', problems: { ...problems, ...wrong } };
    } finally {
      // the image's file was moved to its place, or is not wanted
      if (typeof image === 'object') await media!.discard(image);
    }
  }

  async #accept(request: PostRequest, draft: Draft, image?: CheckedImage): Promise<PostReply> {
    const { journal, visible, media } = this.#parts;
    const id = await this.#takeId();
    // before room is reserved: nobody waits for a slow store of images
    const address = image === undefined ? undefined : await media!.store(id, image);
    // as JSON, in which a control character has six bytes
    const bytes = Buffer.byteLength(JSON.stringify(draft)) + OTHER_BYTES;
    let release: (() => void) | undefined;
    let isRefused = true;
    try {
      release = await visible.reserve(1, bytes);
      if (release === undefined) {
        return unavailable(visible.state.problem ?? 'the point is too large');
      }
      if (this.refusal !== undefined) return unavailable(this.refusal);
      // a shared journal's posts find room in the order of all instances: own ones only wait
      if (isShared(journal)) release();
      const reply = await this.#append(request, draft, id, address).catch(async (error) => {
        isRefused = error instanceof NotStored;
        // the address of an image has the id
        if (!(error instanceof IdTaken) || address !== undefined) throw error;
        return this.#append(request, draft, await this.#takeId(), undefined);
      });
      isRefused = reply.kind !== 'accepted';
      return reply;
    } finally {
      release?.();
      // where it is unknown whether the point stays, its image does
      if (address !== undefined && isRefused) await media!.remove(address);
    }
  }

  /** Rejects with a {@link NotStored}. */
  #takeId(): Promise<number> {
    return this.#parts.journal.takeId().catch((error: Error) => {
      throw new NotStored(error.message, { cause: error });
    });
  }

  async #append(
    request: PostRequest,
    { comment, lat, lon, tags }: Draft,
    id: number,
    image: string | undefined,
  ): Promise<PostReply> {
    const { clock, journal } = this.#parts;
    const { user, key } = request;
    const now = clock();
    if (now === undefined) return unavailable('the clock of this machine is beyond the year 2255');
    // a literal is made many times faster than a copy
    const point: Point = {
      id,
      status: 'NEW',
      comment,
      image,
      lat,
      lon,
      isProcessed: false,
      createdBy: user,
      tags,
      createdAt: now,
      modifiedAt: now,
    };
    const record = renderPoint(point);
    const appended = await journal.append({ id, createdAt: now.micros, record, key, point });
    if (typeof appended !== 'number') return repeated(appended, request);
    return { kind: 'accepted', id, record, sequence: appended };
  }
}

/** Bytes that a record has beside its draft, at most. */
const OTHER_BYTES = 1_024;
/** The file may have a post that the disk did not confirm. */
const AGAIN = '; it may be there all the same: the same key may be sent again';

/** The answer to a post whose key was used before: that to the first post. */
function repeated({ id, movedFrom, record, key, sequence }: Post, request: PostRequest): PostReply {
  if (key!.body !== request.key!.body) return { kind: 'key_reused' };
  if (movedFrom === undefined) return { kind: 'replayed', id, record, sequence };
  const acknowledged = JSON.stringify({ ...JSON.parse(record), id: movedFrom });
  return { kind: 'replayed', id: movedFrom, record: acknowledged, sequence };
}

function unavailable(reason: string): PostReply {
  return { kind: 'unavailable', reason };
}

const LAST: Microseconds = Number.MAX_SAFE_INTEGER;

/**
 * Makes a clock of times of creation, written in `zone`, each later than `last` and than the time
 * before, also when the system's clock is put back. It tells undefined beyond the year 2255, where
 * microseconds are not exact.
 */
export function createPostClock(last: Microseconds, zone: TimeZone): () => Timestamp | undefined {
  let latest = last;
  let second = Number.NaN;
  let text = '';
  return () => {
    // milliseconds of the system's clock, with the microseconds of a finer one behind
    const system = Date.now() * 1000 + Math.floor((performance.now() % 1) * 1000);
    const time = Math.max(latest + 1, system);
    if (time > LAST) return undefined;
    latest = time;
    const now = Math.floor(time / 1e6);
    if (now !== second) {
      second = now;
      text = formatLocal(now * 1e6, zone.offsetOf(now));
    }
    // within a second only the microseconds change
    const micros = String(time - now * 1e6).padStart(6, '0');
    return { micros: time, text: text.slice(0, 20) + micros + text.slice(26) };
  };
}
