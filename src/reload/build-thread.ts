import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { checkChecksum, contentDigest, openSnapshot } from '../formats/files/open.js';
import { buildDataset } from '../index/build-dataset.js';
import type { Notification } from '../model/notification.js';
import { InputError } from '../model/quote.js';
import { stepBack } from './background.js';
import type { GenerationParts } from './generation.js';
import { isWant } from './verdict.js';

/** What a build is made from. */
export interface BuildRequest {
  readonly path: string;
  /** What messages call the file, which may be the copy of another. */
  readonly name: string;
  /** The file that has the SHA-256 of the snapshot, where there is one. */
  readonly checksumPath: string | undefined;
  /** As readers take it. */
  readonly exportedAt: number | undefined;
  readonly maxInvalid: number;
  readonly timeZone: string | undefined;
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

const { stop } = workerData as { readonly stop: Int32Array };

/** Builds what is asked for, and replies. An error that is no InputError ends the thread. */
async function answer(request: BuildRequest): Promise<void> {
  try {
    if (request.unless !== undefined) stepBack();
    await build(request);
  } catch (error) {
    // what reads the file may have made another error of it
    if (isStopped()) {
      reply({ kind: 'failed', message: `${request.path}: the build was stopped` });
      return;
    }
    if (!(error instanceof InputError)) throw error;
    // errors that are found after reading do not name the file
    const { path, name, notificationsPath } = request;
    const message = error.message.replaceAll(path, () => name);
    const isNamed = [name, notificationsPath].some((one) => one && message.includes(one));
    const kind = isWant(error) ? 'failed' : 'refused';
    reply({ kind, message: isNamed ? message : `${name}: ${message}` });
  }
}

async function build(request: BuildRequest): Promise<void> {
  const { path, name, checksumPath, maxInvalid, timeZone, notificationsPath, unless } = request;
  if (checksumPath !== undefined) await checkChecksum(path, checksumPath, basename(name));
  const extra = notificationsPath === undefined ? [] : await readExtra(notificationsPath, timeZone);
  const digestWith = (snapshot: string): string =>
    createHash('sha256').update(snapshot).update(JSON.stringify(extra)).digest('hex');
  const isServed = (snapshot: string): boolean => digestWith(snapshot) === unless;
  if (unless !== undefined && isServed(await contentDigest(path, isServed))) {
    reply({ kind: 'unchanged' });
    return;
  }
  let toldAt = Number.NEGATIVE_INFINITY;
  const onProgress = (bytesRead: number, bytesTotal: number): void => {
    checkStop();
    const now = performance.now();
    if (now - toldAt < PROGRESS_MS && bytesRead < bytesTotal) return;
    toldAt = now;
    reply({ kind: 'progress', bytesRead, bytesTotal });
  };
  const { exportedAt } = request;
  // the first build may use all cores; later ones leave them to the requests
  const inParallel = unless === undefined;
  const threads = inParallel ? availableParallelism() : 1;
  const options = { maxInvalid, timeZone, exportedAt, threads, onProgress };
  const reader = await openSnapshot(path, options);
  try {
    const dataset = await buildDataset(reader, { inParallel });
    const digest = digestWith(dataset.report.digest);
    reply({ kind: 'built', parts: { dataset, extra, digest, loadedAt: Date.now() } });
  } finally {
    reader.close();
  }
}

function isStopped(): boolean {
  return Atomics.load(stop, 0) === 1;
}

/** Ends a build that is to stop. */
function checkStop(): void {
  if (isStopped()) throw new Error('the build was stopped');
}

/**
 * Reads the notifications file. Its parsers are loaded here, since most services have no such file.
 */
async function readExtra(
  path: string,
  timeZone: string | undefined,
): Promise<readonly Notification[]> {
  const { readNotifications } = await import('../formats/files/notifications.js');
  return readNotifications(path, { timeZone, onProgress: checkStop });
}

function reply(message: BuildReply): void {
  parentPort!.postMessage(message);
}

parentPort!.on('message', answer);
