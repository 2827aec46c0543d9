import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Leniency, requirePoints } from '../formats/snapshot.js';
import { InputError } from '../model/quote.js';
import { reclaimMemory } from './background.js';
import type { Build, BuildResult } from './build.js';
import type { Cell, GenerationParts } from './current.js';
import {
  type Before,
  CompanionError,
  candidatesOf,
  type Decision,
  decide,
  HeldBack,
  type Refusal,
  refusalKey,
  refusalOf,
  requireSize,
} from './decide.js';
import type { Candidate, Opened, Source } from './source/source.js';
import type { ReloadStats } from './stats.js';

/** Serves a snapshot from now on; resolves when all threads do. Rejects where it cannot yet. */
export type Serve = (parts: GenerationParts) => Promise<void>;

/** What somebody asks for who has the snapshot looked at. */
export type Order = 'retry' | 'accept';

export interface ReloadOptions extends Leniency {
  readonly current: Cell;
  readonly serve: Serve;
  readonly source: Source;
  readonly build: Build;
  /** A candidate must not have changed for this long. */
  readonly settleMs: number;
  /** A snapshot that lost more than this share of the points is held back: 0.5 for half of them. */
  readonly maxShrink: number;
  /** The pause after the first failure for a lack of memory or the like; it doubles each time. */
  readonly retryMs?: number;
  readonly stats: Pick<ReloadStats, 'count'>;
  readonly logger: Logger;
}

/** Least time between two looks, however many events there are. */
const LOOK_STEP_MS = 25;
/** Looks at folders of many files take this share of the time at most. */
const MOST_LOOKING = 1 / 10;
const RETRY_MS = 1_000;
const PROGRESS_MS = 50;

/** What was read is neither the old nor the new file. */
const OVERTAKEN = new Error('The file was written to while it was read.');

/**
 * Serves the newest good snapshot. Every event means: look again. A look lists what there is and
 * decides; a build runs to its end and is committed if it is good; then comes the next look.
 */
export class Reloader {
  readonly #options: ReloadOptions;
  #before: Before = { seen: new Map(), refused: new Map(), stale: undefined };
  readonly #closing = new AbortController();
  /** The loop, while there is something to wait for. */
  #running: Promise<void> | undefined;
  /** Aborted where another look is asked for: wakes a loop that waits for a candidate to settle. */
  #bell = new AbortController();
  #retryTimer: NodeJS.Timeout | undefined;
  /** By `performance.now()`. */
  #nextLookAt = Number.NEGATIVE_INFINITY;
  /** Whether a snapshot that shrank is taken, too, until the loop ends. */
  #isAccepting = false;
  /** Whether the served snapshot is to be built anew. */
  #isRenewing = false;
  /** The identity of the candidate that is served. */
  #served: string | undefined;
  /** Toggled by each refusal: bad files that keep coming must not keep a good one waiting. */
  #inTurn = false;

  constructor(options: ReloadOptions) {
    this.#options = options;
  }

