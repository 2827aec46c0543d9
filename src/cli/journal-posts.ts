import { createInterface } from 'node:readline';
import { Readable, type Writable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { writeAll, writeAtomically } from '../formats/system-files.js';
import { InputError, quote } from '../model/quote.js';
import { formatUtc } from '../model/timestamp.js';
import { StoreError } from '../posts/database.js';
import { type Post, type Posted, postLine, readPostLine } from '../posts/journal.js';
import { readJournal } from '../posts/journal-file.js';
import { isDatabaseAddress, parseDatabaseAddress } from '../posts/postgres-address.js';
import { counted } from '../serving/progress.js';
import { nameOf, STANDARD } from './standard-streams.js';

const PIECE = 1 << 20;
/** Has the token that opens the posts of a service. */
const TOKEN_VARIABLE = 'WAYPOST_ADMIN_TOKEN';

/**
 * Reads the posts behind a sequence of a journal's file, which no process may have open, of a
 * service, `http://…`, or of a database, `postgres://…`. Throws an InputError that says what to do.
 */
export async function readPosts(
  source: string,
  after = 0,
  token: string | undefined = process.env[TOKEN_VARIABLE],
): Promise<Posted> {
  if (/^https?:\/\//i.test(source)) return readService(source, after, token);
  if (isDatabaseAddress(source)) {
    const { readDatabase } = await import('../posts/postgres-tools.js');
    return readDatabase(source, after);
  }
  try {
    return readJournal(source, after);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const cure =
      error.fault === 'locked'
        ? ': copy the file and name the copy, or name the address of the service'
        : '';
    throw new InputError(`${source}: ${error.message}${cure}`, { cause: error });
  }
}

async function readService(
  base: string,
  after: number,
  token: string | undefined,
): Promise<Posted> {
  const url = new URL(
    after > 0 ? `admin/posts?after=${after}` : 'admin/posts',
    base.endsWith('/') ? base : `${base}/`,
  );
  const posts: Post[] = [];
  let response: Response;
  try {
    response = await fetch(url, {
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    });
    if (response.ok) {
      const input = Readable.fromWeb(response.body as ReadableStream);
      for await (const line of createInterface({ input })) posts.push(readPostLine(line));
    }
  } catch (error) {
    const { cause, message } = error as Error;
    throw new InputError(`${url}: ${cause instanceof Error ? cause.message : message}`);
  }
  if (!response.ok) {
    const cure = response.status === 401 ? `: put an admin's token into ${TOKEN_VARIABLE}` : '';
    throw new InputError(`${url}: the service answers ${response.status}${cure}`);
  }
  const name = response.headers.get('Waypost-Journal') ?? '';
  const through = Number(response.headers.get('Waypost-Sequence'));
  const nextId = posts.reduce((next, { id }) => Math.max(next, id + 1), 1);
  return { name, posts, through, nextId };
}

/** What a journal is called where others may read it: without the password of a database. */
export function shownName(source: string): string {
  return isDatabaseAddress(source) ? parseDatabaseAddress(source).name : source;
}

/**
 * Removes posts from a journal in a database that the snapshot of every instance has and that are a
 * day old. Throws an InputError where it is no such journal.
 */
export async function pruneJournal(
  source: string,
  { through = Number.MAX_SAFE_INTEGER, olderThan = DAY_MS }: PruneOptions,
): Promise<string> {
  if (!isDatabaseAddress(source)) {
    throw new InputError(`${source}: only a journal in a database is pruned by hand`);
  }
  const { pruneDatabase } = await import('../posts/postgres-tools.js');
  const before = Date.now() - Math.max(olderThan, DAY_MS);
  const { removed, through: pruned, contained } = await pruneDatabase(source, through, before);
  return (
    `${shownName(source)}: ${counted(removed, 'row')} removed, all up to sequence ${pruned}; ` +
    `the snapshots of all instances have those up to ${contained}`
  );
}

interface PruneOptions {
  /** Posts behind this sequence stay. */
  readonly through?: number;
  /** In milliseconds. */
  readonly olderThan?: number;
}

/** Keys count for so long. */
const DAY_MS = 24 * 3_600_000;

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

interface ExportOptions {
  readonly after: number;
  readonly stdout: Writable;
  readonly print: (line: string) => void;
}

/**
 * Writes the posts of a journal as NDJSON: see {@link postLine}. A file appears whole or not at
 * all. Throws an InputError where the journal cannot be read or the file not be written.
 */
export async function exportJournal(
  source: string,
  output: string,
  { after, stdout, print }: ExportOptions,
): Promise<void> {
  const { name, posts, through } = await readPosts(source, after);
  if (output === STANDARD) {
    for (const text of pieces(posts)) {
      if (!stdout.write(text)) await new Promise((resolve) => stdout.once('drain', resolve));
    }
  } else {
    await writeAtomically(output, (fd) => {
      for (const text of pieces(posts)) writeAll(fd, Buffer.from(text));
    });
  }
  const given = `pack --journal-through ${name}:${through}`;
  print(`${nameOf(output)}: ${counted(posts.length, 'post')}; a snapshot that has them: ${given}`);
}

function* pieces(posts: readonly Post[]): Generator<string, void, undefined> {
  let text = '';
  for (const post of posts) {
    text += postLine(post);
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  yield text;
}
