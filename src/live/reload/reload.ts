import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { InputError } from '../../errors.js';
import type { Cell } from '../current.js';
import type { Candidate, Source } from '../source/source.js';
import { Attempt } from './attempt.js';
import type { Builder, BuildResult } from './build.js';
import { commit, HeldBack, type Rules } from './commit.js';
import { reclaimMemory } from './reclaim.js';
import { Refusals } from './refusals.js';
import type { ReloadStats } from './stats.js';
import { judge, type Look, type Refusal, type Verdict } from './verdict.js';

export interface ReloadOptions extends Rules {
  /** Where the generations go; nobody else writes to it. */
  readonly current: Cell;
  readonly source: Source;
  readonly builder: Builder;
  /** A candidate must not have changed for this long. */
  readonly settleMs: number;
  /** The pause after the first failure for want of something; it doubles each time. */
  readonly retryMs?: number;
  /** Hears what came of each file looked at. */
  readonly stats: Pick<ReloadStats, 'count'>;
  readonly logger: Logger;
}

/** What a look still waits for. */
export interface Waiting {
  /** A snapshot that has to hold still, or that is being built. */
  readonly for: 'settling' | 'building';
  readonly path: string;
}

/** A look that was asked for. */
export interface Looking {
  /** Resolves as soon as it is known what there is to wait for, if anything. */
  readonly found: Promise<Waiting | undefined>;
  /** Resolves when nothing is left to be waited for: what can be served is. */
  readonly done: Promise<void>;
}

/** Between two looks, however many events there are. */
const LOOK_STEP_MS = 25;
/** A build that follows an abandoned one is let run for at least this long, and twice as long as that one. */
const LEAST_PATIENCE_MS = 1_000;

/**
 * Keeps the current generation that of the newest good snapshot. Every event means: look again. A look lists what
 * there is, `judge` says what to do, and that is done; what was built is committed if it is good, and nothing changes
 * if it is not.
 */
export class Reloader {
  readonly #options: ReloadOptions;
  readonly #refusals: Refusals;
  #isClosed = false;
  /** The loop, while there is something to wait for. */
  #running: Promise<void> | undefined;
  /** Wakes the loop. */
  #ring = (): void => {};
  #isAsked = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #listeners: ((waiting: Waiting | undefined) => void)[] = [];
  #retryTimer: NodeJS.Timeout | undefined;

  /** Until nothing is left to wait for, a snapshot that shrank is taken too. */
  #isAccepting = false;
  #served: string | undefined;
  #seen: ReadonlyMap<string, number> = new Map();
  #stale: Refusal | undefined;
  #attempt: Attempt | undefined;
  #patienceMs = 0;
  #hasGarbage = false;

  constructor(options: ReloadOptions) {
    this.#options = options;
    this.#refusals = new Refusals(options.retryMs);
  }

  /**
   * Loads the newest good snapshot; one that is bad is logged and an older one is served. Throws an InputError
   * when there is none.
   */
  async load(): Promise<void> {
    const { current, source, logger } = this.#options;
    await this.look().done;
    if (current.isEmpty) {
      this.close();
      throw new InputError(current.stale?.reason ?? `${source.name}: nothing to serve`);
    }
    const stale = this.#stale;
    if (stale === undefined) return;
    const { path, reason } = stale;
    logger.error({ path, reason }, 'snapshot refused, an older one is served');
  }

