import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';
import { FSWatcher } from 'chokidar';
import type { Logger } from 'pino';
import { CHECKSUM_SUFFIX } from './names.js';

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
const MAX_LINKS = 40;

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

/** A folder on the way to a path, and what is looked up in it. */
interface Step {
  /** Its path without links. */
  readonly folder: string;
  /** Differs when another folder took its place. */
  readonly identity: string;
  /** Undefined for a folder at the end of the way, all of whose names count. */
  readonly name: string | undefined;
  /** Whether that name is a folder too, so that the way goes on through it. */
  readonly isPassed: boolean;
  /** Where the way leads. */
  readonly path: string;
}

/**
 * Watches the folders on the way to some paths, and watches again when one of them goes, comes or
 * is replaced.
 */
class Watch {
  readonly #paths: readonly string[];
  readonly #logger: Logger;
  readonly #hear: Hear;
  #steps: readonly Step[] = [];
  /** By the path of the folder. */
  readonly #watched = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  /** Whether the folders above the paths that were once watched are so now. */
  readonly #standing = new Map<string, boolean>();
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
    for (const folder of [...this.#watched.keys()]) await this.#unwatch(folder);
  }

  async #follow(): Promise<void> {
    const begun = new Set<string>();
    for (let round = 0; this.#isAgain && !this.#isClosed && round < MOST_ROUNDS; round++) {
      this.#isAgain = false;
      this.#steps = this.#paths.flatMap(wayTo);
      const wanted = new Map(this.#steps.map((step) => [step.folder, step]));
      for (const [folder, { identity }] of [...this.#watched]) {
        if (wanted.get(folder)?.identity !== identity) await this.#unwatch(folder);
      }
      for (const [folder, step] of wanted) {
        if (this.#watched.has(folder) || !(await this.#watch(step))) continue;
        begun.add(folder);
        // the way may have changed before it was watched
        this.#isAgain = true;
      }
    }
    if (this.#isClosed) return;
    this.#tell(begun);
    // nothing was heard while no watch stood
    if (begun.size > 0) for (const path of this.#paths) this.#hear(path, undefined);
  }

  /**
   * Logs what became of the folders above the paths; links may lead to others and back at any time.
   */
  #tell(begun: ReadonlySet<string>): void {
    for (const [path, wasWatched] of this.#standing) {
      if (wasWatched && !this.#watched.has(path)) {
        this.#standing.set(path, false);
        this.#logger.warn({ path }, 'folder lost');
      }
    }
    for (const path of begun) {
      if (!this.#paths.some((one) => isAbove(path, resolve(one)))) continue;
      if (this.#standing.has(path)) this.#logger.info({ path }, 'watching again');
      this.#standing.set(path, true);
    }
  }

  /** Begins to watch a folder; returns whether that succeeded. */
  async #watch({ folder, identity, isPassed }: Step): Promise<boolean> {
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
    if (error === undefined) {
      this.#problems.delete(folder);
      this.#watched.set(folder, { identity, watcher });
      return true;
    }
    await watcher.close();
    const { code, message } = error as NodeJS.ErrnoException;
    // a folder that may only be passed through cannot be watched, which is no news
    const isNews = this.#problems.get(folder) !== message && !(isPassed && code === 'EACCES');
    this.#problems.set(folder, message);
    if (isNews) this.#logger.warn({ path: folder, reason: message }, 'cannot watch');
    return false;
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
    const parent = dirname(folder);
    const isParentWatched = parent !== folder && this.#watched.has(parent);
    const mayBeItself = name === undefined || (name === basename(folder) && !isParentWatched);
    let isWayChanged = mayBeItself;
    for (const step of this.#steps) {
      if (step.folder !== folder) continue;
      if (step.name === undefined) this.#hear(step.path, mayBeItself ? undefined : name);
      else if (mayBeItself || name === step.name || name === `${step.name}${CHECKSUM_SUFFIX}`) {
        isWayChanged = true;
        this.#hear(undefined, undefined);
      }
    }
    if (isWayChanged) void this.check();
  }
}

/** Whether a path leads through the folder, or to it. */
function isAbove(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/**
 * The folders that the system passes on the way to a path, links followed, as far as they exist.
 * Only a change of one of their names can make the path another file.
 */
function wayTo(path: string): Step[] {
  const start = resolve(path);
  const steps: Step[] = [];
  const rest = partsOf(start);
  let folder = parse(start).root;
  for (let links = 0; links <= MAX_LINKS; ) {
    const inner = ifAny(() => lstatSync(folder));
    if (!inner?.isDirectory()) break;
    const identity = identityOf(inner);
    const name = rest.shift();
    if (name === '..') {
      folder = dirname(folder);
      continue;
    }
    const entry = name === undefined ? undefined : join(folder, name);
    const next = entry === undefined ? undefined : ifAny(() => lstatSync(entry));
    steps.push({ folder, identity, name, isPassed: next?.isDirectory() === true, path });
    if (entry === undefined) break;
    if (next?.isSymbolicLink()) {
      links++;
      const target = ifAny(() => readlinkSync(entry)) ?? '';
      rest.unshift(...partsOf(target));
      if (isAbsolute(target)) folder = parse(target).root;
    } else {
      folder = entry;
    }
  }
  return steps;
}

/** A new folder may have the number of the one before it, so that its age counts, too. */
function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev} ${ino} ${birthtimeMs}`;
}

function partsOf(path: string): string[] {
  const parts = path.slice(parse(path).root.length).split(sep);
  return parts.filter((part) => part !== '' && part !== '.');
}

/** Undefined for what is not there, or is not to be seen. */
function ifAny<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
