import type { Pieces } from '../formats/format.js';

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

/**
 * Does work piece by piece, the first at once and the others each in a turn of the event loop of
 * its own, so that other requests are answered in between. What the first piece throws is the
 * caller's.
 */
export function doInPieces<Result>(work: Pieces<Result>, waiter: Waiter<Result>): void {
  function next(): void {
    const { done, value } = work.next();
    if (done) waiter.done(value);
    else setImmediate(goOn);
  }

  function goOn(): void {
    if (waiter.isGone()) return;
    try {
      next();
    } catch (error) {
      waiter.failed(error);
    }
  }

  next();
}
