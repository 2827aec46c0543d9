import { randomBytes } from 'node:crypto';
import { InputError } from '../model/quote.js';
import {
  changeTokenFile,
  type Entry,
  type Holder,
  readTokenFile,
  tokenKey,
} from '../posts/tokens/file.js';

const RANDOM_BYTES = 32;
/** Hexadecimal digits of a hash by which people name a token. */
const SHOWN_DIGITS = 12;

/**
 * Adds a token to a file, which is made where there is none, and returns the token: it is shown
 * this once and kept nowhere.
 */
export async function addToken(path: string, { user, name, isAdmin }: Holder): Promise<string> {
  const token = randomBytes(RANDOM_BYTES).toString('base64url');
  const created = new Date().toISOString();
  const entry = { key: tokenKey(token), user, name, isAdmin, created };
  await changeTokenFile(path, (entries) => [...entries, entry]);
  return token;
}

export function listTokens(path: string): string[] {
  const rows = readTokenFile(path).map(({ key, user, isAdmin, created, name }) => {
    return [idOf(key), String(user), isAdmin ? 'yes' : 'no', created || 'unknown', name];
  });
  const table = [['id', 'user', 'admin', 'created', 'name'], ...rows];
  const widths = table[0]!.map((_, column) =>
    table.reduce((most, row) => Math.max(most, row[column]!.length), 0),
  );
  return table.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
}

/** Removes the tokens with an id or a name; returns their ids. Throws an InputError for none. */
export async function revokeToken(path: string, idOrName: string): Promise<string[]> {
  let revoked: string[] = [];
  const isMeant = ({ key, name }: Entry): boolean => idOf(key) === idOrName || name === idOrName;
  await changeTokenFile(path, (entries) => {
    if (idOrName !== '') revoked = entries.filter(isMeant).map(({ key }) => idOf(key));
    if (revoked.length > 0) return entries.filter((one) => !isMeant(one));
    throw new InputError(
      `${path}: no token has the id or the name ${JSON.stringify(idOrName)}; see waypost token list`,
    );
  });
  return revoked;
}

function idOf(key: string): string {
  return key.slice(0, SHOWN_DIGITS);
}
