import type { Logger } from 'pino';
import { reclaimMemory } from './background.js';
import { Attempt, type Builder, type BuildResult, type BuildTask } from './build.js';
import { commit, HeldBack, type Rules, type Serve } from './commit.js';
import type { Cell } from './current.js';
import type { Candidate, Source } from './source/source.js';
import type { ReloadStats } from './stats.js';
import { judge, type Look, type Refusal, Refusals, type Verdict } from './verdict.js';

export interface ReloadOptions extends Rules {
  /** What is served. */
  readonly current: Cell;
  /** Where the generations go. */
  readonly serve: Serve;
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

/** What a look came to. Times are those of `performance.now()`. */
export interface Outcome extends Pick<Verdict, 'settling' | 'retryAt'> {
  /** When to look again, unless something happens before. */
  readonly wakeAt: number | undefined;
}

/**
 * A build that follows an abandoned one may run for at least this long, and for twice as long as
 * that one ran.
 */
const LEAST_PATIENCE_MS = 1_000;

/**
 * Brings what is served closer to what there is, a look at a time: takes the result of a build that
 * has ended, lists what there is, has `judge` say what to do, and begins or abandons a build. What
 * was built is committed if it is good, and nothing changes if it is not. One look at a time.
 */
export class Reconciler {
  readonly #options: ReloadOptions;
  readonly #onEnded: () => void;
  readonly #refusals: Refusals;
  #isClosed = false;
  /** Until {@link rest}, a snapshot that shrank is taken too. */
  #isAccepting = false;
  #served: string | undefined;
  /** Until then what is served is built anew, too. */
  #isRenewing = false;
  #seen: ReadonlyMap<string, number> = new Map();
  #stale: Refusal | undefined;
  #attempt: Attempt | undefined;
  #patienceMs = 0;
  #hasGarbage = false;

  /** `onEnded` is called when a build has ended: it is time for a look. */
  constructor(options: ReloadOptions, onEnded: () => void) {
    this.#options = options;
    this.#onEnded = onEnded;
    this.#refusals = new Refusals(options.retryMs);
  }

  /** The build that is under way, or whose result has yet to be taken by a look. */
  get attempt(): Attempt | undefined {
    return this.#attempt;
  }

  /** Why the newest snapshot is not served, if so. */
  get stale(): Refusal | undefined {
    return this.#stale;
  }

  /** From now on takes a snapshot that shrank, too; and tries again what failed before. */
  accept(): void {
    this.#isAccepting = true;
    this.#refusals.clear();
  }

  /** Builds the newest snapshot anew, also where it is the one served. */
  renew(): void {
    this.#isRenewing = true;
    this.#served = undefined;
    this.#refusals.clear();
  }

  async look(): Promise<Outcome> {
    await this.#conclude();
    const verdict = await this.#judge();
    const wakeAt = await this.#act(verdict);
    return { settling: verdict.settling, retryAt: verdict.retryAt, wakeAt };
  }

  /** Gives back what only looks need: nothing is waited for any more. */
  rest(): void {
    this.#isAccepting = false;
    // not earlier: until now there were references to generations that are not served
    if (this.#hasGarbage) reclaimMemory();
    this.#hasGarbage = false;
    this.#options.builder.rest();
  }

  /** Abandons what is being built; nothing is begun any more. */
  close(): void {
    this.#isClosed = true;
    this.#attempt?.abandon();
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

  /**
   * Begins a build, or abandons one. Returns when to look again, unless something happens before.
   */
  async #act({ next, settlesAt, seen }: Verdict): Promise<number | undefined> {
    if (this.#isClosed) return undefined;
    const attempt = this.#attempt;
    if (attempt === undefined) {
      if (next !== undefined) this.#begin(next.candidate, next.key);
    } else if (!seen.has(attempt.key) && (await attempt.state()) === 'written') {
      // a file that is written while it is read is neither the old nor the new one
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
    const isNew = current.isEmpty || this.#isRenewing;
    const unless = isNew ? undefined : current.generation.parts.digest;
    const build = (task: Omit<BuildTask, 'unless'>): Promise<BuildResult> =>
      builder.build({ ...task, unless }, tell);
    this.#attempt = new Attempt(source, candidate, key, build, tell);
    void this.#attempt.ended.then(this.#onEnded);
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
    const { current, serve, stats, logger } = this.#options;
    if (result !== 'unchanged') {
      const { path } = attempt.candidate;
      const isFirst = current.isEmpty;
      const isSame = !isFirst && current.generation.parts.digest === result.parts.digest;
      const before = isFirst || isSame || this.#isAccepting ? 0 : current.generation.count;
      const given = { serve, before, rules: this.#options, logger };
      const objection = await commit(result, path, given);
      if (objection !== undefined) return this.#refuse(attempt, seconds, objection);
      this.#hasGarbage &&= !isFirst;
      if (!isFirst) logger.info({ path, points: result.count, seconds }, 'snapshot loaded');
    }
    if (result !== 'unchanged') this.#isRenewing = false;
    if (!this.#isRenewing) this.#served = attempt.key;
    this.#patienceMs = 0;
    stats.count(result === 'unchanged' ? 'unchanged' : 'loaded', seconds);
  }

  /**
   * Remembers what was wrong in a file until it changes, and for how long to wait after anything
   * else.
   */
  #refuse({ key, candidate: { path } }: Attempt, seconds: number, error: unknown): void {
    const { current, stats, logger } = this.#options;
    const isOther = this.#refusals.add(key, path, error);
    const { reason } = this.#refusals.byKey.get(key)!;
    stats.count(error instanceof HeldBack ? 'held_back' : 'failed', seconds);
    if (isOther && reason !== this.#stale?.reason && !current.isEmpty) {
      logger.error({ path, reason }, 'snapshot refused, the old one stays');
    }
  }
}
