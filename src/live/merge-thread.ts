import { parentPort, workerData } from 'node:worker_threads';
import { mergeDataset } from '../dataset/merge.js';
import type { MergeTask } from './merge.js';
import { stepBack } from './priority.js';

/** Requests go first, but posts may wait for a merge: at 10 it gets a tenth of a busy core. */
const PRIORITY = 5;

// entry of a thread that makes a dataset of another one and its tail, shares it, and ends
const { parts, tail, length } = workerData as MergeTask;
stepBack(PRIORITY);
parentPort!.postMessage(mergeDataset(parts, tail, length));
