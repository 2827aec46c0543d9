import { realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FSWatcher } from 'chokidar';
import type { Logger } from 'pino';

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

/** Events get lost when there are too many of them, and no folder above another is watched. */
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

/**
 * Calls `onChange` whenever a file or folder at one of the paths may have changed, more often rather
 * than too rarely. Watched is each folder among them, and of a file its folder and that of what it
 * leads to; events of names that do not `count` are passed over. Where one of these folders is
 * replaced, the next look without an event finds the other one. Returns what ends it.
 */
export function watchPaths(
  paths: readonly string[],
  { mode, pollMs, safetyMs = SAFETY_MS }: WatchOptions,
  logger: Logger,
  counts: (name: string) => boolean,
  onChange: () => void,
): () => Promise<void> {
  if (mode === 'off') return async () => {};
  let watched = '';
  let watchers: readonly FSWatcher[] = [];

  /** Watches the folders that there are now. */
  function follow(): void {
    const folders = foldersOf(paths);
    const now = [...folders.values()].join();
    if (now === watched) return;
    watched = now;
    void close();
    watchers = [...folders.keys()].map((folder) => {
      const watcher = new FolderWatcher({ depth: 0, ignoreInitial: true, followSymlinks: false });
      watcher.on('raw', (_kind, name) => {
        if (!name || counts(name)) onChange();
      });
      watcher.on('error', (error) => {
        logger.warn({ path: folder, reason: (error as Error).message }, 'cannot watch');
      });
      // nothing was heard while no watch stood
      return watcher.on('ready', onChange).add(folder);
    });
  }

  async function close(): Promise<void> {
    await Promise.all(watchers.map((watcher) => watcher.close()));
  }

  if (mode === 'events') follow();
  const look = (): void => {
    if (mode === 'events') follow();
    onChange();
  };
  const timer = setInterval(look, mode === 'poll' ? pollMs : safetyMs).unref();
  return () => {
    clearInterval(timer);
    return close();
  };
}

/** The folders to watch, each with what tells it from another that takes its place. */
function foldersOf(paths: readonly string[]): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  const add = (end: End | undefined): boolean => {
    if (!end?.stats.isDirectory()) return false;
    const { path, stats } = end;
    folders.set(path, `${path} ${stats.dev} ${stats.ino} ${stats.birthtimeMs}`);
    return true;
  };
  for (const path of paths) {
    const end = endOf(path);
    if (add(end)) continue;
    add(endOf(dirname(path)));
    if (end !== undefined) add(endOf(dirname(end.path)));
  }
  return folders;
}

interface End {
  readonly path: string;
  readonly stats: Stats;
}

/**
 * What a path leads to: of a link nobody is told what happens in the folder behind it. Undefined
 * where there is nothing, or nobody may look.
 */
function endOf(path: string): End | undefined {
  try {
    const end = realpathSync(path);
    return { path: end, stats: statSync(end) };
  } catch {
    return undefined;
  }
}
