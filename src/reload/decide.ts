import { InputError } from '../model/quote.js';
import type { Candidate, Source } from './source/source.js';

const LONGEST_RETRY_MS = 300_000;
/** Downloads of a file whose content is refused: damage on the way would not come each time. */
const MOST_DOWNLOADS = 10;

/** Error codes that are about the file itself; with any other code the file may be fine. */
const OF_THE_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM']);

export interface Refusal {
  readonly path: string;
  readonly reason: string;
  readonly tries: number;
  /** When to try again what may pass, such as a lack of memory; infinite for a bad file. */
  readonly retryAt: number;
}

/** What the look before left. */
export type Before = Pick<Decision, 'seen' | 'refused' | 'stale'>;

/** What is known when a look has been taken. Times are milliseconds of one clock. */
export interface Look extends Before {
  readonly now: number;
  /** The newest first. */
  readonly candidates: readonly Candidate[];
  /** How long a candidate must be unchanged to count as settled. */
  readonly settleMs: number;
  /** The identity of what is served. */
  readonly served: string | undefined;
  /** Whether the candidate that was seen first goes first, not the newest. */
  readonly inTurn: boolean;
}

export interface Decision {
  /** What to build: the newest candidate that settled and was not refused, or the next in turn. */
  readonly next: Candidate | undefined;
  /** When the next newer candidate settles; infinite where none has to. */
  readonly settlesAt: number;
  /** When to try again a candidate that failed; infinite where none is. */
  readonly retryAt: number;
  /** Why the newest candidate is not served. */
  readonly stale: Refusal | undefined;
  /**
   * When each candidate was first seen as it is, by identity: those newer than what is served; the
   * others are forgotten.
   */
  readonly seen: ReadonlyMap<string, number>;
  /** Likewise, by {@link refusalKey}. */
  readonly refused: Map<string, Refusal>;
}

/** The candidates of a source; one that cannot be built where the source cannot be listed. */
export async function candidatesOf(source: Source): Promise<readonly Candidate[]> {
  try {
    return await source.list();
  } catch (problem) {
    const path = source.name;
    const identity = reasonOf(problem, path);
    return [{ path, own: identity, identity, modifiedAt: 0, problem }];
  }
}

/** Compares candidates with what is served and refused; nothing else decides what is done. */
export function decide(look: Look): Decision {
  const { now, candidates, settleMs, served, inTurn, ...before } = look;
  // refusals of files that could not be listed are kept: the files may still be there
  const isListed = candidates.every(({ problem }) => problem === undefined);
  const seen = new Map(isListed ? [] : before.seen);
  const refused = new Map(isListed ? [] : before.refused);
  let next: Decision['next'];
  let nextSince = Number.POSITIVE_INFINITY;
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
  return { next, settlesAt, retryAt, stale, seen, refused };
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
  const isLast = (error as Error).cause instanceof InputError && tries >= MOST_DOWNLOADS;
  const isFinal = isLast || !isTransient(error);
  const retryAt = isFinal ? Number.POSITIVE_INFINITY : performance.now() + pause;
  return { path, reason: reasonOf(error, path), tries, retryAt };
}

/**
 * Whether the file could not be read for a lack of memory, file descriptors or a working disk: such
 * an error says nothing of the file.
 */
export function isTransient(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    if (syscall !== undefined && code !== undefined) return !OF_THE_FILE.has(code);
  }
  return !(error instanceof InputError);
}

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
 * The key of a refusal. A bad snapshot is refused by its own identity, so that a thousand bad files
 * are not all built again whenever the notifications change.
 */
export function refusalKey({ own, identity }: Candidate, error: unknown): string {
  return isTransient(error) || error instanceof CompanionError ? identity : own;
}

/** A good snapshot is held back: it is much smaller than the one before. */
export class HeldBack extends InputError {}

/** Throws where a snapshot lost more than the share `maxShrink` of the points that are served. */
export function requireSize(path: string, count: number, served: number, maxShrink: number): void {
  const percent = Math.round(maxShrink * 100);
  if ((served - count) * 100 <= served * percent) return;
  const loss = `it has ${count} points where ${served} are served`;
  const most = `a loss of more than ${percent} %`;
  throw new HeldBack(`${path}: ${loss}, ${most}; a reload that accepts it takes it all the same`);
}
