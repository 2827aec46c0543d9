import { realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { FSWatcher } from 'chokidar';
import type { Logger } from 'pino';
import { CHECKSUM_SUFFIX } from './source.js';

export interface WatchOptions {
  /**
   * `events` hears of changes from the system, `poll` asks, for network file systems, `off` does
   * neither.
   */
  readonly mode: 'events' | 'poll' | 'off';
  /** How often `poll` asks. */
  readonly pollMs: number;
  /** With events, how often to ask all the same. */
  readonly safetyMs?: number;
}

/** Events get lost when there are too many of them, and not every folder on a way is watched. */
const SAFETY_MS = 5_000;

/**
 * chokidar as far as it tells of a folder's events: at each it would list the folder, and `lstat`
 * every entry.
 */
class FolderWatcher extends FSWatcher {
  override _readdirp(): undefined {
    return undefined;
  }
}

/** Whether a name of a folder counts. */
type Counts = (name: string) => boolean;

/** A folder that is to be watched. */
interface Place {
  readonly folder: string;
  readonly counts: Counts[];
}

/**
 * Calls `onChange` whenever a file or folder at one of the paths may have changed, more often rather
 * than too rarely; of a folder among them only names count that `counts` says. Watched are the
 * folder of each path, and that of what it leads to. Returns what ends it.
 */
export function watchPaths(
  paths: readonly string[],
  { mode, pollMs, safetyMs = SAFETY_MS }: WatchOptions,
  logger: Logger,
  counts: Counts,
  onChange: () => void,
): () => Promise<void> {
  if (mode === 'off') return async () => {};
  const watched = new Map<string, FSWatcher>();
  let places: ReadonlyMap<string, Place> = new Map();

  /** Watches what there is to be watched now. */
  function follow(): void {
    if (mode === 'events') places = placesOf(paths, counts);
    for (const [key, watcher] of watched) {
      if (places.has(key)) continue;
      watched.delete(key);
      void watcher.close();
    }
    for (const [key, { folder }] of places) {
      if (watched.has(key)) continue;
      const watcher = new FolderWatcher({ depth: 0, ignoreInitial: true, followSymlinks: false });
      watched.set(key, watcher);
      watcher.on('raw', (_kind, name) => {
        // a folder tells of changes of its own by its name
        const isOwn = !name || name === basename(folder);
        if (places.get(key)?.counts.some((one) => isOwn || one(name))) look();
      });
      watcher.on('error', (error) => {
        logger.warn({ path: folder, reason: (error as Error).message }, 'cannot watch');
      });
      // nothing was heard while no watch stood
      watcher.on('ready', () => places.has(key) && look());
      watcher.add(folder);
    }
  }
  function look(): void {
    follow();
    onChange();
  }

  follow();
  const timer = setInterval(look, mode === 'poll' ? pollMs : safetyMs).unref();
  return async () => {
    clearInterval(timer);
    places = new Map();
    await Promise.all([...watched.values()].map((watcher) => watcher.close()));
    watched.clear();
  };
}

/** The folders to watch, by what tells each from another that takes its place. */
function placesOf(paths: readonly string[], counts: Counts): Map<string, Place> {
  const places = new Map<string, Place>();
  const add = (folder: string, one: Counts): boolean => {
    const stats = statsOf(folder);
    if (!stats?.isDirectory()) return false;
    const key = `${folder} ${stats.dev} ${stats.ino} ${stats.birthtimeMs}`;
    const place = places.get(key) ?? { folder, counts: [] };
    place.counts.push(one);
    places.set(key, place);
    return true;
  };
  for (const path of paths) {
    const ends = new Set([resolve(path), realOf(path)]);
    for (const end of ends) {
      add(end, counts);
      // where there is no such folder, one above will tell when it is made
      for (let at = end; !add(dirname(at), isOf(basename(at))) && at !== dirname(at); ) {
        at = dirname(at);
      }
    }
  }
  return places;
}

/** Kubernetes switches the link `..data`, which others lead through. */
function isOf(path: string): Counts {
  return (name) => name === path || name === `${path}${CHECKSUM_SUFFIX}` || name.startsWith('..');
}

/** What a path leads to; itself where it leads nowhere. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Undefined where there is nothing, or nobody may look. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
