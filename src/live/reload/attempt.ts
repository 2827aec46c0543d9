import type { Candidate, Opened, Source } from '../source/source.js';
import type { BuildResult, BuildTask } from './build.js';

/** What came of a build. */
export type AttemptResult =
  | { readonly kind: 'done'; readonly result: BuildResult }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'abandoned' };

/** A candidate that is being built. */
export class Attempt {
  readonly candidate: Candidate;
  readonly key: string;
  /** By `performance.now()`. */
  readonly startedAt: number = performance.now();
  /** Resolves when there is a result. */
  readonly ended: Promise<void>;
  result: AttemptResult | undefined;
  #opened: Opened | undefined;
  readonly #controller = new AbortController();

  constructor(
    source: Source,
    candidate: Candidate,
    key: string,
    build: (task: Omit<BuildTask, 'unless'>) => Promise<BuildResult>,
  ) {
    this.candidate = candidate;
    this.key = key;
    this.ended = this.#run(source, build);
  }

  /** To the millisecond, as they are logged. */
  get seconds(): number {
    return Math.round(performance.now() - this.startedAt) / 1000;
  }

  abandon(): void {
    this.#controller.abort();
  }

  /**
   * What has become of the candidate since it was listed. One that cannot be looked at counts as
   * written: what was read of it may be neither the old nor the new one.
   */
  async state(): Promise<'same' | 'replaced' | 'written'> {
    try {
      return (await this.#opened?.state()) ?? 'same';
    } catch {
      return 'written';
    }
  }

  async #run(
    source: Source,
    build: (task: Omit<BuildTask, 'unless'>) => Promise<BuildResult>,
  ): Promise<void> {
    const { signal } = this.#controller;
    try {
      this.#opened = await source.open(this.candidate);
      const { path, checksumPath } = this.#opened;
      this.result = { kind: 'done', result: await build({ path, checksumPath, signal }) };
    } catch (error) {
      this.result = signal.aborted ? { kind: 'abandoned' } : { kind: 'failed', error };
    }
  }
}
