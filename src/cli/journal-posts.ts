import {
  BlockBuilder,
  type ColumnBlock,
  columnsOf,
  MAX_RECORD_BYTES,
  type PointBlock,
} from '../formats/block.js';
import type { SnapshotReader, Watermark } from '../formats/snapshot.js';
import { InputError, inert, quote } from '../model/quote.js';
import { formatUtc } from '../model/timestamp.js';
import type { Microseconds } from '../model/units.js';
import { acceptedOf, KEPT_MS, requireWatermark, standingOf, unkept } from '../posts/adopt.js';
import { type Post, type Posted, postLine, readPostLine, StoreError } from '../posts/journal.js';
import { readJournal } from '../posts/journal-file.js';
import { isDatabaseAddress, parseDatabaseAddress } from '../posts/postgres-address.js';
import { keptAfterOf } from '../posts/store.js';
import { counted } from '../serving/progress.js';
import { nameOf, type RunOptions, writeOutput } from './arguments.js';

/** The variable with the token that opens the posts of a service. */
const TOKEN_VARIABLE = 'WAYPOST_ADMIN_TOKEN';
/** What to do about a status of a service. */
const CURES: Readonly<Record<number, string>> = {
  401: `: put an admin's token into ${TOKEN_VARIABLE}`,
  404: ': it has no journal, or knows no admin (--admin-token, or waypost token add --admin)',
};

const NO_JOURNAL_NAMED =
  'the answer has no header Waypost-Journal: it is not of Waypost, or a proxy removes headers';

/** What to do where posts behind a sequence are not kept. */
const ALL_ANEW = 'Leave --after out for all posts.';

/**
 * Reads the posts behind a sequence out of a journal's file, which no process may have open, from a
 * service, `http://…`, or from a database, `postgres://…`. Throws an InputError, also where not all
 * posts behind `after` are kept; from 0 on it takes those there are.
 */
