import type { DatasetParts } from '../index/dataset.js';
import type { Delta, DeltaRow } from '../index/delta.js';
import { type Offer, startThread } from '../model/calls.js';
import { reclaimMemory, stepBack } from './background.js';

/** Makes rows of a delta, those below `length`, part of a dataset. */
export type Merge = (parts: DatasetParts, delta: Delta, length: DeltaRow) => Promise<DatasetParts>;

/** Requests go first, but posts may wait for a merge: at 10 it gets a tenth of a busy core. */
const PRIORITY = 5;

/** What the thread does that {@link createMerger} starts. */
export async function offer(): Promise<Offer> {
  const { mergeDataset } = await import('../index/merge-dataset.js');
  stepBack(PRIORITY);
  const merge: Merge = async (...given) => {
    const merged = mergeDataset(...given);
    // what was merged is another one's memory
    reclaimMemory();
    return merged;
  };
  return [{ merge }];
}

/**
 * Makes what merges in a thread of its own, of low priority. The thread stays: to load and compile
 * its code costs more than a merge. A merge rejects when the thread dies, as of memory; the next one
 * starts another.
 */
export function createMerger(): Merge {
  let merge: Merge | undefined;
  return (...given) => {
    if (merge === undefined) {
      const { thread, calls } = startThread<{ merge: Merge }>('merge', import.meta.url);
      thread.on('exit', () => {
        merge = undefined;
      });
      // a merge that is not finished is no reason to stay
      thread.unref();
      merge = (...task) => calls.call('merge', ...task);
    }
    return merge(...given);
  };
}
