import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { readTokenFile, tableOf } from './file.js';
import type { TokenTable } from './table.js';

/** How often the file is looked at; a second is soon enough for a token that is revoked. */
const LOOK_MS = 1_000;

/**
 * Reads a file of tokens, and again whenever it changes, to the end of the process: what is returned
 * has the new table then, and `known` is told. A file that cannot be used any more changes nothing.
 * The table is empty without a file. Throws an InputError when the file cannot be used at first.
 */
export function followTokens(
  path: string | undefined,
  logger: Logger,
  known: (table: TokenTable) => void,
  lookMs: number = LOOK_MS,
): { table: TokenTable } {
  if (path === undefined) return { table: new Map() };
  const read = (): TokenTable => {
    const { entries, isPlain } = readTokenFile(path);
    const isNews = isPlain && entries.length > 0;
    if (isNews) logger.warn({ path }, 'tokens are not hashed: waypost token add does that');
    return tableOf(entries);
  };
  // before the file is read: the next look sees what changes meanwhile, as `watchFile` would not
  let seen = marksOf(statSync(path, { bigint: true, throwIfNoEntry: false }));
  // a poll sees a file that is replaced, also through the links by which Kubernetes does so
  const look = async (): Promise<void> => {
    const marks = await stat(path, { bigint: true }).then(marksOf, String);
    setTimeout(look, lookMs).unref();
    if (marks === seen) return;
    seen = marks;
    try {
      tokens.table = read();
      logger.info({ path, tokens: tokens.table.size }, 'tokens read again');
      known(tokens.table);
    } catch (error) {
      logger.error({ path, err: error }, 'tokens refused, the old ones stay');
    }
  };
  const tokens = { table: read() };
  setTimeout(look, lookMs).unref();
  return tokens;
}

/** What is another for another file under the same name, and after each change of the file. */
function marksOf(found: BigIntStats | undefined): string {
  if (found === undefined) return '';
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
