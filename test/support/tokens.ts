import { writeFileSync } from 'node:fs';
import { tokenKey } from '../../src/posts/tokens/file.js';

/** Writes a token file; `users` are user ids by token. */
export function writeTokens(path: string, users: Readonly<Record<string, number>>): void {
  const tokens = Object.entries(users).map(([token, user]) => ({ hash: tokenKey(token), user }));
  writeFileSync(path, JSON.stringify({ tokens }));
}
