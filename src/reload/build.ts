import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Progress } from '../formats/snapshot.js';
import { sharedArray } from '../index/shared-array.js';
import { InputError } from '../model/quote.js';
import { restThread } from './background.js';
import type { BuildReply, BuildRequest } from './build-thread.js';
import { createGeneration, type Generation } from './generation.js';
import type { Candidate, Opened, Source } from './source/source.js';

/** What to build, and when not to. */
export interface BuildTask {
  readonly path: string;
  /** What messages call the file. */
  readonly name?: string;
  /** The file that has the SHA-256 of the snapshot, where there is one. */
  readonly checksumPath?: string | undefined;
  /** The digest of what is served: nothing is built when the files still have it. */
  readonly unless: string | undefined;
  /** When rows were exported, where the time of their file does not say so. */
  readonly exportedAt?: number | undefined;
  readonly signal?: AbortSignal;
}

/** A new generation, or word that there is nothing new. */
export type BuildResult = Generation | 'unchanged';

/** Builds generations from snapshot files in a thread of its own, one at a time. */
export interface Builder {
  /**
   * Throws an InputError when something is wrong in the file, and another Error when something was
   * wanting to find that out: memory, file descriptors, or the thread, which died.
   */
  build(task: BuildTask, onProgress?: Progress): Promise<BuildResult>;
  /** Lets the thread end; the next build starts another. */
  rest(): void;
}

type FinalReply = Exclude<BuildReply, { kind: 'progress' }>;

/** How long a thread may take to stop by itself, and how long to end. */
const STOP_MS = 2_000;

/** A thread that builds, and what rejects once it has died or was ended. */
interface BuildThread {
  readonly worker: Worker;
  /** Is set to 1 to stop the build. */
  readonly stop: Int32Array;
  readonly ended: Promise<never>;
}

/** Makes a builder; this thread only makes the few objects of the box index of each generation. */
export function createBuilder(settings: {
  readonly maxInvalid: number;
  readonly notifications?: string | undefined;
  readonly timeZone?: string;
}): Builder {
  // the thread is kept after a refusal: the next of many bad files need not wait for a thread to
  // start
  let idle: BuildThread | undefined;
  return {
    async build(task, onProgress = () => {}) {
      const { path, name = path, checksumPath, exportedAt, unless, signal } = task;
      signal?.throwIfAborted();
      const { maxInvalid, timeZone, notifications: notificationsPath } = settings;
      const files = { path, name, checksumPath, notificationsPath };
      const request = { ...files, exportedAt, unless, maxInvalid, timeZone };
      const thread = idle ?? startThread();
      idle = undefined;
      Atomics.store(thread.stop, 0, 0);
      const reply = await ask(thread, request, signal, onProgress);
      // what a thread has built stays in memory as long as the thread does; that of a build which was
      // stopped is not used again, whatever it replied at last
      if (reply.kind === 'refused' && !signal?.aborted) idle = thread;
      else restThread(thread.worker);
      signal?.throwIfAborted();
      if (reply.kind === 'refused') throw new InputError(reply.message);
      if (reply.kind === 'failed') throw new Error(reply.message);
      return reply.kind === 'unchanged' ? 'unchanged' : createGeneration(reply.parts);
    },
    rest() {
      if (idle !== undefined) restThread(idle.worker);
      idle = undefined;
    },
  };
}

function startThread(): BuildThread {
  const stop = sharedArray(Int32Array, 1);
  const worker = new Worker(new URL('./build-thread.js', import.meta.url), {
    workerData: { stop },
  });
  // rejects also when the thread dies of an error, running out of memory included
  const ended = once(worker, 'exit').then(([code]): never => {
    throw new Error(`the build thread ended with code ${code}`);
  });
  // nobody awaits the end of a thread that rests
  ended.catch(() => {});
  return { worker, stop, ended };
}

/** Resolves with the thread's reply. Rejects when it dies, or was ended because of the signal. */
async function ask(
  thread: BuildThread,
  request: BuildRequest,
  signal: AbortSignal | undefined,
  onProgress: Progress,
): Promise<FinalReply> {
  const { worker, ended } = thread;
  let hear = (_reply: BuildReply): void => {};
  const final = new Promise<FinalReply>((resolve) => {
    hear = (reply) => {
      if (reply.kind === 'progress') onProgress(reply.bytesRead, reply.bytesTotal);
      else resolve(reply);
    };
  });
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = () => resolve(stopBuild(thread, final));
  }).then((): never => {
    throw new Error('the build was stopped');
  });
  signal?.addEventListener('abort', stop);
  worker.on('message', hear);
  worker.postMessage(request);
  try {
    return await Promise.race([final, ended, stopped]);
  } finally {
    worker.off('message', hear);
    signal?.removeEventListener('abort', stop);
  }
}

/** Stops a build and ends its thread; resolves when it holds nothing any more. */
async function stopBuild(thread: BuildThread, final: Promise<FinalReply>): Promise<void> {
  Atomics.store(thread.stop, 0, 1);
  const limit = new AbortController();
  const late = delay(STOP_MS, 'late', { signal: limit.signal }).catch(() => 'late');
  const outcome = await Promise.race([final, thread.ended.catch(() => 'ended'), late]);
  limit.abort();
  if (outcome !== 'late') {
    restThread(thread.worker);
    return;
  }
  // one that hangs in the system, such as on a dead file server, cannot be ended: it is left behind
  await Promise.race([thread.worker.terminate(), delay(STOP_MS)]);
}

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
    onProgress: Progress,
  ) {
    this.candidate = candidate;
    this.key = key;
    this.ended = this.#run(source, build, onProgress);
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
    onProgress: Progress,
  ): Promise<void> {
    const { signal } = this.#controller;
    let result: AttemptResult;
    try {
      this.#opened = await source.open(this.candidate, { signal, onProgress });
      const { path, checksumPath, exportedAt } = this.#opened;
      const task = { path, name: this.candidate.path, checksumPath, exportedAt, signal };
      result = { kind: 'done', result: await build(task) };
    } catch (error) {
      result = signal.aborted ? { kind: 'abandoned' } : { kind: 'failed', error };
    }
    await this.#opened?.close?.().catch(() => {});
    this.result = result;
  }
}
