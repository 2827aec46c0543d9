import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DatasetParts } from '../index/dataset.js';
import type { Delta, DeltaRow } from '../index/delta.js';
import { restThread } from './background.js';

/** What a merge is made from: the rows below `length` of the delta become part of the dataset. */
export interface MergeTask {
  readonly parts: DatasetParts;
  readonly delta: Delta;
  readonly length: DeltaRow;
}

/** Merges in a thread of its own, of low priority. Rejects when the thread dies, as of memory. */
export async function mergeInThread(task: MergeTask): Promise<DatasetParts> {
  const worker = new Worker(new URL('./merge-thread.js', import.meta.url), { workerData: task });
  // a merge that is not finished is no reason to stay
  worker.unref();
  const ended = once(worker, 'exit').then(([code]): never => {
    throw new Error(`the merge thread ended with code ${code}`);
  });
  const merged = once(worker, 'message').then(([parts]) => parts as DatasetParts);
  try {
    return await Promise.race([merged, ended]);
  } finally {
    ended.catch(() => {});
    // what a thread has built stays in memory as long as the thread does
    restThread(worker);
  }
}
