import { setTimeout as delay } from 'node:timers/promises';
import { type Claim, Claimed, claim } from '../claim.js';
import { InputError } from '../errors.js';
import { replacedFile } from '../snapshot/atomic-file.js';

/** A change takes milliseconds: a process that owns a file for longer has been stopped. */
const MOST_MS = 10_000;
/** Milliseconds between two tries, at least and on top at random: two that met meet no more. */
const LOOK_MS = 5;
const SPREAD_MS = 30;

/**
 * Changes a file while no other process does: each would write what it has read before the other
 * wrote. Throws an InputError where another process owns the file for `mostMs`, or no lock can be
 * made beside the file.
 */
export async function alone<T>(
  path: string,
  change: () => Promise<T>,
  mostMs: number = MOST_MS,
): Promise<T> {
  const lock = await waitForClaim(replacedFile(path), performance.now() + mostMs);
  try {
    return await change();
  } finally {
    lock.release();
  }
}

async function waitForClaim(path: string, until: number): Promise<Claim> {
  for (;;) {
    try {
      return await claim(path);
    } catch (error) {
      if (!(error instanceof Claimed)) {
        const reason = `no lock can be made beside it: ${(error as Error).message}`;
        throw new InputError(`${path}: cannot be changed: ${reason}`, { cause: error });
      }
      if (performance.now() > until) {
        throw new InputError(
          `${path}: process ${error.pid} has been changing it for too long: end that one first`,
        );
      }
    }
    await delay(LOOK_MS + Math.random() * SPREAD_MS);
  }
}
