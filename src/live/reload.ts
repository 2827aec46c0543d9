import type { Logger } from 'pino';
import { InputError } from '../errors.js';
import type { BuildResult, BuildTask } from './build.js';
import { awaitStill, type Candidate, findCandidates, identityOf } from './candidates.js';
import type { Current, Generation } from './generation.js';

/** What came of looking at a file. */
export type Outcome = 'loaded' | 'unchanged' | 'failed' | 'held_back';

/** Why the newest file is not the one that is served. */
export interface Stale {
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface ReloadOptions {
  /** A snapshot file, or a folder whose newest whole file is served. */
  readonly path: string;
  /** A file that is read with every snapshot. */
  readonly companion: string | undefined;
  /** A file must not have been written for this long. */
  readonly settleMs: number;
  /** A snapshot that lost more than this share of the points is held back: 0.5 for half of them. */
  readonly maxShrink: number;
  readonly build: (task: BuildTask) => Promise<BuildResult>;
  /** Hears what came of each file looked at. */
  readonly onOutcome: (outcome: Outcome, seconds: number) => void;
  /** Hears of each generation before it is served. */
  readonly onLoaded: (generation: Generation) => void;
  /** Hears when a look is over, whatever came of it. */
  readonly onLooked: (reloader: Reloader) => void;
  readonly logger: Logger;
}

/** Keeps the current generation that of the newest good file. */
export interface Reloader {
  readonly current: Current;
  readonly stale: Stale | undefined;
  /**
   * Looks whether there is something newer and loads it; while it does, more calls make it look once
   * more. `accept` takes a snapshot that shrank, too, and tries again what failed before.
   */
  look: (accept?: boolean) => Promise<void>;
  close(): void;
}

/**
 * Loads the newest good file, then keeps looking when told to. A file that fails is logged once and the
 * old data stays. Throws an InputError when there is no good file to begin with.
 */
export async function startReloader(options: ReloadOptions): Promise<Reloader> {
  const { path, companion, settleMs, maxShrink, build, onOutcome, logger } = options;
  const closing = new AbortController();
  const refused = new Map<string, string>();
  let served: { generation: Generation; identity: string; beside: string } | undefined;
  let stale: Stale | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let accepts = false;

  function fail(reason: string, outcome: 'failed' | 'held_back', seconds: number): void {
    onOutcome(outcome, seconds);
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
      candidates = await findCandidates(path);
      if (candidates.length === 0) throw new InputError(`${path}: there is no file in this folder`);
    } catch (error) {
      return fail(problemText(error, path), 'failed', 0);
    }
    const beside = companion === undefined ? '' : await identityOf(companion);
    const sameBeside = beside === served?.beside;
    for (const identity of refused.keys()) {
      const isThere = candidates.some((one) => one.identity === identity);
      if (!isThere || !sameBeside) refused.delete(identity);
    }
    let reason: string | undefined;
    for (const candidate of candidates) {
      if (sameBeside && candidate.identity === served?.identity) break;
      const known = accept ? undefined : refused.get(candidate.identity);
      const refusal = known ?? (await tryCandidate(candidate, beside, accept));
      if (refusal === undefined) break;
      reason ??= refusal;
    }
    if (reason === undefined) clear();
  }

  /** Serves the file, or says why not. */
  async function tryCandidate(
    found: Candidate,
    beside: string,
    accept: boolean,
  ): Promise<string | undefined> {
    const still = served === undefined ? found : await awaitStill(found, settleMs, closing.signal);
    if (still === undefined) {
      again = true;
      return `${found.path}: it went away`;
    }
    const started = performance.now();
    const seconds = (): number => (performance.now() - started) / 1000;
    const old = served?.generation;
    try {
      const result = await build({ path: still.path, unless: old?.digest, signal: closing.signal });
      if (result === 'unchanged') {
        served = { generation: old!, identity: still.identity, beside };
        onOutcome('unchanged', seconds());
        return undefined;
      }
      const { count } = result.engine.dataset;
      const before = old?.engine.dataset.count ?? 0;
      if (!accept && count < before * (1 - maxShrink)) {
        const reason = `${still.path}: it has ${count} points where ${before} are served, a loss of more than ${maxShrink * 100} %; a reload that accepts it takes it all the same`;
        refused.set(still.identity, reason);
        fail(reason, 'held_back', seconds());
        return reason;
      }
      options.onLoaded(result);
      served = { generation: result, identity: still.identity, beside };
      onOutcome('loaded', seconds());
      if (old !== undefined) {
        logger.info({ path: still.path, points: count, seconds: seconds() }, 'snapshot loaded');
      }
      return undefined;
    } catch (error) {
      if (closing.signal.aborted) return 'closing';
      // written to while it was read: no verdict on what it has become
      const now = await findCandidates(still.path).catch(() => []);
      if (served !== undefined && now[0]?.identity !== still.identity) {
        again = true;
        return `${still.path}: it changed while it was read`;
      }
      const reason = problemText(error, still.path);
      refused.set(still.identity, reason);
      fail(reason, 'failed', seconds());
      return reason;
    }
  }

  async function run(): Promise<void> {
    do {
      again = false;
      const accept = accepts;
      accepts = false;
      await pass(accept);
      if (served !== undefined) options.onLooked(reloader);
    } while (again && !closing.signal.aborted);
  }

  const current: Current = {
    get generation() {
      return served!.generation;
    },
  };
  const reloader: Reloader = {
    current,
    get stale() {
      return stale;
    },
    look(accept = false) {
      accepts ||= accept;
      again = true;
      running ??= run().finally(() => {
        running = undefined;
      });
      return running;
    },
    close: () => closing.abort(),
  };
  await reloader.look();
  if (served === undefined) throw new InputError(stale?.reason ?? `${path}: nothing to serve`);
  if (stale !== undefined) logger.error({ ...stale }, 'snapshot refused, an older one is served');
  return reloader;
}

function problemText(error: unknown, path: string): string {
  if (error instanceof InputError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path}: there is no such file`;
  if (code === 'EACCES') return `${path}: no permission to read it`;
  return `${path}: ${message}`;
}
