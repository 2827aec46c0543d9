import type { Logger } from 'pino';
import type { TokenTable } from '../tokens/table.js';
import { watchTokens } from '../tokens/watch.js';

/**
 * Reads the tokens of the settings, and again whenever their file changes: `known` is told of the
 * new ones. Throws an InputError when the file cannot be used at first.
 */
export function followTokens(
  path: string | undefined,
  logger: Logger,
  known: (table: TokenTable) => void,
): { table: TokenTable } {
  const watched = watchTokens(path, {
    changed(table) {
      logger.info({ path, tokens: table.size }, 'tokens read again');
      tokens.table = table;
      known(table);
    },
    refused: (error) => logger.error({ path, err: error }, 'tokens refused, the old ones stay'),
    plain: () => logger.warn({ path }, 'tokens are not hashed: waypost token add does that'),
  });
  const tokens = { table: watched.table };
  return tokens;
}
