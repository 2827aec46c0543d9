import { InputError } from '../model/quote.js';
import type { Candidate, Listing } from './source/source.js';

/** The pause after the first failure for want of something; it doubles each time. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

/** Codes of the system that are about the file itself; with any other code the file may be fine. */
const OF_THE_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM']);

/** Why a candidate was not served, or none could be looked at. */
export interface Refusal {
  readonly path: string;
  readonly reason: string;
  /**
   * When to try again what failed for want of memory, descriptors or the like; undefined where the
   * file itself is wrong.
   */
  readonly retryAt: number | undefined;
}

/** Why there is no listing, and since when. */
export interface ListingProblem extends Refusal {
  readonly since: number;
}

/** What is known when a look has been taken. Times are milliseconds of one clock. */
export interface Look {
  readonly now: number;
  /** What there is, or why that cannot be said, and since when. */
  readonly found: Listing | { readonly problem: ListingProblem };
  /** How long a candidate must have held still. */
  readonly settleMs: number;
  /** The key of what is served. */
  readonly served: string | undefined;
  /** By key. */
  readonly refused: ReadonlyMap<string, Refusal>;
  /** When each candidate was first seen as it is, by key. */
  readonly seen: ReadonlyMap<string, number>;
  /** The verdict before, on what is stale. */
  readonly stale: Refusal | undefined;
}

/** What to do about it. */
export interface Verdict {
  /** What to build: the newest candidate that held still and was not refused. */
  readonly next: { readonly candidate: Candidate; readonly key: string } | undefined;
  /** A newer one that has yet to hold still. */
  readonly settling: Candidate | undefined;
  /** When the next one will have held still for long enough. */
  readonly settlesAt: number | undefined;
  /** When to try again something that failed. */
  readonly retryAt: number | undefined;
  /** Why the newest one is not served, if so. */
  readonly stale: Refusal | undefined;
  /** Of all candidates that are newer than what is served; the others are no longer of interest. */
  readonly seen: ReadonlyMap<string, number>;
}

/** Names a candidate and what is read with it, as they were when looked at. */
export function keyOf(candidate: Candidate, { companion }: Listing): string {
  return `${candidate.identity}|${companion}`;
}

/**
 * Compares what there is with what is served and what was refused. Nothing else decides what is
 * done.
 */
export function judge(look: Look): Verdict {
  const { now, found, settleMs, served, refused } = look;
  if ('problem' in found) return judgeProblem(look, found.problem);
  const seen = new Map<string, number>();
  let next: Verdict['next'];
  let settling: Candidate | undefined;
  let settlesAt = Number.POSITIVE_INFINITY;
  let retryAt = Number.POSITIVE_INFINITY;
  let stale: Refusal | undefined;
  for (const candidate of found.candidates) {
    const key = keyOf(candidate, found);
    if (key === served) break;
    const since = look.seen.get(key) ?? now;
    seen.set(key, since);
    const refusal = refused.get(key);
    stale ??= refusal;
    // older than what is to be built: only remembered as seen
    if (next !== undefined) continue;
    if (refusal === undefined && since + settleMs > now) {
      settling ??= candidate;
      settlesAt = Math.min(settlesAt, since + settleMs);
    } else if (refusal === undefined || (refusal.retryAt ?? Number.POSITIVE_INFINITY) <= now) {
      next = { candidate, key };
    } else {
      retryAt = Math.min(retryAt, refusal.retryAt ?? Number.POSITIVE_INFINITY);
    }
  }
  // a newer candidate may be good: until that is known the verdict on what is stale stays
  if (seen.size > 0) stale ??= look.stale;
  return { next, settling, settlesAt: finite(settlesAt), retryAt: finite(retryAt), stale, seen };
}

/**
 * Without a listing nothing is built, and what is known of the candidates stays. A problem is shown
 * once it lasts for the settle time: a file may be deleted and made again.
 */
function judgeProblem({ now, settleMs, seen, stale }: Look, problem: ListingProblem): Verdict {
  const { since } = problem;
  const isNews = since + settleMs <= now;
  return {
    next: undefined,
    settling: undefined,
    settlesAt: isNews ? undefined : since + settleMs,
    retryAt: isNews ? problem.retryAt : undefined,
    stale: isNews ? problem : stale,
    seen,
  };
}

function finite(time: number): number | undefined {
  return Number.isFinite(time) ? time : undefined;
}

interface Counted extends Refusal {
  readonly failures: number;
}

/**
 * Which candidates were refused, and why. A refusal holds until the file changes, or until it is
 * time to try again.
 */
export class Refusals {
  readonly #retryMs: number;
  readonly #byKey = new Map<string, Counted>();
  #problem: (Counted & ListingProblem) | undefined;

  constructor(retryMs: number = RETRY_MS) {
    this.#retryMs = retryMs;
  }

  get byKey(): ReadonlyMap<string, Refusal> {
    return this.#byKey;
  }

  /** Why there is no listing, if there is none. */
  get problem(): ListingProblem | undefined {
    return this.#problem;
  }

  /** Remembers why a candidate was refused; returns whether the reason is another than before. */
  add(key: string, path: string, error: unknown): boolean {
    const before = this.#byKey.get(key);
    const now = this.#count(path, error, before);
    this.#byKey.set(key, now);
    return now.reason !== before?.reason;
  }

  /** Forgets all candidates but these. */
  keep(keys: { has(key: string): boolean }): void {
    for (const key of this.#byKey.keys()) if (!keys.has(key)) this.#byKey.delete(key);
  }

  /** Forgets all candidates: they are tried again. */
  clear(): void {
    this.#byKey.clear();
  }

  /** Remembers that the source could not be listed. */
  addProblem(path: string, error: unknown): ListingProblem {
    const since = this.#problem?.since ?? performance.now();
    this.#problem = { ...this.#count(path, error, this.#problem), since };
    return this.#problem;
  }

  clearProblem(): void {
    this.#problem = undefined;
  }

  #count(path: string, error: unknown, before: Counted | undefined): Counted {
    const failures = (before?.failures ?? 0) + 1;
    const pause = Math.min(this.#retryMs * 2 ** (failures - 1), LONGEST_RETRY_MS);
    const retryAt = isWant(error) ? performance.now() + pause : undefined;
    return { path, reason: reasonOf(error, path), retryAt, failures };
  }
}

/**
 * Whether something was wanting to find out what is in a file: memory, a file descriptor, a disk
 * that works. Such an error is no verdict on the file.
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
