import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A file that could be served, as it was when looked at. */
export interface Candidate {
  readonly path: string;
  /** Differs when another file took its place. */
  readonly inode: string;
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
 * Waits until the file has not changed for `settleMs`: a slow writer is not read half-way. The wait is
 * measured here, since the clock of a file server may be behind. Returns the file as it then is,
 * undefined when it is gone.
 */
export async function awaitStill(
  path: string,
  settleMs: number,
  signal: AbortSignal,
): Promise<Candidate | undefined> {
  let seen = await candidateAt(path);
  while (seen !== undefined) {
    await delay(settleMs, undefined, { signal });
    const now = await candidateAt(path);
    if (now?.identity === seen.identity) return now;
    seen = now;
  }
  return undefined;
}

/** The file as it is now, undefined when there is none that can be looked at. */
export async function candidateAt(path: string): Promise<Candidate | undefined> {
  const status = await stat(path).catch(() => undefined);
  return status === undefined ? undefined : candidate(path, status);
}

function candidate(
  path: string,
  status: { dev: number; ino: number; size: number; mtimeMs: number; ctimeMs: number },
): Candidate {
  const { dev, ino, size, mtimeMs, ctimeMs } = status;
  const inode = `${dev} ${ino}`;
  return { path, inode, identity: `${inode} ${size} ${mtimeMs} ${ctimeMs}`, modifiedAt: mtimeMs };
}
