import { InputError } from '../errors.js';
import type { Post } from '../live/journal/journal.js';
import { standingOf } from '../live/journal/standing.js';
import { renderPoint } from '../model/point.js';
import type { Microseconds } from '../model/units.js';
import { counted } from '../progress.js';
import { type ColumnBlock, MAX_RECORD_BYTES, type PointBlock } from '../snapshot/block.js';
import { openSnapshot } from '../snapshot/files/open.js';
import { BlockBuilder } from '../snapshot/rows/block-builder.js';
import { readSettled, type Settled } from './journal.js';
import { type FurtherPoints, type PackOptions, packSnapshot } from './pack.js';
import { STANDARD } from './standard-streams.js';

/**
 * Writes a native snapshot of what a snapshot has and what waits in a journal, as `packSnapshot`
 * writes it; its watermark retires these posts. The journal stays as it is and may be in use. Posts
 * that the snapshot has are taken from the snapshot; one whose id it uses for another record gets a
 * new id. Throws an InputError when one of the files is broken or the output cannot be written.
 */
export async function compactSnapshot(
  snapshot: string,
  journal: string,
  output: string,
  options: PackOptions = {},
): Promise<void> {
  const settled = await readSettled(journal);
  const waiting = new WaitingPosts(journal, settled, await watermarkOf(snapshot, settled));
  const channel = output === STANDARD ? process.stderr : process.stdout;
  const print = options.print ?? ((line: string) => channel.write(`${line}\n`));
  await packSnapshot(snapshot, output, {
    ...options,
    print,
    journalThrough: settled.through,
    further: waiting,
    // posts alone make a good snapshot, too
    allowEmpty: options.allowEmpty === true || settled.posts.length > 0,
  });
  for (const line of waiting.summary) print(line);
}

/** Up to which sequence the snapshot has posts of this journal. */
async function watermarkOf(path: string, { through, foreign }: Settled): Promise<number> {
  const reader = await openSnapshot(path, {});
  reader.close();
  const { journalThrough = 0 } = reader;
  return journalThrough > foreign && journalThrough <= through ? journalThrough : 0;
}

/** The posts of a journal beside the points of a snapshot. */
class WaitingPosts implements FurtherPoints {
  readonly origin: string;
  readonly latest: number;
  readonly summary: string[] = [];
  readonly #journal: string;
  readonly #settled: Settled;
  readonly #watermark: number;
  readonly #postedIds: ReadonlySet<number>;
  /** When the snapshot's records with these ids were created. */
  readonly #created = new Map<number, Microseconds>();
  #nextId: number;

  constructor(journal: string, settled: Settled, watermark: number) {
    this.origin = `compact, with ${counted(settled.posts.length, 'post')} of ${journal}`;
    this.latest = settled.posts.reduce(
      (latest, { point }) => Math.max(latest, Math.floor(point.createdAt.micros / 1000)),
      0,
    );
    this.#journal = journal;
    this.#settled = settled;
    this.#watermark = watermark;
    this.#postedIds = new Set(
      settled.posts.flatMap(({ point, movedFrom = point.id }) => [point.id, movedFrom]),
    );
    this.#nextId = settled.nextId;
  }

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
    for (const post of this.#settled.posts) {
      const standing = standingOf(post, (id) => this.#created.get(id), this.#watermark);
      if (standing === 'retired') continue;
      const point = standing === 'moved' ? { ...post.point, id: this.#freshId(post) } : post.point;
      const json = renderPoint(point);
      const bytes = Buffer.byteLength(json);
      if (bytes > MAX_RECORD_BYTES) {
        throw new InputError(
          `${this.#journal}: post ${post.sequence} has ${bytes} bytes as JSON, at most ${MAX_RECORD_BYTES} fit into a snapshot`,
        );
      }
      const block = builder.add(point, json, bytes);
      if (block !== undefined) yield block;
      added++;
    }
    const last = builder.take();
    if (last !== undefined) yield last;
    const { posts, through } = this.#settled;
    this.summary.push(
      `${counted(added, 'post')} of ${this.#journal} added, ${counted(posts.length - added, 'post')} already there; sequences up to ${through}`,
    );
  }

  #freshId({ sequence, point }: Post): number {
    const { foreign, through } = this.#settled;
    // the service would not retire the post by this watermark, and serve it a second time
    if (through <= foreign) {
      throw new InputError(
        `${this.#journal}: post ${sequence} has the id ${point.id} of another record in the snapshot: serve that snapshot with this journal first, which gives the post another id`,
      );
    }
    if (!Number.isSafeInteger(this.#nextId)) {
      throw new InputError(`${this.#journal}: there is no id left for post ${sequence}`);
    }
    const id = this.#nextId++;
    this.summary.push(
      `post ${sequence} has id ${id}: the snapshot uses ${point.id} for another record`,
    );
    return id;
  }
}
