import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^\.waypost-[0-9a-f-]+\.tmp(?:\.sha256)?$/;
/** Milliseconds after which nobody writes to a temporary file any more. */
const ABANDONED_AFTER = 24 * 60 * 60 * 1000;

/**
 * A name for a temporary file: hidden, and of another ending, so that nobody who watches the folder
 * takes it for a snapshot.
 */
export function temporaryIn(folder: string): string {
  return join(folder, `.waypost-${randomBytes(8).toString('hex')}.tmp`);
}

/**
 * Removes temporary files that nothing was written to for a day: their process ended without having
 * removed them, such as one that was killed.
 */
export function removeLeftovers(folder: string): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // whoever writes into it will say so
    return;
  }
  for (const name of names) {
    if (!NAME.test(name)) continue;
    try {
      const path = join(folder, name);
      const stats = lstatSync(path);
      if (stats.isFile() && stats.mtimeMs < Date.now() - ABANDONED_AFTER) unlinkSync(path);
    } catch {
      // gone by now, or somebody else's to remove
    }
  }
}
