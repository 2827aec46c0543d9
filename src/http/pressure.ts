import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds over which the delay of the event loop is averaged. */
const SPAN_MS = 1_000;
const STEP_MS = 10;

/**
 * Tells whether the event loop of this thread was late by more than `maxDelay` milliseconds in the
 * last second.
 */
export function watchLoop(maxDelay: number): () => boolean {
  if (maxDelay === 0) return () => false;
  let isBehind = false;
  const delays = monitorEventLoopDelay({ resolution: STEP_MS });
  delays.enable();
  setInterval(() => {
    // measured from one step to the next; none at all when the loop stood still
    const delay = delays.count === 0 ? SPAN_MS : delays.mean / 1e6 - STEP_MS;
    isBehind = delay > maxDelay;
    delays.reset();
  }, SPAN_MS).unref();
  return () => isBehind;
}
