import { InputError } from '../../errors.js';
import type { ListingProblem, Refusal } from './verdict.js';

/** The pause after the first failure for want of something; it doubles each time. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

/** Codes of the system that are about the file itself; with any other code the file may be fine. */
const OF_THE_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM']);

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
