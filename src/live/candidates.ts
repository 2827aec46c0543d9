import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A file that could be served, as it was when looked at. */
export interface Candidate {
  readonly path: string;
  /** Differs whenever the file was written, replaced or its permissions changed. */
  readonly identity: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/**
 * The files that a snapshot path stands for, the newest first: the file itself, or those of a folder but
 * for hidden ones and `*.tmp`, where writers keep what is not finished. Symbolic links are followed.
 * Throws what `stat` throws.
 */
export async function findCandidates(path: string): Promise<Candidate[]> {
  const status = await stat(path);
  if (!status.isDirectory()) return [candidate(path, status)];
  const found: Candidate[] = [];
  for (const name of await readdir(path)) {
    if (name.startsWith('.') || name.endsWith('.tmp')) continue;
    const inner = join(path, name);
    // a file may go between the listing and the look
    const innerStatus = await stat(inner).catch(() => undefined);
    if (innerStatus?.isFile()) found.push(candidate(inner, innerStatus));
  }
  return found.sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? 1 : -1));
}

/**
 * Waits until the file has not been written for `settleMs`: a slow writer is not read half-way. Returns
 * it as it then is, undefined when it is gone.
 */
export async function awaitStill(
  first: Candidate,
  settleMs: number,
  signal: AbortSignal,
): Promise<Candidate | undefined> {
  let seen = first;
  let unchangedSince = seen.modifiedAt;
  // a clock of another host may be ahead
  if (unchangedSince > Date.now()) unchangedSince = Date.now();
  for (;;) {
    const rest = unchangedSince + settleMs - Date.now();
    if (rest <= 0) return seen;
    await delay(rest, undefined, { signal });
    const status = await stat(seen.path).catch(() => undefined);
    if (status === undefined) return undefined;
    const now = candidate(seen.path, status);
    if (now.identity === seen.identity) return now;
    seen = now;
    unchangedSince = Date.now();
  }
}

/** As {@link Candidate} has it; 'missing' when there is no such file. */
export async function identityOf(path: string): Promise<string> {
  const status = await stat(path).catch(() => undefined);
  return status === undefined ? 'missing' : candidate(path, status).identity;
}

function candidate(
  path: string,
  status: { dev: number; ino: number; size: number; mtimeMs: number; ctimeMs: number },
): Candidate {
  const { dev, ino, size, mtimeMs, ctimeMs } = status;
  return { path, identity: [dev, ino, size, mtimeMs, ctimeMs].join(' '), modifiedAt: mtimeMs };
}
