import { Worker } from 'node:worker_threads';
import type { Progress } from '../formats/snapshot.js';
import { InputError } from '../model/quote.js';
import type { GenerationParts } from './current.js';
import { CompanionError } from './decide.js';

interface BuildTask {
  readonly path: string;
  /** The file's name in messages: the path may be that of a copy. */
  readonly name?: string;
  /** Marks of the file that settled, and the text of its checksum file, where there are some. */
  readonly marks?: string | undefined;
  readonly checksum?: string | undefined;
  /** The digest of the served generation: nothing is built when the files still have it. */
  readonly unless?: string | undefined;
  /** Whether nothing is served yet: then a build may use all cores. */
  readonly isFirst?: boolean;
}

interface BuildSettings {
  readonly maxInvalid: number;
  readonly timeZone?: string;
  readonly notifications?: string | undefined;
}

export type BuildRequest = BuildTask & BuildSettings & { readonly name: string };

export type BuildReply = BuildResult | { readonly problem: string; readonly fault: Fault };

/** What is to blame: a lack of memory, descriptors or the like, or one of the files. */
export type Fault = 'transient' | 'snapshot' | 'notifications';
const ERRORS = { transient: Error, snapshot: InputError, notifications: CompanionError } as const;

/** What a snapshot became, or that it is the one served. */
export type BuildResult = GenerationParts | 'unchanged';

/**
 * Builds the parts of a generation from a snapshot file. Throws an InputError for a bad file, a
 * CompanionError for bad notifications, and another Error for a lack of memory or file descriptors,
 * or when the thread died.
 */
export type Build = (task: BuildTask, onProgress?: Progress) => Promise<BuildResult>;

export type Run = (request: BuildRequest, onProgress: Progress) => Promise<BuildReply>;

/** Builds by `run`, else in a thread of its own, the first of which starts at once. */
export function createBuilder(
  { maxInvalid, timeZone = 'UTC', notifications }: BuildSettings,
  run: Run = createRunner(),
): Build {
  return async (task, onProgress = () => {}) => {
    const request = { name: task.path, ...task, maxInvalid, timeZone, notifications };
    const reply = await run(request, onProgress);
    if (reply === 'unchanged' || 'dataset' in reply) return reply;
    throw new ERRORS[reply.fault](reply.problem);
  };
}

function createRunner(): Run {
  let next: Worker | undefined = startThread();
  return (request, onProgress) => {
    const thread = next ?? startThread();
    next = undefined;
    thread.ref();
    thread.postMessage(request);
    return new Promise((resolve, reject) => {
      thread.on('message', (said: BuildReply | Parameters<Progress>) => {
        if (Array.isArray(said)) onProgress(...said);
        else resolve(said);
      });
      // such as out of memory
      thread.on('error', reject);
      thread.on('exit', (code) => reject(new Error(`the build thread ended with code ${code}`)));
    });
  };
}

/** Starts a thread that waits for a request; nothing else waits for it meanwhile. */
function startThread(): Worker {
  const thread = new Worker(new URL('./build-thread.js', import.meta.url));
  thread.unref();
  return thread;
}
