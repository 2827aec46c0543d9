import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { watch } from 'chokidar';

export interface WatchOptions {
  /** `events` hears of changes from the system, `poll` asks, for network file systems, `off` does neither. */
  readonly mode: 'events' | 'poll' | 'off';
  /** How often `poll` asks. */
  readonly pollMs: number;
}

/** With events, a look this often all the same: links in folders above are not watched. */
const SAFETY_LOOK_MS = 5_000;
const MAX_LINKS = 40;

/**
 * Calls `onChange` whenever the file or folder at `path` may have changed, more often rather than too
 * rarely. Returns what ends it.
 */
export function watchPath(
  path: string,
  { mode, pollMs }: WatchOptions,
  onChange: () => void,
): () => Promise<void> {
  if (mode === 'off') return async () => {};
  const timer = setInterval(onChange, mode === 'poll' ? pollMs : SAFETY_LOOK_MS);
  timer.unref();
  if (mode === 'poll') return async () => clearInterval(timer);

  // files are replaced by rename, and links are switched: it is their folders that tell
  const watcher = watch(foldersOf(path), { depth: 0, ignoreInitial: true, followSymlinks: false });
  watcher.on('all', onChange);
  // such as a folder that was removed; the timer goes on looking
  watcher.on('error', onChange);
  return async () => {
    clearInterval(timer);
    await watcher.close();
  };
}

/** The path itself, for when it is a folder, its folder, and that of every link on the way to the file. */
function foldersOf(path: string): string[] {
  const folders = new Set<string>();
  let at = resolve(path);
  for (let links = 0; links < MAX_LINKS; links++) {
    folders.add(dirname(at));
    const status = lstatSync(at, { throwIfNoEntry: false });
    if (status?.isDirectory()) folders.add(at);
    if (!status?.isSymbolicLink()) break;
    at = resolve(dirname(at), readlinkSync(at));
  }
  return [...folders];
}
