import { fchmodSync, fchownSync, readFileSync, statSync } from 'node:fs';
import { InputError } from '../errors.js';
import { isObject } from '../model/object.js';
import { isToken } from '../model/token.js';
import { isWhole } from '../model/whole.js';
import { writeAtomically } from '../snapshot/atomic-file.js';
import { writeAll } from '../snapshot/write-all.js';
import { type Holder, type TokenTable, tokenKey } from './table.js';

/** A token as its file has it. */
export interface Entry extends Holder {
  /** {@link tokenKey} of the token. */
  readonly key: string;
  /** When the token was made, as ISO 8601; empty where the file does not say. */
  readonly created: string;
}

/** What a file of tokens holds. */
interface TokenFile {
  readonly entries: readonly Entry[];
  /** Whether the file holds the tokens themselves: an object from token to user id. */
  readonly isPlain: boolean;
}

const KEY = /^[\da-f]{64}$/;
/** Nobody but the owner reads a new file. */
const OWNER_ONLY = 0o600;

/**
 * Reads a file of tokens, hashed or plain. Throws an InputError that names the file and the place,
 * and never shows a token.
 */
export function readTokenFile(path: string): TokenFile {
  const content = readObject(path);
  if (!Array.isArray(content['tokens']))
    return { entries: readPlain(path, content), isPlain: true };
  const entries = content['tokens'].map((one, index) => readEntry(path, one, index));
  const keys = new Set(entries.map(({ key }) => key));
  if (keys.size < entries.length) throw new InputError(`${path}: two tokens have the same hash.`);
  return { entries, isPlain: false };
}

/** The holders by the key of their token. */
export function tableOf(entries: readonly Entry[]): TokenTable {
  return new Map(
    entries.map(({ key, user, name, isAdmin }) => [key, { user, name, isAdmin }] as const),
  );
}

/**
 * Writes a file of hashed tokens, whole or not at all. A new file is for its owner alone; one that
 * is replaced keeps its permissions and, as far as the system allows, its owner.
 */
export async function writeTokenFile(path: string, entries: readonly Entry[]): Promise<void> {
  const tokens = entries.map(({ key, user, name, isAdmin, created }) => {
    return { hash: key, user, name, admin: isAdmin, created };
  });
  const lines = tokens.map((one) => `\n  ${JSON.stringify(one)}`).join(',');
  const old = statSync(path, { throwIfNoEntry: false });
  await writeAtomically(path, (fd) => {
    if (old === undefined) fchmodSync(fd, OWNER_ONLY);
    else keepOwner(fd, old);
    writeAll(fd, Buffer.from(`{"tokens":[${lines}\n]}\n`));
  });
}

function keepOwner(fd: number, { uid, gid }: { uid: number; gid: number }): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {
    // only root gives files away: everybody else owns what they may replace, or shares its group
  }
}

function readPlain(path: string, content: Readonly<Record<string, unknown>>): Entry[] {
  return Object.entries(content).map(([token, user]) => {
    if (!isToken(token)) throw new InputError(`${path}: a token may not have white space.`);
    if (!isWhole(user, 0)) {
      throw new InputError(
        `${path}: the user id of a token must be a whole number, got ${JSON.stringify(user)}.`,
      );
    }
    return { key: tokenKey(token), user, name: '', isAdmin: false, created: '' };
  });
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

function readObject(path: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // a syntax error quotes the text, which is secret
    const reason = error instanceof SyntaxError ? 'it is no JSON' : (error as Error).message;
    throw new InputError(`${path}: cannot read the tokens: ${reason}.`);
  }
  if (isObject(parsed)) return parsed;
  throw new InputError(`${path}: expected a JSON object from token to user id.`);
}
