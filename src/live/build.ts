import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { assembleDataset } from '../dataset/dataset.js';
import { InputError } from '../errors.js';
import type { Progress } from '../snapshot/snapshot.js';
import type { BuildReply, BuildRequest } from './build-thread.js';
import { createGeneration, type Generation } from './generation.js';

/**
 * Builds a generation from a snapshot file in a thread of its own; this thread only packs the box index,
 * in slices. Throws an InputError when the file cannot be used, and an Error when the thread died.
 */
export async function buildGeneration(
  request: BuildRequest,
  onProgress: Progress = () => {},
): Promise<Generation> {
  const thread = new Worker(new URL('./build-thread.js', import.meta.url), { workerData: request });
  const exited = once(thread, 'exit');
  let built: Extract<BuildReply, { kind: 'built' }> | undefined;
  let refused: string | undefined;
  let crash: Error | undefined;
  thread.on('message', (reply: BuildReply) => {
    if (reply.kind === 'progress') onProgress(reply.bytesRead, reply.bytesTotal);
    else if (reply.kind === 'refused') refused = reply.message;
    else built = reply;
  });
  thread.on('error', (error) => {
    crash = error;
  });
  const [code] = await exited;
  if (refused !== undefined) throw new InputError(refused);
  if (crash !== undefined) throw crash;
  if (built === undefined)
    throw new Error(`The build thread ended with code ${code} and no reply.`);
  const dataset = await assembleDataset(built.parts, () => nextTurn());
  return createGeneration(dataset, built.extra);
}
