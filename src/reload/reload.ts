import { setTimeout as delay } from 'node:timers/promises';
import { InputError } from '../model/quote.js';
import { type Outcome, Reconciler, type ReloadOptions } from './reconcile.js';

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

/** Least time between two looks, however many events there are. */
const LOOK_STEP_MS = 25;

/**
 * Keeps the current generation that of the newest good snapshot. Every event means: look again. The
 * loop takes looks until there is nothing left to wait for; its {@link Reconciler} does what they
 * come to.
 */
export class Reloader {
  readonly #options: ReloadOptions;
  readonly #reconciler: Reconciler;
  #isClosed = false;
  /** The loop, while there is something to wait for. */
  #running: Promise<void> | undefined;
  /** Wakes the loop. */
  #ring = (): void => {};
  #isAsked = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #listeners: ((waiting: Waiting | undefined) => void)[] = [];
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(options: ReloadOptions) {
    this.#options = options;
    this.#reconciler = new Reconciler(options, () => this.#ring());
  }

  /**
   * Loads the newest good snapshot; one that is bad is logged and an older one is served. Throws an
   * InputError when there is none.
   */
  async load(): Promise<void> {
    const { current, source, logger } = this.#options;
    await this.look().done;
    if (current.isEmpty) {
      this.close();
      throw new InputError(current.stale?.reason ?? `${source.name}: nothing to serve`);
    }
    const { stale } = this.#reconciler;
    if (stale === undefined) return;
    const { path, reason } = stale;
    logger.error({ path, reason }, 'snapshot refused, an older one is served');
  }

  /**
   * Looks whether there is something newer, and loads it. `accept` takes a snapshot that shrank,
   * too, and tries again what failed before.
   */
  look(accept = false): Looking {
    if (accept) this.#reconciler.accept();
    this.#isAsked = true;
    this.#ring();
    const found = new Promise<Waiting | undefined>((resolve) => {
      this.#listeners.push(resolve);
    });
    this.#running ??= this.#run();
    return { found, done: this.#running };
  }

  /** Builds the newest snapshot anew, also where it is the one served. */
  renew(): void {
    this.#reconciler.renew();
    this.look();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.#reconciler.close();
    this.#ring();
  }

  async #run(): Promise<void> {
    const reconciler = this.#reconciler;
    for (let isBusy = true; isBusy && !this.#isClosed; ) {
      // events come in swarms; the result of a build is taken at once
      const isDone = reconciler.attempt?.result !== undefined;
      if (!isDone) await pause(this.#lookedAt + LOOK_STEP_MS);
      this.#lookedAt = performance.now();
      this.#isAsked = false;
      const listeners = this.#listeners.splice(0);
      const rung = new Promise<void>((resolve) => {
        this.#ring = resolve;
      });
      const outcome = await reconciler.look();
      this.#retryLater(outcome);
      for (const tell of listeners) tell(this.#waitingFor(outcome));
      if (this.#isAsked) continue;
      const { wakeAt } = outcome;
      isBusy = reconciler.attempt !== undefined || wakeAt !== undefined;
      if (isBusy) await pause(wakeAt, rung);
      else reconciler.rest();
    }
    if (this.#isClosed) await reconciler.attempt?.ended;
    if (this.#isClosed) for (const tell of this.#listeners.splice(0)) tell(undefined);
    // nothing is awaited from here on: whoever looks next begins another loop
    this.#running = undefined;
  }

  /**
   * Sets a timer for the next try of what failed for want of memory, descriptors or the like; the
   * loop does not wait for it.
   */
  #retryLater({ retryAt }: Outcome): void {
    if (this.#isClosed) return;
    clearTimeout(this.#retryTimer);
    if (retryAt === undefined) return;
    const ms = Math.ceil(retryAt - performance.now());
    this.#retryTimer = setTimeout(() => this.look(), ms).unref();
  }

  #waitingFor({ settling }: Outcome): Waiting | undefined {
    const building = this.#reconciler.attempt?.candidate.path;
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
