import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FSWatcher } from 'chokidar';
import type { Logger } from 'pino';

export interface WatchOptions {
  /** `events` come from the system; `poll` looks now and then, for network file systems. */
  readonly mode: 'events' | 'poll' | 'off';
  /** How often `poll` looks. */
  readonly pollMs: number;
  /** With events, how often to look all the same. */
  readonly safetyMs?: number;
}

/** Events get lost when there are too many of them, and no folder above another is watched. */
const SAFETY_MS = 5_000;

/** chokidar without its listing: at each event it would `lstat` every entry of the folder. */
class FolderWatcher extends FSWatcher {
  override _readdirp(): undefined {
    return undefined;
  }
}

/**
 * Calls `onChange` whenever a file or folder at one of the paths may have changed, or more often.
 * Watches folders, and of a file its folder and that of its link's target; ignores names that do
 * not `count`. A folder that was replaced is found at the next look. Returns what ends it.
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
      // earlier changes were not heard
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
  /** Adds a folder; returns what a path leads to behind its links, and undefined for nothing. */
  const add = (path: string): string | undefined => {
    try {
      const end = realpathSync(path);
      const stats = statSync(end);
      const { dev, ino, birthtimeMs } = stats;
      if (stats.isDirectory()) folders.set(end, `${end} ${dev} ${ino} ${birthtimeMs}`);
      return end;
    } catch {
      // nothing is there, or this process may not look
      return undefined;
    }
  };
  for (const path of paths) {
    const end = add(path);
    if (end !== undefined && folders.has(end)) continue;
    add(dirname(path));
    if (end !== undefined) add(dirname(end));
  }
  return folders;
}
