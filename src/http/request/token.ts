import { holderOf, type Tokens } from '../../tokens/table.js';
import { HttpError } from './errors.js';

const SCHEME = /^(?:token|bearer) +(\S+)$/i;

/**
 * The user that an Authorization header names, undefined without the header. Throws a 401 HttpError
 * for a key that is not known.
 */
export function userOf(authorization: string | undefined, tokens: Tokens): number | undefined {
  if (authorization === undefined) return undefined;
  const key = tokenOf(authorization);
  const holder = key === undefined ? undefined : holderOf(key, tokens);
  if (holder !== undefined) return holder.user;
  throw invalidToken('Token');
}

/** The token that an Authorization header carries, undefined where it carries none. */
export function tokenOf(authorization: string): string | undefined {
  return SCHEME.exec(authorization.trim())?.[1];
}

/** The error for a token that is not known, or not wanted here. */
export function invalidToken(scheme: 'Token' | 'Bearer'): HttpError {
  return new HttpError(401, { detail: 'Invalid token.' }, { 'WWW-Authenticate': scheme });
}
