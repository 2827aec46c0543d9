import { parentPort, workerData } from 'node:worker_threads';
import { buildDataset, memoryOf } from '../dataset/build.js';
import type { DatasetParts } from '../dataset/dataset.js';
import { InputError } from '../errors.js';
import { readNotifications } from '../snapshot/notifications.js';
import { openSnapshot } from '../snapshot/open.js';
import type { Notification } from '../snapshot/snapshot.js';

/** What a build is made from. */
export interface BuildRequest {
  readonly path: string;
  readonly maxInvalid: number;
  readonly notificationsPath: string | undefined;
}

/** What comes back: the memory of the parts changes hands. */
export type BuildReply =
  | { readonly kind: 'progress'; readonly bytesRead: number; readonly bytesTotal: number }
  | {
      readonly kind: 'built';
      readonly parts: DatasetParts;
      readonly extra: readonly Notification[];
    }
  | { readonly kind: 'refused'; readonly message: string };

/** Entry of the worker thread: builds what its workerData asks for, replies, and ends. */
async function main(): Promise<void> {
  const { path, maxInvalid, notificationsPath } = workerData as BuildRequest;
  const reply = (message: BuildReply): void => parentPort!.postMessage(message);
  try {
    const extra = notificationsPath === undefined ? [] : await readNotifications(notificationsPath);
    const onProgress = (bytesRead: number, bytesTotal: number): void => {
      reply({ kind: 'progress', bytesRead, bytesTotal });
    };
    const reader = await openSnapshot(path, { maxInvalid, onProgress });
    try {
      const parts = await buildDataset(reader);
      parentPort!.postMessage(
        { kind: 'built', parts, extra } satisfies BuildReply,
        memoryOf(parts),
      );
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    reply({ kind: 'refused', message: error.message });
  }
}

await main();
