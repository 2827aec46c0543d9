import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { InputError } from '../errors.js';

/** A change takes milliseconds: a lock that is older was left by a process that died. */
const MOST_MS = 5_000;
const LOOK_MS = 20;

/**
 * Changes a file while no other process does: each would write what it has read before the other
 * wrote. The lock is a folder beside the file, `<file>.lock`. Throws an InputError where none can
 * be made there.
 */
export async function alone<T>(path: string, change: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  while (!tryLock(lock)) {
    if (isLeft(lock)) release(lock);
    else await delay(LOOK_MS);
  }
  try {
    return await change();
  } finally {
    release(lock);
  }
}

function tryLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    throw new InputError(`${lock}: cannot be made: ${message}`, { cause: error });
  }
}

function isLeft(lock: string): boolean {
  const stat = statSync(lock, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > MOST_MS;
}

function release(lock: string): void {
  try {
    rmdirSync(lock);
  } catch {
    // another process found it left, and removed it
  }
}
