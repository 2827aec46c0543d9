import { parentPort } from 'node:worker_threads';
import type { DatasetParts } from '../index/dataset.js';
import { mergeDataset } from '../index/merge-dataset.js';
import { Calls } from '../model/calls.js';
import { reclaimMemory, stepBack } from './background.js';
import type { MergeTask } from './beginning.js';

// entry of a thread that makes datasets of others and their deltas, and shares them

export type OfMerger = { merge(task: MergeTask): DatasetParts };

/** Requests go first, but posts may wait for a merge: at 10 it gets a tenth of a busy core. */
const PRIORITY = 5;

stepBack(PRIORITY);
new Calls(parentPort!, {
  merge({ parts, delta, length }) {
    const merged = mergeDataset(parts, delta, length);
    // what was merged is another one's memory
    reclaimMemory();
    return merged;
  },
} satisfies OfMerger);
