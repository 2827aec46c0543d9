import { parentPort, workerData } from 'node:worker_threads';
import { mergeDataset } from '../dataset/merge.js';
import type { MergeTask } from './merge.js';
import { stepBack } from './priority.js';

// entry of a thread that makes a dataset of another one and its tail, shares it, and ends
const { parts, tail, length } = workerData as MergeTask;
stepBack();
parentPort!.postMessage(mergeDataset(parts, tail, length));
