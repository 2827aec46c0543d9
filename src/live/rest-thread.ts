import type { Worker } from 'node:worker_threads';

/**
 * How long a thread rests before it is ended, in milliseconds. Node fails an assertion, and the
 * process ends, when V8 is still optimizing a function of a thread that is ended: what has just run
 * in a loop is optimized in the background.
 */
const REST_MS = 1_000;

/** Ends a thread that has nothing left to do, after a rest. Neither keeps the process. */
export function restThread(worker: Worker): void {
  worker.unref();
  setTimeout(() => void worker.terminate(), REST_MS).unref();
}