  /** Loads the newest good snapshot; logs a bad one. Throws an InputError where none is good. */
  async load(): Promise<void> {
    const { current, source, logger } = this.#options;
    await this.look();
    if (current.isEmpty) {
      this.close();
      throw new InputError(this.#before.stale?.reason ?? `${source.name}: nothing to serve`);
    }
    if (this.#before.stale === undefined) return;
    const { path, reason } = this.#before.stale;
    logger.error({ path, reason }, 'snapshot refused, an older one is served');
  }

  /**
   * Loads what is newer. By an `order` of somebody, downloads that were refused are tried again at
   * once; `accept` does so with files, too, and takes a snapshot that shrank. Resolves when what can
   * be served is.
   */
  look(order?: Order): Promise<void> {
    if (order === 'accept') this.#isAccepting = true;
    const { isRemote } = this.#options.source;
    if (order === 'accept' || (order === 'retry' && isRemote)) this.#before.refused.clear();
    this.#bell.abort();
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Builds the newest snapshot anew, also where it is the one served. */
  renew(): void {
    this.#isRenewing = true;
    this.#served = undefined;
    this.#before.refused.clear();
    void this.look();
  }

  /** Begins nothing any more; what is being built is not served. */
  close(): void {
    this.#closing.abort();
    clearTimeout(this.#retryTimer);
    this.#bell.abort();
  }

  async #run(): Promise<void> {
    const closed = this.#closing.signal;
    let hasBuilt = false;
    for (;;) {
      // events come in swarms
      await sleep(this.#nextLookAt, closed);
      if (closed.aborted) break;
      this.#bell = new AbortController();
      const { next, settlesAt } = await this.#look();
      if (next !== undefined) {
        hasBuilt = true;
        await this.#load(next);
      } else if (!this.#bell.signal.aborted) {
        if (settlesAt === Number.POSITIVE_INFINITY) break;
        await sleep(settlesAt, this.#bell.signal);
      }
    }
    this.#isAccepting = false;
    // not earlier: until now there were references to generations that are not served
    if (hasBuilt) reclaimMemory();
    // nothing is awaited from here on: whoever looks next begins another loop
    this.#running = undefined;
  }

  async #look(): Promise<Decision> {
    const { current, source, settleMs } = this.#options;
    const now = performance.now();
    const decision = decide({
      now,
      candidates: await candidatesOf(source),
      // at the start the newest file that is whole is better than none
      settleMs: current.isEmpty ? 0 : settleMs,
      served: this.#served,
      inTurn: this.#inTurn,
      ...this.#before,
    });
    const end = performance.now();
    // nobody is answered meanwhile before the first snapshot is served
    const pause = source.isRemote || current.isEmpty ? 0 : (end - now) / MOST_LOOKING;
    this.#nextLookAt = Math.max(now + LOOK_STEP_MS, end + pause);
    this.#show(decision.stale);
    this.#before = decision;
    clearTimeout(this.#retryTimer);
    if (decision.retryAt < Number.POSITIVE_INFINITY && !this.#closing.signal.aborted) {
      const ms = Math.ceil(decision.retryAt - end);
      this.#retryTimer = setTimeout(() => void this.look(), ms).unref();
    }
    return decision;
  }

  #show(stale: Refusal | undefined): void {
    const { current, logger } = this.#options;
    if (stale?.reason === this.#before.stale?.reason) return;
    const since = current.stale?.since ?? Date.now();
    current.tell({ stale: stale && { reason: stale.reason, since } });
    if (stale === undefined && !current.isEmpty) logger.info('the newest snapshot is served');
  }

  async #load(candidate: Candidate): Promise<void> {
    const { current, stats, logger, retryMs = RETRY_MS } = this.#options;
    const { path, identity } = candidate;
    const began = performance.now();
    const seconds = (): number => Math.round(performance.now() - began) / 1000;
    try {
      const result = await this.#build(candidate);
      if (this.#closing.signal.aborted) return;
      if (result !== 'unchanged') await this.#commit(result, path, seconds());
      if (!this.#isRenewing) this.#served = identity;
      this.#inTurn = false;
      stats.count(result === 'unchanged' ? 'unchanged' : 'loaded', seconds());
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      if (error === OVERTAKEN) return stats.count('abandoned', seconds());
      const key = refusalKey(candidate, error);
      const before = this.#before.refused.get(key);
      const refusal = refusalOf(path, error, before, retryMs);
      const { reason } = refusal;
      this.#before.refused.set(key, refusal);
      this.#inTurn = !this.#inTurn;
      // what cannot be listed fails again at each look
      const isCounted = candidate.problem === undefined || before === undefined;
      if (isCounted) stats.count(error instanceof HeldBack ? 'held_back' : 'failed', seconds());
      const isNews = reason !== before?.reason && reason !== this.#before.stale?.reason;
      if (isNews && !current.isEmpty) {
        logger.error({ path, reason }, 'snapshot refused, the old one stays');
      }
    }
  }

  /** Throws {@link OVERTAKEN} where the file changed while it was built. */
  async #build(candidate: Candidate): Promise<BuildResult> {
    if (candidate.problem !== undefined) throw candidate.problem;
    const { current, source, build } = this.#options;
    const { path } = candidate;
    const since = Date.now();
    let tellsAt = 0;
    const tell = (bytesRead: number, bytesTotal: number): void => {
      if (performance.now() < tellsAt) return;
      tellsAt = performance.now() + PROGRESS_MS;
      current.tell({ building: { path, since, bytesRead, bytesTotal } });
    };
    tell(0, 0);
    let opened: Opened | undefined;
    // a file that cannot be looked at may have been written to while it was read
    const state = async (): Promise<string> => opened?.state().catch(() => 'written') ?? 'same';
    try {
      opened = await source.open(candidate, tell);
      const isFirst = current.isEmpty;
      const isNew = isFirst || this.#isRenewing;
      const unless = isNew ? undefined : current.generation.parts.digest;
      const { path: file, marks, checksum } = opened;
      const task = { path: file, name: path, marks, checksum, unless, isFirst };
      const result = await build(task, tell);
      // a file that another was renamed over was read whole
      if ((await state()) === 'written') throw OVERTAKEN;
      if (result !== 'unchanged') requirePoints(path, result.dataset.report, this.#options);
      return result;
    } catch (error) {
      if ((await state()) !== 'same') throw OVERTAKEN;
      // bytes may have been damaged on their way
      if (!source.isRemote || error instanceof CompanionError) throw error;
      const cause = error instanceof InputError ? error : undefined;
      throw new Error((error as Error).message, { cause });
    } finally {
      await opened?.close?.().catch(() => {});
      current.tell({ building: undefined });
    }
  }

  /** Throws why the snapshot is not served. */
  async #commit(parts: GenerationParts, path: string, seconds: number): Promise<void> {
    const { current, serve, maxShrink, logger } = this.#options;
    const { dataset, digest } = parts;
    const { count, report } = dataset;
    const { invalid, problems, unknownKeys } = report;
    const isFirst = current.isEmpty;
    if (!isFirst && !this.#isAccepting && current.generation.parts.digest !== digest) {
      // posts that were merged are no loss: the new snapshot gets them, too
      requireSize(path, count, current.generation.parts.dataset.report.points, maxShrink);
    }
    if (invalid > 0) logger.warn({ invalid, problems }, 'invalid records left out');
    if (Object.keys(unknownKeys).length > 0) logger.warn({ unknownKeys }, 'unknown keys dropped');
    await serve(parts).catch((error: Error) => {
      // without its cause: what the system said of the journal says nothing of the snapshot
      throw new Error(error.message);
    });
    this.#isRenewing = false;
    if (!isFirst) logger.info({ path, points: count, seconds }, 'snapshot loaded');
  }
}

async function sleep(until: number, signal: AbortSignal): Promise<void> {
  const ms = Math.ceil(until - performance.now());
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => {});
}
