import { hash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort } from 'node:worker_threads';
import { checkChecksum, contentDigest, openSnapshot } from '../formats/files/open.js';
import type { Progress } from '../formats/snapshot.js';
import { buildDataset } from '../index/build-dataset.js';
import { type Notification, packUnseen } from '../model/notification.js';
import { InputError } from '../model/quote.js';
import { stepBack } from './background.js';
import type { BuildReply, BuildRequest, Run } from './build.js';
import { CompanionError, isTransient } from './decide.js';

// entry of a thread that builds one generation and ends; an error that is no InputError ends it

if (!isMainThread) {
  const say = (said: BuildReply | Parameters<Progress>): void => parentPort!.postMessage(said);
  parentPort!.once('message', async (request: BuildRequest) => {
    if (!request.isFirst) stepBack();
    say(await run(request, (...progress) => say(progress)));
  });
}

/** What the thread does; tests with many builds spare themselves the thread. */
export async function run(...[request, onProgress]: Parameters<Run>): Promise<BuildReply> {
  try {
    return await build(request, onProgress);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // errors that are found after reading do not name the file
    const { path, name, notifications } = request;
    const message = error.message.replaceAll(path, () => name);
    const isNamed = [name, notifications].some((one) => one && message.includes(one));
    const ofFile = error instanceof CompanionError ? 'notifications' : 'snapshot';
    const fault = isTransient(error) ? 'transient' : ofFile;
    return { problem: isNamed ? message : `${name}: ${message}`, fault };
  }
}

async function build(request: BuildRequest, onProgress: Progress): Promise<BuildReply> {
  const { path, name, marks, checksum, unless, isFirst: inParallel = false } = request;
  const { maxInvalid, timeZone, notifications } = request;
  if (checksum !== undefined) await checkChecksum(path, name, checksum);
  const extra = notifications === undefined ? [] : await readExtra(notifications, timeZone);
  // at addresses that are kept for ever, caches would show times and filters of another zone
  const beside = JSON.stringify([extra, timeZone]);
  const digestWith = (snapshot: string): string => hash('sha256', snapshot + beside);
  const isServed = (snapshot: string): boolean => digestWith(snapshot) === unless;
  if (unless !== undefined && isServed(await contentDigest(path, isServed))) return 'unchanged';
  const threads = inParallel ? availableParallelism() : 1;
  const options = { maxInvalid, timeZone, threads, onProgress };
  const reader = await openSnapshot(path, options);
  try {
    // it is opened by name, as for its checksum: another file may have the name by now
    if (marks !== undefined && reader.marks !== marks) {
      throw new Error(`${name}: it changed while it was read`);
    }
    const built = await buildDataset(reader, { inParallel });
    const { notifications: own, ...report } = built.report;
    const digest = digestWith(report.digest);
    const further = new Set(extra.map(({ id }) => id));
    const unseen = packUnseen([...own.filter(({ id }) => !further.has(id)), ...extra]);
    // threads get the report at each merge
    const dataset = { ...built, report: { ...report, notifications: [] } };
    return { dataset, unseen, digest, loadedAt: Date.now() };
  } finally {
    reader.close();
  }
}

async function readExtra(
  path: string,
  timeZone: string | undefined,
): Promise<readonly Notification[]> {
  // loaded only here: most services have no such file
  const { readNotifications } = await import('../formats/files/notifications.js');
  return readNotifications(path, { timeZone }).catch((error) => {
    if (!(error instanceof InputError)) throw error;
    throw new CompanionError(error.message, { cause: error.cause });
  });
}
