import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Entry, readTokenFile, tableOf } from './file.js';
import type { TokenTable } from './table.js';

/** How often the file is looked at; a second is soon enough for a token that is revoked. */
const LOOK_MS = 1_000;

/** What becomes of a file of tokens while it is watched. */
interface TokenEvents {
  changed(table: TokenTable): void;
  /** The file cannot be used any more, and the tokens that were known stay. */
  refused(error: unknown): void;
  /** The file holds tokens that are not hashed. */
  plain(): void;
}

/**
 * Reads a file of tokens, and again whenever it changes, until the function that is returned beside
 * the table is called. The table is empty without a file. Throws an InputError when the file cannot
 * be used at first.
 */
export function watchTokens(
  path: string | undefined,
  events: TokenEvents,
  lookMs: number = LOOK_MS,
): { readonly table: TokenTable; close(): void } {
  if (path === undefined) return { table: new Map(), close: () => {} };
  const read = (): readonly Entry[] => {
    const { entries, isPlain } = readTokenFile(path);
    if (isPlain && entries.length > 0) events.plain();
    return entries;
  };
  // before the file is read: the next look sees what changes meanwhile, as `watchFile` would not
  let seen = marksOf(statSync(path, { bigint: true, throwIfNoEntry: false }));
  const table = tableOf(read());
  let isClosed = false;
  // a poll sees a file that is replaced, also through the links by which Kubernetes does so
  const look = async (): Promise<void> => {
    const marks = await stat(path, { bigint: true }).then(marksOf, String);
    if (isClosed) return;
    timer = setTimeout(look, lookMs).unref();
    if (marks === seen) return;
    seen = marks;
    try {
      events.changed(tableOf(read()));
    } catch (error) {
      events.refused(error);
    }
  };
  let timer = setTimeout(look, lookMs).unref();
  const close = (): void => {
    isClosed = true;
    clearTimeout(timer);
  };
  return { table, close };
}

/** What is another for another file under the same name, and after each change of the file. */
function marksOf(found: BigIntStats | undefined): string {
  if (found === undefined) return '';
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
