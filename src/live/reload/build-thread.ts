import { createHash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { buildDataset } from '../../dataset/build.js';
import { InputError } from '../../errors.js';
import type { Notification } from '../../model/notification.js';
import { contentDigest } from '../../snapshot/files/digest.js';
import { openSnapshot } from '../../snapshot/files/open.js';
import type { GenerationParts } from '../generation.js';
import { stepBack } from '../priority.js';
import { checkChecksum } from './checksum.js';
import { isWant } from './refusals.js';

/** What a build is made from. */
export interface BuildRequest {
  readonly path: string;
  /** The file that has the SHA-256 of the snapshot, where there is one. */
  readonly checksumPath: string | undefined;
  readonly maxInvalid: number;
  readonly notificationsPath: string | undefined;
  /** The digest of what is served: nothing is built when the files still have it. */
  readonly unless: string | undefined;
}

/** What comes back. */
export type BuildReply =
  | { readonly kind: 'progress'; readonly bytesRead: number; readonly bytesTotal: number }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'built'; readonly parts: GenerationParts }
  /** Something is wrong in the file. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Memory, descriptors or the like were wanting; the file may be good. */
  | { readonly kind: 'failed'; readonly message: string };

/** How often the progress is told. */
const PROGRESS_MS = 50;
/** Share of the heap's limit beyond which a build fails: beyond the limit V8 ends the thread at once. */
const FULL_HEAP = 0.85;

const { stop } = workerData as { readonly stop: Int32Array };

/** Builds what is asked for, and replies. An error that is no InputError ends the thread. */
async function answer(request: BuildRequest): Promise<void> {
  const check = new Check();
  try {
    if (request.unless !== undefined) stepBack();
    await build(request, check);
  } catch (error) {
    if (check.failure !== undefined) {
      reply({ kind: 'failed', message: `${request.path}: ${check.failure}` });
      return;
    }
    if (!(error instanceof InputError)) throw error;
    // errors that are found after reading do not name the file
    const { message } = error;
    const { path, notificationsPath } = request;
    const isNamed = [path, notificationsPath].some((one) => one && message.includes(one));
    const kind = isWant(error) ? 'failed' : 'refused';
    reply({ kind, message: isNamed ? message : `${path}: ${message}` });
  }
}

async function build(request: BuildRequest, check: Check): Promise<void> {
  const { path, checksumPath, maxInvalid, notificationsPath, unless } = request;
  if (checksumPath !== undefined) await checkChecksum(path, checksumPath);
  const extra = notificationsPath === undefined ? [] : await readExtra(notificationsPath, check);
  const digestWith = (snapshot: string): string =>
    createHash('sha256').update(snapshot).update(JSON.stringify(extra)).digest('hex');
  if (unless !== undefined && digestWith(await contentDigest(path)) === unless) {
    reply({ kind: 'unchanged' });
    return;
  }
  let toldAt = Number.NEGATIVE_INFINITY;
  const onProgress = (bytesRead: number, bytesTotal: number): void => {
    check.look();
    const now = performance.now();
    if (now - toldAt < PROGRESS_MS && bytesRead < bytesTotal) return;
    toldAt = now;
    reply({ kind: 'progress', bytesRead, bytesTotal });
  };
  const reader = await openSnapshot(path, { maxInvalid, onProgress });
  try {
    // the first build may use all cores; later ones leave them to the requests
    const dataset = await buildDataset(reader, { inParallel: unless === undefined });
    const digest = digestWith(dataset.report.digest);
    reply({ kind: 'built', parts: { dataset, extra, digest, loadedAt: Date.now() } });
  } finally {
    reader.close();
  }
}

/** Ends a build that is to stop, or that would soon be ended with its thread. */
class Check {
  /** Why the build was ended; what reads the file may make another error of it. */
  failure: string | undefined;

  readonly look = (): void => {
    if (Atomics.load(stop, 0) === 1) this.#end('the build was stopped');
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    if (used < limit * FULL_HEAP) return;
    const [usedMb, limitMb] = [used, limit].map((bytes) => Math.round(bytes / 1e6));
    this.#end(`out of memory: ${usedMb} MB of ${limitMb} MB of the heap are used`);
  };

  #end(failure: string): never {
    this.failure = failure;
    throw new Error(failure);
  }
}

/**
 * Reads the notifications file. Its parsers are loaded here, since most services have no such file.
 */
async function readExtra(path: string, check: Check): Promise<readonly Notification[]> {
  const { readNotifications } = await import('../../snapshot/files/notifications.js');
  return readNotifications(path, check.look);
}

function reply(message: BuildReply): void {
  parentPort!.postMessage(message);
}

parentPort!.on('message', answer);
