import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { InputError } from '../../errors.js';
import type { Progress } from '../../snapshot/snapshot.js';
import type { Cell, Stale } from '../current.js';
import type { Generation } from '../generation.js';
import { awaitStill, type Candidate, candidateAt, findCandidates } from '../source/candidates.js';
import type { BuildResult, BuildTask } from './build.js';
import { reclaimMemory } from './reclaim.js';
import type { ReloadStats } from './stats.js';

export interface ReloadOptions {
  /** Where the generations go; nobody else writes to it. */
  readonly current: Cell;
  /** A snapshot file, or a folder whose newest whole file is served. */
  readonly path: string;
  /** A file that is read with every snapshot. */
  readonly companion: string | undefined;
  /** A file must not have been written for this long. */
  readonly settleMs: number;
  /** A snapshot that lost more than this share of the points is held back: 0.5 for half of them. */
  readonly maxShrink: number;
  readonly build: (task: BuildTask, onProgress: Progress) => Promise<BuildResult>;
  /** Hears what came of each file looked at. */
  readonly stats: Pick<ReloadStats, 'count'>;
  readonly logger: Logger;
}

/** Keeps the current generation that of the newest good file. */
export interface Reloader {
  /**
   * Loads the newest good file. Throws an InputError when there is none. A file that fails is logged once
   * and an older one is served.
   */
  load(): Promise<void>;
  /**
   * Looks whether there is something newer and loads it; while it does, more calls make it look once
   * more. `accept` takes a snapshot that shrank, too, and tries again what failed before.
   */
  look: (accept?: boolean) => Promise<void>;
  close(): void;
}

