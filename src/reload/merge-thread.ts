import { parentPort } from 'node:worker_threads';
import { mergeDataset } from '../index/merge-dataset.js';
import { Calls } from '../model/calls.js';
import { reclaimMemory, stepBack } from './background.js';

// entry of a thread that makes datasets of others and their deltas, and shares them

export type OfMerger = { merge: typeof mergeDataset };

/** Requests go first, but posts may wait for a merge: at 10 it gets a tenth of a busy core. */
const PRIORITY = 5;

stepBack(PRIORITY);
new Calls(parentPort!, {
  merge(...given) {
    const merged = mergeDataset(...given);
    // what was merged is another one's memory
    reclaimMemory();
    return merged;
  },
} satisfies OfMerger);
