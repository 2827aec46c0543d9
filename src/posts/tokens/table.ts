import { createHash, timingSafeEqual } from 'node:crypto';

/** Whom a token stands for. */
export interface Holder {
  readonly user: number;
  /** What people call the token; empty where the file does not say. */
  readonly name: string;
  /** Whether the token opens the addresses below `/admin/`. */
  readonly isAdmin: boolean;
}

/** Holders by {@link tokenKey}: no table holds a token. */
export type TokenTable = ReadonlyMap<string, Holder>;

/** The tokens that count now. Whoever keeps this object sees the next table, too. */
export interface Tokens {
  readonly table: TokenTable;
}

/** The SHA-256 of a token, in hexadecimal. */
export function tokenKey(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * The holder of a token. The hash of the token is looked up instead of the token, so that the time
 * of the lookup tells nothing of those that are known.
 */
export function holderOf(token: string, { table }: Tokens): Holder | undefined {
  return table.get(tokenKey(token));
}

/** Whether two tokens are the same, in a time that does not depend on either. */
export function isSameToken(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(tokenKey(given)), Buffer.from(tokenKey(expected)));
}
