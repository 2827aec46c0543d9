import { holderOf, isSameToken, type Tokens } from '../../posts/tokens/table.js';
import { HttpError } from './http-error.js';

/** The schemes that carry a key; whoever asks by another one is anonymous. */
const SCHEME = /^(?:token|bearer)$/i;

/**
 * The user that an Authorization header names, undefined without a token. Throws a 401 HttpError
 * for one that is not known, or that is none.
 */
export function userOf(authorization: string | undefined, tokens: Tokens): number | undefined {
  const key = tokenOf(authorization);
  if (key === undefined) return undefined;
  const holder = holderOf(key, tokens);
  if (holder !== undefined) return holder.user;
  throw invalidToken('Token');
}

/** Whether an Authorization header carries the token of an admin. */
export function isAdmin(
  authorization: string | undefined,
  tokens: Tokens,
  adminToken: string | undefined,
): boolean {
  const given = tokenOf(authorization);
  if (given === undefined) return false;
  if (adminToken !== undefined && isSameToken(given, adminToken)) return true;
  return holderOf(given, tokens)?.isAdmin === true;
}

/**
 * The token that an Authorization header carries, undefined where it carries none. Throws a 401
 * HttpError where a scheme of tokens is not followed by one word.
 */
function tokenOf(authorization = ''): string | undefined {
  const [scheme = '', key, ...others] = authorization.trim().split(/[\t ]+/);
  if (!SCHEME.test(scheme)) return undefined;
  if (key !== undefined && others.length === 0) return key;
  const reason =
    key === undefined ? 'No credentials provided.' : 'Token string should not contain spaces.';
  throw refused(
    `Invalid token header. ${reason}`,
    scheme.toLowerCase() === 'token' ? 'Token' : 'Bearer',
  );
}

/** The error for a token that is not known, or not wanted here. */
export function invalidToken(scheme: 'Token' | 'Bearer'): HttpError {
  return refused('Invalid token.', scheme);
}

function refused(detail: string, scheme: 'Token' | 'Bearer'): HttpError {
  return new HttpError(401, { detail }, { 'WWW-Authenticate': scheme });
}
