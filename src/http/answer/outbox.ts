/** So many answers are sent without waiting for more. */
const MOST = 8;
/** Milliseconds after which no more are waited for. */
const LONGEST_MS = 1;

/** Takes an answer that is to be sent before the event loop waits again. */
export type Outbox<Answer> = (answer: Answer) => void;

/**
 * Makes an outbox, which holds answers back while the requests that arrived with theirs are worked
 * on. Sent one after the other they wake up their receiver once, not each time, and the memory that
 * queries read is not pushed out of the processor's caches by the system's network code in between.
 * When the first has waited for `longestMs`, the next one does not wait. What `send` throws ends
 * that answer alone, by `fail`.
 */
export function createOutbox<Answer>(
  send: (answer: Answer) => void,
  fail: (answer: Answer, error: unknown) => void,
  longestMs: number = LONGEST_MS,
): Outbox<Answer> {
  let waiting: Answer[] = [];
  let since = 0;

  function sendAll(): void {
    const all = waiting;
    waiting = [];
    for (const answer of all) {
      try {
        send(answer);
      } catch (error) {
        fail(answer, error);
      }
    }
  }

  return (answer) => {
    if (waiting.length === 0) {
      since = performance.now();
      setImmediate(sendAll);
    }
    waiting.push(answer);
    if (waiting.length === MOST || performance.now() - since > longestMs) sendAll();
  };
}