/** Makes a reloader, which does nothing until it is told to. */
export function createReloader(options: ReloadOptions): Reloader {
  const { current, path, companion, settleMs, maxShrink, build, stats, logger } = options;
  const closing = new AbortController();
  // by the key of what was tried: the file and its companion, as they were
  const refused = new Map<string, string>();
  let served: { generation: Generation; key: string } | undefined;
  let stale: Stale | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let accepts = false;
  let hasGarbage = false;

  function fail(reason: string, outcome: 'failed' | 'held_back', seconds: number): void {
    stats.count(outcome, seconds);
    if (stale?.reason === reason) return;
    if (served !== undefined) logger.error({ reason }, 'snapshot refused, the old one stays');
    stale = { reason, since: stale?.since ?? Date.now() };
  }

  function clear(): void {
    if (stale !== undefined && served !== undefined) logger.info('the newest snapshot is served');
    stale = undefined;
  }

  /** One look at all candidates, the newest first, until one is good. */
  async function pass(accept: boolean): Promise<void> {
    let candidates: Candidate[];
    try {
      candidates = await listCandidates();
    } catch (error) {
      if (closing.signal.aborted) return;
      const reason = problemText(error, path);
      if (stale?.reason !== reason) fail(reason, 'failed', 0);
      return;
    }
    const beside = companion === undefined ? undefined : await candidateAt(companion);
    const keys = new Set(candidates.map((one) => keyOf(one, beside)));
    for (const key of refused.keys()) if (!keys.has(key)) refused.delete(key);
    let reason: string | undefined;
    for (const candidate of candidates) {
      const key = keyOf(candidate, beside);
      if (key === served?.key) break;
      const known = accept ? undefined : refused.get(key);
      const refusal = known ?? (await tryCandidate(candidate, accept));
      if (refusal === undefined) break;
      if (closing.signal.aborted) return;
      reason ??= refusal;
    }
    if (reason === undefined) clear();
  }

  async function listCandidates(): Promise<Candidate[]> {
    try {
      return await findSome(path);
    } catch (error) {
      if (served === undefined) throw error;
      // between being deleted and created again it is no news
      await delay(settleMs, undefined, { signal: closing.signal });
      return findSome(path);
    }
  }

  /** Serves the file, or says why not. */
  async function tryCandidate(found: Candidate, accept: boolean): Promise<string | undefined> {
    const wait = (file: string): Promise<Candidate | undefined> =>
      served === undefined ? candidateAt(file) : awaitStill(file, settleMs, closing.signal);
    let key = '';
    let seconds = (): number => 0;
    const refuse = (reason: string, outcome: 'failed' | 'held_back'): string => {
      refused.set(key, reason);
      fail(reason, outcome, seconds());
      return reason;
    };
    const changed = (): string => {
      again = true;
      accepts ||= accept;
      return `${found.path}: it changed while it was read`;
    };
    let still: Candidate | undefined;
    try {
      const waits = [found.path, companion].map((file) => (file === undefined ? file : wait(file)));
      const [file, beside] = await Promise.all(waits);
      still = file;
      if (still === undefined) return changed();
      key = keyOf(still, beside);
      const started = performance.now();
      seconds = () => (performance.now() - started) / 1000;
      const old = served?.generation;
      const task = { path: still.path, unless: old?.parts.digest, signal: closing.signal };
      const result = await watched(still.path, (onProgress) => build(task, onProgress));
      hasGarbage = result !== 'unchanged';
      // what it holds then is neither the old file nor the new one
      if ((await wasWritten(still)) || (await wasWritten(beside))) return changed();
      if (result === 'unchanged') {
        served = { generation: old!, key };
        stats.count('unchanged', seconds());
        return undefined;
      }
      const { count } = result;
      if (old !== undefined && !accept && count < old.count * (1 - maxShrink)) {
        const reason = `${still.path}: it has ${count} points where ${old.count} are served, a loss of more than ${maxShrink * 100} %; a reload that accepts it takes it all the same`;
        return refuse(reason, 'held_back');
      }
      reportLoad(result, logger);
      await current.publish(result);
      served = { generation: result, key };
      if (old === undefined) hasGarbage = false;
      stats.count('loaded', seconds());
      if (old !== undefined) {
        logger.info({ path: still.path, points: count, seconds: seconds() }, 'snapshot loaded');
      }
      return undefined;
    } catch (error) {
      if (closing.signal.aborted) return 'closing';
      // no verdict on what it has become
      const now = await candidateAt(found.path);
      if (served !== undefined && now?.identity !== still?.identity) return changed();
      return refuse(problemText(error, found.path), 'failed');
    }
  }

  async function run(): Promise<void> {
    do {
      again = false;
      const accept = accepts;
      accepts = false;
      await pass(accept);
      // not earlier: there were references left to what is not served, or not any more
      if (hasGarbage) reclaimMemory();
      hasGarbage = false;
      current.tell({ stale });
    } while (again && !closing.signal.aborted);
  }

  /** Builds while the cell says so. */
  async function watched(
    path: string,
    work: (onProgress: Progress) => Promise<BuildResult>,
  ): Promise<BuildResult> {
    const since = Date.now();
    current.tell({ building: { path, since, bytesRead: 0, bytesTotal: 0 } });
    try {
      return await work((bytesRead, bytesTotal) => {
        current.tell({ building: { path, since, bytesRead, bytesTotal } });
      });
    } finally {
      current.tell({ building: undefined });
    }
  }

  function look(accept = false): Promise<void> {
    accepts ||= accept;
    again = true;
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    async load() {
      await look();
      if (served === undefined) throw new InputError(stale?.reason ?? `${path}: nothing to serve`);
      if (stale !== undefined)
        logger.error({ ...stale }, 'snapshot refused, an older one is served');
    },
    look,
    close: () => closing.abort(),
  };
}

function reportLoad({ parts }: Generation, logger: Logger): void {
  const { invalid, problems, unknownKeys } = parts.dataset.report;
  if (invalid > 0) logger.warn({ invalid, problems }, 'invalid records left out');
  if (Object.keys(unknownKeys).length > 0) logger.warn({ unknownKeys }, 'unknown keys dropped');
}

/** Throws also when there is a folder with no file in it. */
async function findSome(path: string): Promise<Candidate[]> {
  const candidates = await findCandidates(path);
  if (candidates.length > 0) return candidates;
  throw new InputError(`${path}: there is no file in this folder`);
}

/** Whether the file was written into since; one that another was moved over stayed as it was. */
async function wasWritten(file: Candidate | undefined): Promise<boolean> {
  if (file === undefined) return false;
  const now = await candidateAt(file.path);
  return now?.inode === file.inode && now.identity !== file.identity;
}

/** Names a snapshot file and its companion as they were when looked at. */
function keyOf(file: Candidate, beside: Candidate | undefined): string {
  return `${file.identity} ${beside?.identity}`;
}

function problemText(error: unknown, path: string): string {
  if (error instanceof InputError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path}: there is no such file`;
  if (code === 'EACCES') return `${path}: no permission to read it`;
  return `${path}: ${message}`;
}
