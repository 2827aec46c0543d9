import { hash, timingSafeEqual } from 'node:crypto';
import { existsSync, fchmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  marksOf,
  OWNER_ONLY,
  replacedFile,
  unreadable,
  unwritable,
  writeAll,
  writeAtomically,
} from '../../formats/system-files.js';
import { InputError } from '../../model/quote.js';
import { isObject, isWhole } from '../../model/units.js';

/** The user that a token stands for. */
export interface Holder {
  readonly user: number;
  /** The token's name for people; may be empty. */
  readonly name: string;
  /** Whether the token opens the addresses below `/admin/`. */
  readonly isAdmin: boolean;
}

/** Holders by {@link tokenKey}: no table holds a token. */
type TokenTable = ReadonlyMap<string, Holder>;

/** The tokens that count now. Whoever keeps this object sees the next table, too. */
export interface Tokens {
  readonly table: TokenTable;
}

export function tokenKey(token: string): string {
  return hash('sha256', token);
}

/** Looks a token up by its hash, so that the time tells nothing of the known tokens. */
export function holderOf(token: string, { table }: Tokens): Holder | undefined {
  return table.get(tokenKey(token));
}

/** Whether two tokens are the same, in a time that does not depend on either. */
export function isSameToken(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(tokenKey(given)), Buffer.from(tokenKey(expected)));
}

export interface Entry extends Holder {
  /** The SHA-256 of the token, in hexadecimal. */
  readonly key: string;
  /** When the token was made, as ISO 8601; may be empty. */
  readonly created: string;
}

const KEY = /^[\da-f]{64}$/;
/** The lock of a folder: only who has made this file may change the tokens there. */
const LOCK = '.waypost-tokens.new';
/** A change takes milliseconds: a process that has the lock for longer was stopped or killed. */
const MOST_MS = 10_000;
const LOOK_MS = 10;
/** How often the file is looked at; a second is soon enough for a token that is revoked. */
const FOLLOW_MS = 1_000;

/**
 * Reads a file of tokens. Throws an InputError that names the file and the place, and never shows
 * what may be a token.
 */
export function readTokenFile(path: string): readonly Entry[] {
  const entries = readTokens(path).map((one, index) => readEntry(path, one, index));
  const keys = new Set(entries.map(({ key }) => key));
  if (keys.size < entries.length) throw new InputError(`${path}: two tokens have the same hash.`);
  return entries;
}

export function tableOf(entries: readonly Entry[]): TokenTable {
  return new Map(entries.map((one) => [one.key, one]));
}

/**
 * Replaces the tokens of a file by what `change` makes of them, whole or not at all. A new file is
 * for its owner alone. A lock keeps processes from replacing what they have not read. Throws an
 * InputError where another process has the lock for `mostMs`, or what `change` throws.
 */
export async function changeTokenFile(
  path: string,
  change: (entries: readonly Entry[]) => readonly Entry[],
  mostMs: number = MOST_MS,
): Promise<void> {
  const lock = join(dirname(replacedFile(path)), LOCK);
  await lockAlone(path, lock, performance.now() + mostMs);
  try {
    const isNew = !existsSync(path);
    const entries = change(isNew ? [] : readTokenFile(path));
    await writeAtomically(path, (fd) => {
      if (isNew) fchmodSync(fd, OWNER_ONLY);
      writeAll(fd, Buffer.from(textOf(entries)));
    });
  } finally {
    rmSync(lock, { force: true });
  }
}

async function lockAlone(path: string, lock: string, until: number): Promise<void> {
  for (;;) {
    try {
      return writeFileSync(lock, '', { flag: 'wx', mode: OWNER_ONLY });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw unwritable(path, dirname(lock), error);
      }
      if (performance.now() > until) {
        throw new InputError(
          `${path}: cannot be changed: another process is changing it. Remove ${lock} if none is.`,
          { cause: error },
        );
      }
    }
    await delay(LOOK_MS);
  }
}

function textOf(entries: readonly Entry[]): string {
  const tokens = entries.map(({ key, user, name, isAdmin, created }) => {
    return { hash: key, user, name, admin: isAdmin, created };
  });
  const lines = tokens.map((one) => `\n  ${JSON.stringify(one)}`).join(',');
  return `{"tokens":[${lines}\n]}\n`;
}

function readEntry(path: string, value: unknown, index: number): Entry {
  const fields = isObject(value) ? value : {};
  const { hash, user, name = '', admin = false, created = '' } = fields;
  const refuse = (rule: string): InputError =>
    new InputError(`${path}: tokens[${index}] must have ${rule}.`);
  if (typeof hash !== 'string' || !KEY.test(hash)) {
    throw refuse('a hash: the SHA-256 of the token as 64 hexadecimal digits in lower case');
  }
  if (!isWhole(user, 0)) throw refuse('a user: a whole number, 0 or more');
  if (typeof name !== 'string') throw refuse('text for its name');
  if (typeof admin !== 'boolean') throw refuse('true or false for admin');
  if (typeof created !== 'string') throw refuse('text for created');
  return { key: hash, user, name, isAdmin: admin, created };
}

function readTokens(path: string): readonly unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // a syntax error quotes the text, which is secret
    if (error instanceof SyntaxError) throw new InputError(`${path}: it is no JSON.`);
    throw unreadable(path, error);
  }
  const tokens = isObject(parsed) ? parsed['tokens'] : undefined;
  if (Array.isArray(tokens)) return tokens;
  throw new InputError(`${path}: expected a file that waypost token add has made.`);
}

interface FollowOptions {
  readonly logger?: Logger;
  /** What was read before, in place of a first reading. */
  readonly known?: TokenTable;
  readonly lookMs?: number;
}

/**
 * Reads a file of tokens, and again whenever it changes, into the object that is returned, to the
 * end of the process. Without a path the table is empty. Throws an InputError when the file cannot
 * be used at first; one that cannot be used later changes nothing.
 */
export function followTokens(
  path: string | undefined,
  { logger, known, lookMs = FOLLOW_MS }: FollowOptions = {},
): { table: TokenTable } {
  if (path === undefined) return { table: new Map() };
  // taken before the file is read, so that the next look sees a change meanwhile, which `watchFile`
  // would not; where the table is known, the next look reads the file
  const found = known ? undefined : statSync(path, { throwIfNoEntry: false });
  let seen = found ? marksOf(found) : '';
  // a poll sees a file that is replaced, also through the links by which Kubernetes does so
  const look = async (): Promise<void> => {
    const marks = await stat(path).then(marksOf, String);
    setTimeout(look, lookMs).unref();
    if (marks === seen) return;
    seen = marks;
    try {
      tokens.table = tableOf(readTokenFile(path));
      logger?.info({ path, tokens: tokens.table.size }, 'tokens read again');
    } catch (error) {
      logger?.error({ path, err: error }, 'tokens refused, the old ones stay');
    }
  };
  const tokens = { table: known ?? tableOf(readTokenFile(path)) };
  setTimeout(look, lookMs).unref();
  return tokens;
}