  /**
   * Looks whether there is something newer, and loads it. `accept` takes a snapshot that shrank, too, and tries again
   * what failed before.
   */
  look(accept = false): Looking {
    if (accept) {
      this.#isAccepting = true;
      this.#refusals.clear();
    }
    this.#isAsked = true;
    this.#ring();
    const found = new Promise<Waiting | undefined>((resolve) => {
      this.#listeners.push(resolve);
    });
    this.#running ??= this.#run();
    return { found, done: this.#running };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.#attempt?.abandon();
    this.#ring();
  }

  async #run(): Promise<void> {
    for (let isBusy = true; isBusy && !this.#isClosed; ) {
      // events come in swarms, results do not
      const isDone = this.#attempt?.result !== undefined;
      if (!isDone) await pause(this.#lookedAt + LOOK_STEP_MS);
      this.#lookedAt = performance.now();
      this.#isAsked = false;
      const listeners = this.#listeners.splice(0);
      const rung = new Promise<void>((resolve) => {
        this.#ring = resolve;
      });
      await this.#conclude();
      const verdict = await this.#judge();
      const wakeAt = await this.#act(verdict);
      for (const tell of listeners) tell(this.#waitingFor(verdict));
      if (this.#isAsked) continue;
      isBusy = this.#attempt !== undefined || wakeAt !== undefined;
      if (isBusy) await pause(wakeAt, rung);
      else isBusy = await this.#rest();
    }
    if (this.#isClosed) await this.#attempt?.ended;
    if (this.#isClosed) for (const tell of this.#listeners.splice(0)) tell(undefined);
    // nothing is awaited from here on: whoever looks next begins another loop
    this.#running = undefined;
  }

  /** Gives back what only a loop needs. Returns whether somebody asked in the meantime. */
  async #rest(): Promise<boolean> {
    this.#isAccepting = false;
    // not earlier: there were references left to what is not served, or not any more
    if (this.#hasGarbage) reclaimMemory();
    this.#hasGarbage = false;
    await this.#options.builder.rest();
    return this.#isAsked;
  }

  /** Lists what there is, and says what to do about it. */
  async #judge(): Promise<Verdict> {
    const { current, settleMs } = this.#options;
    const found = await this.#list();
    const verdict = judge({
      now: performance.now(),
      found,
      // at the start the newest file that is whole is better than none
      settleMs: current.isEmpty ? 0 : settleMs,
      served: this.#served,
      refused: this.#refusals.byKey,
      seen: this.#seen,
      stale: this.#stale,
    });
    this.#seen = verdict.seen;
    this.#refusals.keep(verdict.seen);
    this.#show(verdict.stale);
    return verdict;
  }

  async #list(): Promise<Look['found']> {
    const { source } = this.#options;
    try {
      const listing = await source.list();
      this.#refusals.clearProblem();
      return listing;
    } catch (error) {
      return { problem: this.#refusals.addProblem(source.name, error) };
    }
  }

  /** Tells everybody what is stale, when it is something else than before. */
  #show(stale: Refusal | undefined): void {
    const { current, logger, stats } = this.#options;
    const isNews = stale?.reason !== this.#stale?.reason;
    this.#stale = stale;
    if (!isNews) return;
    if (stale === undefined) {
      current.tell({ stale });
      if (!current.isEmpty) logger.info('the newest snapshot is served');
      return;
    }
    const { path, reason } = stale;
    current.tell({ stale: { reason, since: current.stale?.since ?? Date.now() } });
    if (stale !== this.#refusals.problem) return;
    stats.count('failed', 0);
    if (!current.isEmpty) logger.error({ path, reason }, 'snapshot refused, the old one stays');
  }

  /** Begins a build, or abandons one. Returns when to look again, unless something happens before. */
  async #act({ next, settlesAt, retryAt, seen }: Verdict): Promise<number | undefined> {
    if (this.#isClosed) return undefined;
    clearTimeout(this.#retryTimer);
    if (retryAt !== undefined) {
      const ms = Math.ceil(retryAt - performance.now());
      this.#retryTimer = setTimeout(() => this.look(), ms).unref();
    }
    const attempt = this.#attempt;
    if (attempt === undefined) {
      if (next !== undefined) this.#begin(next.candidate, next.key);
    } else if (!seen.has(attempt.key) && (await attempt.state()) === 'written') {
      // what is read of it is neither the old file nor the new one
      attempt.abandon();
    } else if (next !== undefined && next.key !== attempt.key) {
      const { stats, logger } = this.#options;
      const { seconds, startedAt } = attempt;
      const patientUntil = startedAt + this.#patienceMs;
      if (performance.now() < patientUntil)
        return Math.min(patientUntil, settlesAt ?? patientUntil);
      attempt.abandon();
      this.#patienceMs = Math.max(LEAST_PATIENCE_MS, 2 * seconds * 1_000);
      stats.count('abandoned', seconds);
      const { path } = attempt.candidate;
      logger.info({ path, seconds }, 'build abandoned for a newer snapshot');
    }
    return settlesAt;
  }

  #begin(candidate: Candidate, key: string): void {
    const { current, source, builder } = this.#options;
    const { path } = candidate;
    const since = Date.now();
    const tell = (bytesRead: number, bytesTotal: number): void => {
      current.tell({ building: { path, since, bytesRead, bytesTotal } });
    };
    tell(0, 0);
    const unless = current.isEmpty ? undefined : current.generation.parts.digest;
    this.#attempt = new Attempt(source, candidate, key, (task) =>
      builder.build({ ...task, unless }, tell),
    );
    void this.#attempt.ended.then(() => this.#ring());
  }

  /** Takes the result of a build that has ended. */
  async #conclude(): Promise<void> {
    const attempt = this.#attempt;
    if (attempt?.result === undefined) return;
    const { current } = this.#options;
    const { result, seconds } = attempt;
    const state = await attempt.state();
    this.#attempt = undefined;
    current.tell({ building: undefined });
    if (this.#isClosed || result.kind === 'abandoned') return;
    if (result.kind === 'failed') {
      // no verdict on what it has become
      if (state === 'same') this.#refuse(attempt, seconds, result.error);
      return;
    }
    this.#hasGarbage ||= result.result !== 'unchanged';
    if (state !== 'written') await this.#commit(attempt, seconds, result.result);
  }

  async #commit(attempt: Attempt, seconds: number, result: BuildResult): Promise<void> {
    const { current, stats, logger } = this.#options;
    if (result !== 'unchanged') {
      const { path } = attempt.candidate;
      const isFirst = current.isEmpty;
      const before = isFirst || this.#isAccepting ? 0 : current.generation.count;
      const given = { current, before, rules: this.#options, logger };
      const objection = await commit(result, path, given);
      if (objection !== undefined) return this.#refuse(attempt, seconds, objection);
      this.#hasGarbage &&= !isFirst;
      if (!isFirst) logger.info({ path, points: result.count, seconds }, 'snapshot loaded');
    }
    this.#served = attempt.key;
    this.#patienceMs = 0;
    stats.count(result === 'unchanged' ? 'unchanged' : 'loaded', seconds);
  }

  /** Remembers what was wrong in a file until it changes, and for how long to wait after anything else. */
  #refuse({ key, candidate: { path } }: Attempt, seconds: number, error: unknown): void {
    const { current, stats, logger } = this.#options;
    const isOther = this.#refusals.add(key, path, error);
    const { reason } = this.#refusals.byKey.get(key)!;
    stats.count(error instanceof HeldBack ? 'held_back' : 'failed', seconds);
    if (isOther && reason !== this.#stale?.reason && !current.isEmpty) {
      logger.error({ path, reason }, 'snapshot refused, the old one stays');
    }
  }

  #waitingFor({ settling }: Verdict): Waiting | undefined {
    const building = this.#attempt?.candidate.path;
    if (building !== undefined) return { for: 'building', path: building };
    return settling && { for: 'settling', path: settling.path };
  }
}

/** Waits until a time or, where there is one, for the bell. */
async function pause(until = Number.POSITIVE_INFINITY, rung?: Promise<void>): Promise<void> {
  const timer = new AbortController();
  const { signal } = timer;
  const waits = rung === undefined ? [] : [rung];
  if (until < Number.POSITIVE_INFINITY) {
    const ms = Math.max(0, Math.ceil(until - performance.now()));
    waits.push(delay(ms, undefined, { signal }));
  }
  await Promise.race(waits);
  timer.abort();
}
