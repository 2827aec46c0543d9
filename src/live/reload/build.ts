import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { InputError } from '../../errors.js';
import type { Progress } from '../../snapshot/snapshot.js';
import { createGeneration, type Generation } from '../generation.js';
import type { BuildReply, BuildRequest } from './build-thread.js';

/** What to build, and when not to. */
export interface BuildTask {
  readonly path: string;
  /** The digest of what is served: nothing is built when the files still have it. */
  readonly unless: string | undefined;
  readonly signal?: AbortSignal;
}

/** A new generation, or word that there is nothing new. */
export type BuildResult = Generation | 'unchanged';

/**
 * Builds a generation from a snapshot file in a thread of its own; this thread only makes the few objects of the
 * box index. Throws an InputError when the file cannot be used, and an Error when the thread died.
 */
export async function buildGeneration(
  task: BuildTask,
  settings: { readonly maxInvalid: number; readonly notifications?: string | undefined },
  onProgress: Progress = () => {},
): Promise<BuildResult> {
  // it may have waited for its turn
  task.signal?.throwIfAborted();
  const request: BuildRequest = {
    path: task.path,
    unless: task.unless,
    maxInvalid: settings.maxInvalid,
    notificationsPath: settings.notifications,
  };
  const reply = await runThread(request, task.signal, onProgress);
  if (reply.kind === 'refused') throw new InputError(reply.message);
  if (reply.kind === 'unchanged') return 'unchanged';
  return createGeneration(reply.parts);
}

type FinalReply = Exclude<BuildReply, { kind: 'progress' }>;

async function runThread(
  request: BuildRequest,
  signal: AbortSignal | undefined,
  onProgress: Progress,
): Promise<FinalReply> {
  const thread = new Worker(new URL('./build-thread.js', import.meta.url), { workerData: request });
  const stop = (): void => void thread.terminate();
  signal?.addEventListener('abort', stop);
  const final = new Promise<FinalReply>((resolve) => {
    thread.on('message', (reply: BuildReply) => {
      if (reply.kind === 'progress') onProgress(reply.bytesRead, reply.bytesTotal);
      else resolve(reply);
    });
  });
  // rejects when the thread dies of an error, running out of memory included
  const ended = once(thread, 'exit').then(([code]): never => {
    throw new Error(`the build thread ended with code ${code}`);
  });
  try {
    return await Promise.race([final, ended]);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
