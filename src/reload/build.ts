import { Worker } from 'node:worker_threads';
import type { Progress } from '../formats/snapshot.js';
import { InputError } from '../model/quote.js';
import { createGeneration, type Generation, type GenerationParts } from './current.js';

/** What to build, and when not to. */
export interface BuildTask {
  readonly path: string;
  /** What messages call the file, which may be the copy of another. */
  readonly name?: string;
  /** The file that has the SHA-256 of the snapshot, where there is one. */
  readonly checksumPath?: string | undefined;
  /** The digest of what is served: nothing is built when the files still have it. */
  readonly unless: string | undefined;
  /** When rows were exported, where the time of their file does not say so. */
  readonly exportedAt?: number | undefined;
}

interface BuildSettings {
  readonly maxInvalid: number;
  readonly timeZone?: string;
  /** A file of notifications. */
  readonly notifications?: string | undefined;
}

/** What the thread that builds begins with. */
export type BuildRequest = BuildTask & BuildSettings & { readonly name: string };

/** What comes back. */
export type BuildReply =
  | { readonly kind: 'progress'; readonly bytesRead: number; readonly bytesTotal: number }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'built'; readonly parts: GenerationParts }
  /** Something is wrong in the file. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Memory, descriptors or the like were wanting; the file may be good. */
  | { readonly kind: 'failed'; readonly message: string };

/** A new generation, or word that there is nothing new. */
export type BuildResult = Generation | 'unchanged';

/**
 * Builds a generation from a snapshot file. Throws an InputError when something is wrong in the
 * file, and another Error when something was wanting to find that out: memory, file descriptors, or
 * the thread, which died.
 */
export type Build = (task: BuildTask, onProgress?: Progress) => Promise<BuildResult>;

/** Does what a request says, and tells what comes of it. */
export type Run = (request: BuildRequest, tell: (said: BuildReply) => void) => Promise<void>;

/**
 * Builds each generation by `run`, which is a thread of its own; this one only makes the objects of
 * its indexes.
 */
export function createBuilder(
  { maxInvalid, timeZone = 'UTC', notifications }: BuildSettings,
  run: Run = runInThread,
): Build {
  return async (task, onProgress) => {
    const request = { name: task.path, ...task, maxInvalid, timeZone, notifications };
    const reply = await new Promise<BuildReply>((resolve, reject) => {
      const running = run(request, (said) => {
        if (said.kind === 'progress') onProgress?.(said.bytesRead, said.bytesTotal);
        else resolve(said);
      });
      running.catch(reject);
    });
    if (reply.kind === 'built') return createGeneration(reply.parts);
    if (reply.kind === 'refused') throw new InputError(reply.message);
    if (reply.kind === 'failed') throw new Error(reply.message);
    return 'unchanged';
  };
}

function runInThread(request: BuildRequest, tell: (said: BuildReply) => void): Promise<void> {
  const url = new URL('./build-thread.js', import.meta.url);
  const worker = new Worker(url, { workerData: request });
  worker.on('message', tell);
  return new Promise((_, reject) => {
    // such as one of memory
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`the build thread ended with code ${code}`)));
  });
}