export async function readPosts(
  source: string,
  after = 0,
  token: string | undefined = process.env[TOKEN_VARIABLE],
): Promise<Posted> {
  if (/^https?:\/\//i.test(source)) return readService(source, after, token);
  if (isDatabaseAddress(source)) {
    const { readDatabase } = await import('../posts/postgres-schema.js');
    const posted = await readDatabase(source, after);
    return checkKept(source, after, posted, posted.removed);
  }
  try {
    const posted = readJournal(source, after);
    return checkKept(source, after, posted, keptAfterOf(posted.through, posted.posts));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const cure =
      error.fault === 'locked'
        ? ': copy the file and name the copy, or name the address of the service'
        : '';
    throw new InputError(`${source}: ${error.message}${cure}`, { cause: error });
  }
}

/** Refuses what a service answers 410 to: see `unkept`. */
function checkKept(source: string, after: number, posted: Posted, keptAfter: number): Posted {
  const why = after === 0 ? undefined : unkept(after, { keptAfter, lastSequence: posted.through });
  if (why === undefined) return posted;
  throw new InputError(`${shownName(source)}: ${why} ${ALL_ANEW}`);
}

async function readService(
  base: string,
  after: number,
  token: string | undefined,
): Promise<Posted> {
  if (!URL.canParse(base)) throw new InputError(`${base}: is no address`);
  const url = new URL(
    after > 0 ? `admin/posts?after=${after}` : 'admin/posts',
    base.endsWith('/') ? base : `${base}/`,
  );
  let posts: readonly Post[] = [];
  let response: Response;
  try {
    response = await fetch(url, {
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    });
    if (response.ok) {
      if (!response.headers.has('Waypost-Journal')) {
        await response.body?.cancel();
        throw new Error(NO_JOURNAL_NAMED);
      }
      // not by `node:readline`, for which lines also end at U+2028, which JSON may have
      posts = (await response.text()).split('\n').filter(Boolean).map(readPostLine);
    }
  } catch (error) {
    const { cause, message } = error as Error;
    // the error of a host with several addresses has a code alone
    const { message: reason, code } = (cause ?? {}) as NodeJS.ErrnoException;
    throw new InputError(`${url}: ${reason || code || message}`);
  }
  if (!response.ok) {
    const { detail } = await response.json().catch(() => ({}));
    const reason =
      CURES[response.status] ?? (detail === undefined ? '' : `: ${inert(String(detail))}`);
    throw new InputError(`${url}: the service answers ${response.status}${reason}`);
  }
  const name = response.headers.get('Waypost-Journal') ?? '';
  const through = Number(response.headers.get('Waypost-Sequence'));
  const nextId = posts.reduce((next, { id }) => Math.max(next, id + 1), 1);
  return { name, posts, through, removed: 0, nextId };
}

/** The name of a journal without the password of a database. */
function shownName(source: string): string {
  return isDatabaseAddress(source) ? parseDatabaseAddress(source).name : source;
}

/**
 * Removes posts from a journal in a database that are a day old and that the snapshot of every
 * instance has. Throws an InputError where the journal is a file.
 */
export async function pruneJournal(
  source: string,
  { through = Number.MAX_SAFE_INTEGER, olderThan = KEPT_MS }: PruneOptions,
): Promise<string> {
  if (!isDatabaseAddress(source)) {
    throw new InputError(`${source}: only a journal in a database is pruned by hand`);
  }
  const { pruneDatabase } = await import('../posts/postgres-schema.js');
  const before = Date.now() - Math.max(olderThan, KEPT_MS);
  const { removed, pruned, contained } = await pruneDatabase(source, through, before);
  return (
    `${shownName(source)}: ${counted(removed, 'row')} removed, all up to sequence ${pruned}; ` +
    `the snapshots of all instances have those up to ${contained}`
  );
}

interface PruneOptions {
  /** Posts behind this sequence stay. */
  readonly through?: number;
  readonly olderThan?: number;
}

/** A line for each post, and one for all of them. Throws as {@link readPosts}. */
export async function* listJournal(source: string): AsyncGenerator<string, void, undefined> {
  const { name, posts, through } = await readPosts(source);
  for (const { sequence, id, createdAt, record, movedFrom } of posts) {
    const { lat, lon, comment } = JSON.parse(record);
    const moved = movedFrom === undefined ? '' : `, posted as ${movedFrom}`;
    const time = formatUtc(createdAt);
    yield `${sequence}  id ${id}${moved}  ${time}  ${lat},${lon}  ${quote(comment)}`;
  }
  yield `${shownName(source)}: ${counted(posts.length, 'post')} of sequences up to ${through}, of the journal ${name}`;
}

interface ExportOptions extends Pick<RunOptions, 'stdout'> {
  /** The posts to leave out; the journal has to be the one that it names, if any. */
  readonly after?: Watermark;
  readonly print: (line: string) => void;
}

/**
 * Writes the posts of a journal as NDJSON: see {@link postLine}. A file appears whole or not at
 * all. Throws an InputError where the journal cannot be read or the file not be written.
 */
export async function exportJournal(
  source: string,
  output: string,
  { after = { journal: '', sequence: 0 }, print, ...options }: ExportOptions,
): Promise<void> {
  const { name, posts, through } = await readPosts(source, after.sequence);
  if (after.journal !== '' && after.journal !== name) {
    const why = `it is the journal ${name}, and --after names ${after.journal}`;
    throw new InputError(`${shownName(source)}: ${why}. ${ALL_ANEW}`);
  }
  await writeOutput(output, options, async ({ put }) => {
    for (const post of posts) await put(Buffer.from(postLine(post)));
  });
  const given = `pack --journal-through ${name}:${through}`;
  print(`${nameOf(output)}: ${counted(posts.length, 'post')}; a snapshot that has them: ${given}`);
}

/** Posts that are packed or exported beside the points of a snapshot. */
export class JournaledPoints {
  readonly origin: string;
  /** When the latest post was made, in milliseconds since the epoch. */
  readonly latest: number;
  readonly summary: string[] = [];
  readonly #journal: string;
  /** Of all posts. */
  readonly watermark: Watermark;
  readonly #posted: Posted;
  readonly #postedIds: ReadonlySet<number>;
  readonly #created = new Map<number, Microseconds>();
  #nextId: number;

  constructor(journal: string, posted: Posted) {
    this.#journal = shownName(journal);
    this.origin = `compact, with ${counted(posted.posts.length, 'post')} of ${this.#journal}`;
    this.latest = posted.posts.reduce(
      (latest, { createdAt }) => Math.max(latest, Math.floor(createdAt / 1000)),
      0,
    );
    this.watermark = { journal: posted.name, sequence: posted.through };
    this.#posted = posted;
    this.#postedIds = new Set(posted.posts.flatMap(({ id, movedFrom = id }) => [id, movedFrom]));
    this.#nextId = posted.nextId;
  }

  /** The points of the snapshot, then those of the posts that it lacks. */
  async *blocksBehind(reader: SnapshotReader): AsyncGenerator<PointBlock> {
    for await (const block of reader.blocks()) {
      this.#see(block);
      yield block;
    }
    yield* this.#blocks(reader.report().watermark);
  }

  #see({ count, id, createdAt }: ColumnBlock): void {
    for (let i = 0; i < count; i++) {
      const each = id[i]!;
      if (each >= this.#nextId) this.#nextId = each + 1;
      if (this.#postedIds.has(each)) this.#created.set(each, createdAt[i]!);
    }
  }

  /** The points of posts that a snapshot with the watermark `had` lacks. */
  #blocks(had: Watermark | undefined): PointBlock[] {
    const { name, posts, through, removed } = this.#posted;
    const known = had?.journal === name && had.sequence <= through ? had.sequence : 0;
    requireWatermark(removed, known);
    const builder = new BlockBuilder();
    let added = 0;
    for (const post of posts) {
      const standing = standingOf(post, (id) => this.#created.get(id), known);
      if (standing === 'retired') continue;
      const { point: posted } = acceptedOf(post);
      const point = standing === 'moved' ? { ...posted, id: this.#freshId(post) } : posted;
      const columns = columnsOf(point);
      const bytes = columns.record.renderedLength;
      if (bytes > MAX_RECORD_BYTES) {
        throw new InputError(
          `${this.#journal}: post ${post.sequence} has ${bytes} bytes as JSON, at ` +
            `most ${MAX_RECORD_BYTES} fit into a snapshot`,
        );
      }
      builder.add(columns);
      added++;
    }
    this.summary.push(
      `${counted(added, 'post')} of ${this.#journal} added, ` +
        `${counted(posts.length - added, 'post')} already there; sequences up to ${through}`,
    );
    const kept = keptAfterOf(through, posts);
    if (known < kept) {
      const gone = `posts up to ${kept} may be gone from the journal, once a snapshot had them`;
      this.summary.push(`${gone}: the one packed must have them, and does not say so`);
    }
    return builder.take();
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
