/** Requests that are worked on without waiting for more. */
const MOST = 8;
/** Milliseconds after which the first request waits for no further ones. */
const LONGEST_MS = 1;

/** Sends an answer. Never throws. */
export type Send = () => void;
/** Makes an answer; undefined where it is sent already, or later. Never throws. */
type Ask = () => Send | undefined;

/**
 * Makes a function by which the requests that arrive in one turn of the event loop are worked on in
 * stages: Node reads all of them, then all answers are made, then all are sent. The code and the
 * memory of a stage stay in the processor's caches, and a client is woken up once for all of its
 * answers. A request waits to the end of the turn at most, and for no more once {@link MOST} wait,
 * or when the first has waited for `longestMs`.
 */
export function createStages(longestMs: number = LONGEST_MS): (ask: Ask) => void {
  let waiting: Ask[] = [];
  let since = 0;

  function work(): void {
    const all = waiting;
    waiting = [];
    const made = all.map((ask) => ask());
    for (const send of made) send?.();
  }

  return (ask) => {
    if (waiting.length === 0) {
      since = performance.now();
      setImmediate(work);
    }
    waiting.push(ask);
    if (waiting.length === MOST || performance.now() - since > longestMs) work();
  };
}
