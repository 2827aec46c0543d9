import { InputError } from '../model/quote.js';
import { type Post, type Posted, READ_POSTS, readAll } from './journal.js';
import { parseDatabaseAddress } from './postgres-address.js';
import { readHead, readRows } from './postgres-follower.js';
import { connect, type Link } from './postgres-link.js';

/** What was removed from a journal. */
export interface Pruned {
  /** Posts up to this sequence are gone, now or before. */
  readonly through: number;
  readonly removed: number;
  /** Up to which sequence the snapshots of all instances have posts. */
  readonly contained: number;
}

/** Reads the posts behind a sequence. Throws an InputError that does not tell the password. */
export function readDatabase(address: string, after: number): Promise<Posted> {
  return withLink(address, async (link) => {
    const { name, lastSequence, leastId } = await readHead(link);
    const posts: Post[] = [];
    const read = (last: number): Promise<readonly Post[]> =>
      readRows(link, last, lastSequence, READ_POSTS);
    for await (const some of readAll({ read }, after)) posts.push(...some);
    const nextId = posts.reduce((next, { id }) => Math.max(next, id + 1), leastId);
    return { name, posts, through: lastSequence, nextId };
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
    const [row] = await link.write('SELECT * FROM waypost.prune($1, $2)', values);
    const numberOf = (name: string): number => Number(row![name]);
    const [sequence, removed, contained] = ['pruned', 'removed', 'contained'].map(numberOf);
    return { through: sequence!, removed: removed!, contained: contained! };
  });
}

async function withLink<T>(address: string, work: (link: Link) => Promise<T>): Promise<T> {
  const database = parseDatabaseAddress(address);
  let link: Link | undefined;
  try {
    link = await connect(database, 0);
    return await work(link);
  } catch (error) {
    throw new InputError(`${database.name}: ${(error as Error).message}`);
  } finally {
    link?.close();
  }
}
