import { basename, dirname, join, resolve, sep } from 'node:path';
import { FSWatcher } from 'chokidar';
import type { Logger } from 'pino';
import { CHECKSUM_SUFFIX } from './names.js';
import { type Step, wayTo } from './way.js';

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

/** Events get lost when there are too many of them. */
const SAFETY_MS = 5_000;
/** Most rounds of one check: the way to a path is followed anew while it changes meanwhile. */
const MOST_ROUNDS = 20;

/**
 * Hears of what may have changed. `end` is the watched path that is a folder when something in it
 * changed, and `name` what did, where that is known.
 */
export type Hear = (end: string | undefined, name: string | undefined) => void;

/**
 * Hears whenever a file or folder at one of the paths may have changed, more often rather than too
 * rarely. Returns what ends it.
 */
export function watchPaths(
  paths: readonly string[],
  { mode, pollMs, safetyMs = SAFETY_MS }: WatchOptions,
  logger: Logger,
  hear: Hear,
): () => Promise<void> {
  if (mode === 'off') return async () => {};
  const watch = mode === 'events' ? new Watch(paths, logger, hear) : undefined;
  void watch?.check();
  const look = (): void => {
    void watch?.check();
    hear(undefined, undefined);
  };
  const timer = setInterval(look, mode === 'poll' ? pollMs : safetyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await watch?.close();
  };
}

/**
 * chokidar as far as it tells of a folder's events: at each it would list the folder, and `lstat`
 * every entry.
 */
class FolderWatcher extends FSWatcher {
  override _readdirp(): undefined {
    return undefined;
  }
}

interface Watched {
  readonly inode: string;
  readonly watcher: FolderWatcher;
}

/**
 * Watches the folders on the way to some paths, and watches again when one of them goes, comes or
 * is replaced.
 */
class Watch {
  readonly #paths: readonly string[];
  readonly #logger: Logger;
  readonly #hear: Hear;
  #steps: readonly (Step & { readonly path: string })[] = [];
  /** By the path of the folder. */
  readonly #watched = new Map<string, Watched>();
  /** Folders above the paths that were once watched, and those among them that no longer are. */
  readonly #once = new Set<string>();
  readonly #lost = new Set<string>();
  /** Why a folder cannot be watched, by its path: each is logged once. */
  readonly #problems = new Map<string, string>();
  #checking: Promise<void> | undefined;
  #isAgain = false;
  #isClosed = false;

  constructor(paths: readonly string[], logger: Logger, hear: Hear) {
    this.#paths = paths;
    this.#logger = logger;
    this.#hear = hear;
  }

  /** Watches what there is to be watched now. */
  check(): Promise<void> {
    this.#isAgain = true;
    this.#checking ??= this.#follow().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#checking;
    await Promise.all([...this.#watched.keys()].map((folder) => this.#unwatch(folder)));
  }

  async #follow(): Promise<void> {
    const begun: string[] = [];
    for (let round = 0; this.#isAgain && !this.#isClosed && round < MOST_ROUNDS; round++) {
      this.#isAgain = false;
      this.#steps = this.#paths.flatMap((path) => wayTo(path).map((step) => ({ ...step, path })));
      const wanted = new Map(this.#steps.map((step) => [step.folder, step]));
      for (const [folder, { inode }] of [...this.#watched]) {
        if (wanted.get(folder)?.inode !== inode) await this.#unwatch(folder);
      }
      for (const [folder, step] of wanted) {
        if (this.#watched.has(folder) || !(await this.#watch(step))) continue;
        begun.push(folder);
        // the way may have changed before it was watched
        this.#isAgain = true;
      }
    }
    if (this.#isClosed) return;
    this.#tell(begun);
    // nothing was heard while no watch stood
    if (begun.length > 0) for (const path of this.#paths) this.#hear(path, undefined);
  }

  /**
   * Logs what became of the folders above the paths; links may lead to others and back at any time.
   */
  #tell(begun: readonly string[]): void {
    for (const folder of this.#once) {
      if (this.#watched.has(folder) || this.#lost.has(folder)) continue;
      this.#lost.add(folder);
      this.#logger.warn({ path: folder }, 'folder lost');
    }
    for (const folder of begun) {
      if (!this.#paths.some((path) => isAbove(folder, resolve(path)))) continue;
      this.#lost.delete(folder);
      if (this.#once.has(folder)) this.#logger.info({ path: folder }, 'watching again');
      this.#once.add(folder);
    }
  }

  /** Begins to watch a folder; returns whether that succeeded. */
  async #watch({ folder, inode, isPassed }: Step): Promise<boolean> {
    const watcher = new FolderWatcher({ depth: 0, ignoreInitial: true, followSymlinks: false });
    const error = await new Promise<unknown>((resolve) => {
      watcher.on('raw', (_kind, name) => this.#heard(folder, name || undefined));
      watcher.on('ready', () => resolve(undefined));
      watcher.on('error', (reason) => {
        resolve(reason);
        if (this.#watched.get(folder)?.watcher === watcher) this.#heard(folder, undefined);
      });
      watcher.add(folder);
    });
    if (error !== undefined) {
      await watcher.close();
      const { code, message } = error as NodeJS.ErrnoException;
      // a folder that may only be passed through cannot be watched, which is no news
      const isNews = this.#problems.get(folder) !== message && !(isPassed && code === 'EACCES');
      this.#problems.set(folder, message);
      if (isNews) this.#logger.warn({ path: folder, reason: message }, 'cannot watch');
      return false;
    }
    this.#problems.delete(folder);
    this.#watched.set(folder, { inode, watcher });
    return true;
  }

  async #unwatch(folder: string): Promise<void> {
    const watched = this.#watched.get(folder);
    this.#watched.delete(folder);
    await watched?.watcher.close();
  }

  /** Hears of a change of a name in a folder, or of the folder itself. */
  #heard(folder: string, name: string | undefined): void {
    // the parent tells of the folder's own changes too, by a name that is none of the folder's
    // files
    const isParentWatched = this.#watched.has(dirname(folder)) && dirname(folder) !== folder;
    const mayBeItself = name === undefined || (name === basename(folder) && !isParentWatched);
    let isWayChanged = mayBeItself;
    if (mayBeItself) this.#suspect(folder);
    for (const step of this.#steps) {
      if (step.folder !== folder) continue;
      if (step.name === undefined) this.#hear(step.path, mayBeItself ? undefined : name);
      else if (mayBeItself || name === step.name || name === `${step.name}${CHECKSUM_SUFFIX}`) {
        isWayChanged = true;
        if (step.isPassed) this.#suspect(join(folder, step.name));
        this.#hear(undefined, undefined);
      }
    }
    if (isWayChanged) void this.check();
  }

  /**
   * Has all folders from this one on watched anew: a new one may have the number of the old one.
   */
  #suspect(folder: string): void {
    for (const one of [...this.#watched.keys()]) {
      if (one === folder || isAbove(folder, one)) void this.#unwatch(one);
    }
  }
}

/** Whether a path leads through the folder, or to it. */
function isAbove(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
