import { type StatsListener, unwatchFile, watchFile } from 'node:fs';
import { type Entry, readTokenFile, tableOf } from './file.js';
import type { TokenTable } from './table.js';

/** How often the file is looked at; a second is soon enough for a token that is revoked. */
const LOOK_MS = 1_000;

/** What becomes of a file of tokens while it is watched. */
export interface TokenEvents {
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
  const table = tableOf(read());
  // a poll sees a file that is replaced, also through the links by which Kubernetes does so
  const look: StatsListener = () => {
    try {
      events.changed(tableOf(read()));
    } catch (error) {
      events.refused(error);
    }
  };
  watchFile(path, { interval: lookMs, persistent: false }, look);
  return { table, close: () => unwatchFile(path, look) };
}
