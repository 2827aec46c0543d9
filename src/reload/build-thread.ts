import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { checkChecksum, contentDigest, openSnapshot } from '../formats/files/open.js';
import { buildDataset } from '../index/build-dataset.js';
import type { Notification } from '../model/notification.js';
import { InputError } from '../model/quote.js';
import { stepBack } from './background.js';
import type { BuildReply, BuildRequest, Run } from './build.js';
import { isWant } from './decide.js';

// entry of a thread that builds one generation and ends; an error that is no InputError ends it

if (!isMainThread) {
  const request = workerData as BuildRequest;
  if (request.unless !== undefined) stepBack();
  await run(request, (said) => parentPort!.postMessage(said));
}

/** What the thread does; tests with many builds spare themselves the thread. */
export async function run(...[request, tell]: Parameters<Run>): Promise<void> {
  try {
    await build(request, tell);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // errors that are found after reading do not name the file
    const { path, name, notifications } = request;
    const message = error.message.replaceAll(path, () => name);
    const isNamed = [name, notifications].some((one) => one && message.includes(one));
    const kind = isWant(error) ? 'failed' : 'refused';
    tell({ kind, message: isNamed ? message : `${name}: ${message}` });
  }
}

async function build(request: BuildRequest, tell: (said: BuildReply) => void): Promise<void> {
  const { path, name, checksumPath, exportedAt, unless } = request;
  const { maxInvalid, timeZone, notifications } = request;
  if (checksumPath !== undefined) await checkChecksum(path, checksumPath, basename(name));
  const extra = notifications === undefined ? [] : await readExtra(notifications, timeZone);
  const digestWith = (snapshot: string): string =>
    createHash('sha256').update(snapshot).update(JSON.stringify(extra)).digest('hex');
  const isServed = (snapshot: string): boolean => digestWith(snapshot) === unless;
  if (unless !== undefined && isServed(await contentDigest(path, isServed))) {
    tell({ kind: 'unchanged' });
    return;
  }
  const onProgress = (bytesRead: number, bytesTotal: number): void =>
    tell({ kind: 'progress', bytesRead, bytesTotal });
  // the first build may use all cores; later ones leave them to the requests
  const inParallel = unless === undefined;
  const threads = inParallel ? availableParallelism() : 1;
  const options = { maxInvalid, timeZone, exportedAt, threads, onProgress };
  const reader = await openSnapshot(path, options);
  try {
    const dataset = await buildDataset(reader, { inParallel });
    const digest = digestWith(dataset.report.digest);
    tell({ kind: 'built', parts: { dataset, extra, digest, loadedAt: Date.now() } });
  } finally {
    reader.close();
  }
}

/**
 * Reads the notifications file. Its parsers are loaded here, since most services have no such file.
 */
async function readExtra(
  path: string,
  timeZone: string | undefined,
): Promise<readonly Notification[]> {
  const { readNotifications } = await import('../formats/files/notifications.js');
  return readNotifications(path, { timeZone });
}
