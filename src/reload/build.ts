import { Worker } from 'node:worker_threads';
import type { Progress } from '../formats/snapshot.js';
import { InputError } from '../model/quote.js';
import { createGeneration, type Generation, type GenerationParts } from './current.js';
import { CompanionError } from './decide.js';

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

/** What comes of a request. */
export type BuildReply =
  | 'unchanged'
  | { readonly parts: GenerationParts }
  | { readonly problem: string; readonly fault: Fault };

/** Where it lies: memory, descriptors or the like were wanting, or something is wrong in a file. */
export type Fault = 'want' | 'snapshot' | 'notifications';
const ERRORS = { want: Error, snapshot: InputError, notifications: CompanionError } as const;

/** A new generation, or word that there is nothing new. */
export type BuildResult = Generation | 'unchanged';

/**
 * Builds a generation from a snapshot file. Throws an InputError when something is wrong in the
 * file, a CompanionError when it is wrong in the notifications, and another Error when something was
 * wanting to find that out: memory, file descriptors, or the thread, which died.
 */
export type Build = (task: BuildTask, onProgress?: Progress) => Promise<BuildResult>;

/** Does what a request says. */
export type Run = (request: BuildRequest, onProgress: Progress) => Promise<BuildReply>;

/**
 * Builds each generation by `run`, which is a thread of its own; this one only makes the objects of
 * its indexes.
 */
export function createBuilder(
  { maxInvalid, timeZone = 'UTC', notifications }: BuildSettings,
  run: Run = runInThread,
): Build {
  return async (task, onProgress = () => {}) => {
    const request = { name: task.path, ...task, maxInvalid, timeZone, notifications };
    const reply = await run(request, onProgress);
    if (reply === 'unchanged') return reply;
    if ('parts' in reply) return createGeneration(reply.parts);
    throw new ERRORS[reply.fault](reply.problem);
  };
}

function runInThread(request: BuildRequest, onProgress: Progress): Promise<BuildReply> {
  const url = new URL('./build-thread.js', import.meta.url);
  const worker = new Worker(url, { workerData: request });
  return new Promise((resolve, reject) => {
    worker.on('message', (said: BuildReply | Parameters<Progress>) => {
      if (Array.isArray(said)) onProgress(...said);
      else resolve(said);
    });
    // such as one of memory
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`the build thread ended with code ${code}`)));
  });
}
