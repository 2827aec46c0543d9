/** So many answers are sent without waiting for more. */
const MOST = 8;
/** Milliseconds after which the first one is not held back any longer. */
const LONGEST_MS = 1;

/** Takes what sends an answer, and calls it before the event loop waits again. */
export type Outbox = (send: () => void) => void;

/**
 * Makes an outbox, which holds answers back while the requests that arrived with theirs are worked on. Sent one
 * after the other they wake up their receiver once, not each time, and the memory that queries read is not pushed out of
 * the processor's caches by the system's network code in between. The first waits for no
 * more than `longestMs` but for the page that is being made.
 */
export function createOutbox(longestMs: number = LONGEST_MS): Outbox {
  let waiting: (() => void)[] = [];
  let since = 0;

  function sendAll(): void {
    const all = waiting;
    waiting = [];
    for (const send of all) send();
  }

  return (send) => {
    if (waiting.length === 0) {
      since = performance.now();
      setImmediate(sendAll);
    }
    waiting.push(send);
    if (waiting.length === MOST || performance.now() - since > longestMs) sendAll();
  };
}
