import { randomBytes } from 'node:crypto';
import type { Sql } from 'postgres';
import { InputError, readAsset } from '../model/quote.js';
import {
  type Appended,
  IdTaken,
  type NewPost,
  type Post,
  type Posted,
  type PostRow,
  postOf,
  readAll,
} from './journal.js';
import { parseDatabaseAddress } from './postgres-address.js';
import { connect, type Link } from './postgres-link.js';

/** Any number that other programs are unlikely to lock: tables are made once. */
const LOCK = 7_921_508_336;
/** Ids that an instance takes at a time, as in the tables; unused ones are lost. */
export const ID_BLOCK = 64;
/** How long a prune may take, in milliseconds, at some 5 µs a post. */
const PRUNE_MS = 600_000;
const VERSION = 1;

/** The one row of the table `state`. */
export interface Head {
  /** Of the tables. */
  readonly version: number;
  readonly name: string;
  /** How often posts were lost that some instance had told of. */
  readonly branch: number;
  readonly lastSequence: number;
  readonly lastBatch: string;
  readonly lastTime: number;
  /** Posts up to this sequence were removed. */
  readonly pruned: number;
  readonly leastId: number;
}

/** Named, so that a later version may add others while this one reads. */
export const COLUMNS = 'sequence, id, created_at, record, key, body, batch, moved_from';

export interface BatchRow extends PostRow {
  readonly batch: string;
}

/**
 * Makes the tables where there are none, one process at a time. Throws an InputError where they
 * could not hold every text.
 */
export async function makeTables(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`SELECT pg_advisory_xact_lock(${LOCK})`);
    const [database] = await transaction.unsafe('SHOW server_encoding');
    const encoding = database!['serverEncoding'];
    // one post with a character that is missing would fail its whole batch
    if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII') {
      throw new InputError(`its encoding is ${encoding}, without many characters: it must be UTF8`);
    }
    const [found] = await transaction.unsafe("SELECT to_regclass('waypost.state') AS state");
    if (found!['state'] !== null) return;
    const [schema] = await transaction.unsafe("SELECT to_regnamespace('waypost') AS found");
    // a schema that is there needs no right to make one
    if (schema!['found'] === null) await transaction.unsafe('CREATE SCHEMA waypost');
    await transaction.unsafe(readAsset('journal-1.sql'));
    const values = [VERSION, randomBytes(8).toString('hex')];
    await transaction.unsafe('INSERT INTO waypost.state (version, name) VALUES ($1, $2)', values);
  });
}

/** Reads the one row of the state. Rejects as the link does, or with an InputError about it. */
export async function readHead(link: Pick<Link, 'read'>): Promise<Head> {
  const [head] = await link.read<Head>('SELECT * FROM waypost.state');
  if (head === undefined) throw new InputError('the table waypost.state has no row');
  if (head.version <= VERSION) return head;
  throw new InputError(
    `its tables have version ${head.version}, and this program knows versions up to ${VERSION}: start a newer one`,
  );
}

/** Posts behind `after`, ascending, as of `through`: moved ones under their new sequence. */
export async function readRows(
  link: Pick<Link, 'read'>,
  after: number,
  through: number,
  limit: number,
): Promise<readonly Post[]> {
  const rows = await link.read<PostRow>(
    `SELECT ${COLUMNS} FROM waypost.posts
      WHERE sequence > $1 AND sequence <= $2 AND (moved_to IS NULL OR moved_to > $2)
      ORDER BY sequence LIMIT $3`,
    [after, through, limit],
  );
  return rows.map(postOf);
}

/** Adds a batch from {@link givenOf} under a name, or looks up what became of that name. */
export const APPEND = 'SELECT * FROM waypost.append($1, $2::text::json)';

/** Posts as the database takes them: only the first one of each key. */
export function givenOf(posts: readonly NewPost[]): string {
  const keys = new Set<string>();
  const given = posts.flatMap(({ id, createdAt, record, key }, at) => {
    if (key !== undefined && keys.size === keys.add(key.name).size) return [];
    return { at, id, created_at: createdAt, record, key: key?.name, body: key?.body };
  });
  return JSON.stringify(given);
}

/** What became of each post; an error where its id may not be used any more. */
export function appendedOf(
  posts: readonly NewPost[],
  rows: readonly PostRow[],
): (Appended | Error)[] {
  const byId = new Map<number, number>();
  const byKey = new Map<string, Post>();
  for (const row of rows) {
    if (row.key === null) byId.set(row.id, row.sequence);
    else byKey.set(row.key, postOf(row));
  }
  return posts.map((post) => {
    const { id, key } = post;
    const sequence = byId.get(id);
    if (key !== undefined && sequence !== undefined) byKey.set(key.name, { ...post, sequence });
    const found = sequence ?? (key && byKey.get(key.name));
    return found ?? new IdTaken();
  });
}

/** A name that no other batch and no other instance has. */
export function newName(): string {
  return randomBytes(9).toString('base64url');
}

interface Pruned {
  /** Posts up to this sequence are gone, by this prune or an earlier one. */
  readonly pruned: number;
  readonly removed: number;
  /** The sequence up to which the snapshots of all instances have posts. */
  readonly contained: number;
}

/** Reads the posts behind a sequence. Throws an InputError that does not tell the password. */
export function readDatabase(address: string, after: number): Promise<Posted> {
  return withLink(address, async (link) => {
    const { name, lastSequence, leastId, pruned: removed } = await readHead(link);
    const posts: Post[] = [];
    const read = (last: number, limit: number): Promise<readonly Post[]> =>
      readRows(link, last, lastSequence, limit);
    for await (const some of readAll({ read }, after)) posts.push(...some);
    const nextId = posts.reduce((next, { id }) => Math.max(next, id + 1), leastId);
    return { name, posts, through: lastSequence, removed, nextId };
  });
}

/**
 * Removes posts up to a sequence that were accepted before a time, in milliseconds since the epoch,
 * and that the snapshot of every instance has. Throws as {@link readDatabase}.
 */
export function pruneDatabase(address: string, through: number, before: number): Promise<Pruned> {
  return withLink(address, async (link) => {
    await readHead(link);
    const values = [through, Math.floor(before * 1000)];
    const prune = 'SELECT * FROM waypost.prune($1, $2)';
    const [row] = await link.write<Pruned>(prune, values, PRUNE_MS);
    return row!;
  });
}

/** PostgreSQL's code for a table that is not there. */
const NO_TABLE = '42P01';

async function withLink<T>(address: string, work: (link: Link) => Promise<T>): Promise<T> {
  const database = parseDatabaseAddress(address);
  let link: Link | undefined;
  try {
    link = await connect(database, 0);
    return await work(link);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === NO_TABLE ? 'there is no journal: see docs/fleet.md' : message;
    throw new InputError(`${database.name}: ${reason}`);
  } finally {
    link?.close();
  }
}
