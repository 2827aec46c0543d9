import type { Pieces } from '../formats/format.js';
import { createPace, type Pace } from './pace.js';

/** Who waits for a result. */
export interface Waiter<Result> {
  /** Whether the client has gone, so that no result is needed any more. */
  isGone(): boolean;
  done(result: Result): void;
  failed(error: unknown): void;
}

/** A result that takes more than a turn of the event loop. */
export class Later<Result> {
  /** Begins the work, or goes on with it. */
  readonly start: (waiter: Waiter<Result>) => void;

  constructor(start: (waiter: Waiter<Result>) => void) {
    this.start = start;
  }
}

/** Does work piece by piece. */
export type DoInPieces = <Result>(work: Pieces<Result>, waiter: Waiter<Result>) => void;

/**
 * Makes a thread's way to do work piece by piece. All of it together gets a share of each turn of
 * the thread's pace, however much there is, so that other requests are answered in between. Each
 * work gets its piece in turn, so that a small one does not wait for the end of a large one.
 */
export function createPieceWork(pace: Pace = createPace()): DoInPieces {
  // entries differ in the type of their results alone, which only they themselves see
  const entries: { readonly work: Pieces<unknown>; readonly waiter: Waiter<unknown> }[] = [];

  function turn(until: number): void {
    do {
      const entry = entries[0]!;
      const goesOn = !entry.waiter.isGone() && !isDone(entry);
      // not before: what is done may begin other work, for which a turn is coming already
      entries.shift();
      if (goesOn) entries.push(entry);
    } while (entries.length > 0 && performance.now() < until);
    if (entries.length > 0) pace.next(turn);
  }

  /** Does a piece; returns whether it was the last. */
  function isDone({ work, waiter }: (typeof entries)[number]): boolean {
    try {
      const { done, value } = work.next();
      if (done) waiter.done(value);
      return done === true;
    } catch (error) {
      waiter.failed(error);
      return true;
    }
  }

  return (work, waiter) => {
    pace.begin();
    entries.push({ work, waiter: waiter as Waiter<unknown> });
    if (entries.length === 1) pace.next(turn);
  };
}
