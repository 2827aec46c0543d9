import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { InputError } from '../../errors.js';
import { isToken } from '../../model/token.js';
import { isWhole } from '../../model/whole.js';
import { HttpError } from './errors.js';

const SCHEME = /^(?:token|bearer) +(\S+)$/i;

/**
 * The user that an Authorization header names, undefined without the header. Throws a 401 HttpError
 * for a key that is not known.
 */
export function userOf(
  authorization: string | undefined,
  tokens: ReadonlyMap<string, number>,
): number | undefined {
  if (authorization === undefined) return undefined;
  const key = tokenOf(authorization);
  const user = key === undefined ? undefined : tokens.get(tokenKey(key));
  if (user !== undefined) return user;
  throw new HttpError(401, { detail: 'Invalid token.' }, { 'WWW-Authenticate': 'Token' });
}

/** The token that an Authorization header carries, undefined where it carries none. */
export function tokenOf(authorization: string): string | undefined {
  return SCHEME.exec(authorization.trim())?.[1];
}

/**
 * The key that a token is stored under: its hash, so that the time of a lookup tells nothing of the
 * token.
 */
export function tokenKey(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/**
 * Reads the file of access tokens: a JSON object from token to user id. Returns users by
 * {@link tokenKey}, none without a file. Throws an InputError that never shows a token.
 */
export function readTokens(path: string | undefined): Map<string, number> {
  const users = new Map<string, number>();
  if (path === undefined) return users;
  for (const [token, user] of Object.entries(readObject(path))) {
    if (!isToken(token)) throw new InputError(`${path}: a token may not have white space.`);
    if (!isWhole(user, 0)) {
      throw new InputError(
        `${path}: the user id of a token must be a whole number, got ${JSON.stringify(user)}.`,
      );
    }
    users.set(tokenKey(token), user);
  }
  return users;
}

function readObject(path: string): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // a syntax error quotes the text, which is secret
    const reason = error instanceof SyntaxError ? 'it is no JSON' : (error as Error).message;
    throw new InputError(`${path}: cannot read the tokens: ${reason}.`);
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new InputError(`${path}: expected a JSON object from token to user id.`);
}
