import { readFileSync } from 'node:fs';
import { InputError } from '../errors.js';
import { MAX_OPEN_UPLOADS } from '../media/upload.js';
import type { ServeSettings } from '../settings/setting.js';

/**
 * What Node, the first thread, a build, files and events, and operators' connections take, and the
 * modules that a thread reads at one time when it starts: with 64 descriptors some starts failed.
 */
const RESERVE = 80;
/** What each thread takes: its event loop and its listening sockets. */
const RESERVE_OF_THREAD = 8;

/**
 * How many connections can be held at once: those of the settings, as far as the process may open
 * as many files. Without a descriptor no snapshot could be opened any more. Throws an InputError
 * when there is no room for any connection.
 */
export function connectionLimit({
  maxConnections,
  workers,
  media,
}: Pick<ServeSettings, 'maxConnections' | 'workers' | 'media'>): number {
  const limit = descriptorLimit();
  const ofThread = RESERVE_OF_THREAD + (media === undefined ? 0 : MAX_OPEN_UPLOADS);
  const reserve = RESERVE + workers * ofThread;
  if (limit > reserve) return Math.min(maxConnections, limit - reserve);
  throw new InputError(
    `The limit of ${limit} open files is too low: with ${workers} workers it must be above ${reserve}. Raise it (ulimit -n).`,
  );
}

/** How many files this process may have open; without a bound where the system does not say. */
function descriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
