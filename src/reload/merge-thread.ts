import { parentPort, workerData } from 'node:worker_threads';
import { mergeDataset } from '../index/merge-dataset.js';
import { stepBack } from './background.js';
import type { MergeTask } from './beginning.js';

/** Requests go first, but posts may wait for a merge: at 10 it gets a tenth of a busy core. */
const PRIORITY = 5;

// entry of a thread that makes a dataset of another one and its delta, shares it, and ends
const { parts, delta, length } = workerData as MergeTask;
stepBack(PRIORITY);
parentPort!.postMessage(mergeDataset(parts, delta, length));
