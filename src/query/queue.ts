import type { Suspended } from './suspended.js';

/** Queries that may wait behind the one that is under way. */
const MOST_WAITING = 64;

/** A suspended query, and who waits for it. */
export interface Entry<T> {
  readonly query: Suspended<T>;
  /** Whether nobody waits any more. */
  isGone(): boolean;
  done(result: T): void;
  failed(error: unknown): void;
}

/** The suspended queries of a thread. */
export interface Queue {
  /** Takes a query that will be worked on piece by piece; returns false when too many wait. */
  add<T>(entry: Entry<T>): boolean;
}

/** When a queue works on its queries. */
export interface QueueTurns {
  /** Has `work` called once, in a later turn of the event loop. */
  next(work: () => void): void;
  /** Hears of each query that is added. */
  begin(): void;
}

const EACH_TURN: QueueTurns = { next: setImmediate, begin: () => {} };

/**
 * Makes a queue. It works on one query to its end before the next, since two half-way would need
 * twice the memory, and does one piece in each of its `turns`, so that other requests are answered in
 * between. Queries that nobody waits for are dropped.
 */
export function createQueue(
  mostWaiting: number = MOST_WAITING,
  turns: QueueTurns = EACH_TURN,
): Queue {
  // entries differ in the type of their results only, which the queue never looks at
  let entries: Entry<unknown>[] = [];
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || entries.length === 0) return;
    isScheduled = true;
    turns.next(work);
  }

  function work(): void {
    isScheduled = false;
    dropGone();
    const [first] = entries;
    if (first === undefined) return;
    try {
      const result = first.query.resume();
      if (result !== first.query) {
        entries.shift();
        first.done(result);
      }
    } catch (error) {
      if (entries[0] === first) entries.shift();
      first.failed(error);
    }
    schedule();
  }

  function dropGone(): void {
    entries = entries.filter((entry) => {
      const isGone = entry.isGone();
      if (isGone) entry.query.drop();
      return !isGone;
    });
  }

  return {
    add(entry) {
      if (entries.length > mostWaiting) dropGone();
      if (entries.length > mostWaiting) return false;
      turns.begin();
      entries.push(entry as Entry<unknown>);
      schedule();
      return true;
    },
  };
}
