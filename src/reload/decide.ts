import { InputError } from '../model/quote.js';
import type { Candidate, Source } from './source/source.js';

const LONGEST_RETRY_MS = 300_000;

/** Codes of the system that are about the file itself; with any other code the file may be fine. */
const OF_THE_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM']);

/** Why a candidate is not served. */
export interface Refusal {
  readonly path: string;
  readonly reason: string;
  /** How often it was tried. */
  readonly tries: number;
  /** When to try again what failed for want of memory or the like; a bad file never is. */
  readonly retryAt: number;
}

/** What is known when a look has been taken. Times are milliseconds of one clock. */
export interface Look {
  readonly now: number;
  /** What there is, the newest first. */
  readonly candidates: readonly Candidate[];
  /** How long a candidate must have held still. */
  readonly settleMs: number;
  /** The identity of what is served. */
  readonly served: string | undefined;
  /** By {@link refusalKey}. */
  readonly refused: ReadonlyMap<string, Refusal>;
  /** When each candidate was first seen as it is, by identity. */
  readonly seen: ReadonlyMap<string, number>;
  /** What was stale after the look before. */
  readonly stale: Refusal | undefined;
  /** Whether the one that was seen first goes first, not the newest. */
  readonly inTurn: boolean;
}

/** What to do about it. */
export interface Decision {
  /** What to build: the newest candidate that held still and was not refused, or the next in turn. */
  readonly next: Candidate | undefined;
  /** A newer one that has yet to hold still. */
  readonly settling: Candidate | undefined;
  /** When the next one will have held still for long enough: infinite where none has to. */
  readonly settlesAt: number;
  /** When to try again something that failed: infinite where nothing is. */
  readonly retryAt: number;
  /** Why the newest one is not served, if so. */
  readonly stale: Refusal | undefined;
  /** Of all candidates that are newer than what is served; the others are no longer of interest. */
  readonly seen: ReadonlyMap<string, number>;
  /** Likewise. */
  readonly refused: Map<string, Refusal>;
}

/** What there is; where that cannot be said, it is a candidate that cannot be built. */
export async function candidatesOf(source: Source): Promise<readonly Candidate[]> {
  try {
    return await source.list();
  } catch (problem) {
    const path = source.name;
    const identity = reasonOf(problem, path);
    return [{ path, own: identity, identity, modifiedAt: 0, problem }];
  }
}

/**
 * Compares what there is with what is served and what was refused. Nothing else decides what is
 * done.
 */
export function decide(look: Look): Decision {
  const { now, candidates, settleMs, served, inTurn, ...before } = look;
  // what could not be listed may still be there: it is not to be built again only to be refused
  const isListed = candidates.every(({ problem }) => problem === undefined);
  const seen = new Map(isListed ? [] : before.seen);
  const refused = new Map(isListed ? [] : before.refused);
  let next: Decision['next'];
  let nextSince = Number.POSITIVE_INFINITY;
  let settling: Candidate | undefined;
  let settlesAt = Number.POSITIVE_INFINITY;
  let retryAt = Number.POSITIVE_INFINITY;
  let stale: Refusal | undefined;
  for (const candidate of candidates) {
    const { own, identity } = candidate;
    if (identity === served) break;
    const since = before.seen.get(identity) ?? now;
    seen.set(identity, since);
    for (const key of [identity, own]) {
      const refusal = before.refused.get(key);
      if (refusal !== undefined) refused.set(key, refusal);
    }
    const refusal = refused.get(own) ?? refused.get(identity);
    stale ??= refusal;
    // older than what is to be built: only remembered as seen, unless it has its turn
    if (next !== undefined && !(inTurn && since < nextSince)) continue;
    if (refusal === undefined && since + settleMs > now) {
      settling ??= candidate;
      settlesAt = Math.min(settlesAt, since + settleMs);
    } else if (refusal === undefined || refusal.retryAt <= now) {
      next = candidate;
      nextSince = since;
    } else {
      retryAt = Math.min(retryAt, refusal.retryAt);
    }
  }
  // a newer candidate may be good: until that is known, what was stale stays so
  if (seen.size > 0) stale ??= before.stale;
  return { next, settling, settlesAt, retryAt, stale, seen, refused };
}

/**
 * The refusal for an error of the candidate at a path, which was refused `before`. The pause before
 * another try begins with `retryMs`, and doubles each time.
 */
export function refusalOf(
  path: string,
  error: unknown,
  before: Refusal | undefined,
  retryMs: number,
): Refusal {
  const tries = (before?.tries ?? 0) + 1;
  const pause = Math.min(retryMs * 2 ** (tries - 1), LONGEST_RETRY_MS);
  const retryAt = isWant(error) ? performance.now() + pause : Number.POSITIVE_INFINITY;
  return { path, reason: reasonOf(error, path), tries, retryAt };
}

/**
 * Whether something was wanting to find out what is in a file: memory, a file descriptor, a disk
 * that works. Such an error says nothing of the file.
 */
export function isWant(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    if (syscall !== undefined && code !== undefined) return !OF_THE_FILE.has(code);
  }
  return !(error instanceof InputError);
}

/** The reason that is shown for an error of the file at the path. */
function reasonOf(error: unknown, path: string): string {
  if (error instanceof InputError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path}: there is no such file`;
  if (code === 'EACCES') return `${path}: no permission to read it`;
  return message.startsWith(path) ? message : `${path}: ${message}`;
}

/** Something is wrong in the file that is read with a snapshot. */
export class CompanionError extends InputError {}

/**
 * What a candidate is refused by. What is wrong in itself stays so whatever is read with it: where
 * a thousand bad files are newer than what is served, not all of them are to be built again
 * whenever the notifications change.
 */
export function refusalKey({ own, identity }: Candidate, error: unknown): string {
  return isWant(error) || error instanceof CompanionError ? identity : own;
}

/** A snapshot is held back that is as it should be, but too small beside the one before. */
export class HeldBack extends InputError {}

/** Throws where a snapshot lost more than the share `maxShrink` of the points that are served. */
export function requireSize(path: string, count: number, served: number, maxShrink: number): void {
  if (count >= served * (1 - maxShrink)) return;
  const loss = `it has ${count} points where ${served} are served`;
  const most = `a loss of more than ${maxShrink * 100} %`;
  throw new HeldBack(`${path}: ${loss}, ${most}; a reload that accepts it takes it all the same`);
}
