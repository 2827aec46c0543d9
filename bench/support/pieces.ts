import { Suspended } from '../../src/query/suspended.js';

/** What work in pieces took, in milliseconds. */
export interface Took {
  /** From the first to the last piece. */
  readonly millis: number;
  /** The longest piece. */
  readonly piece: number;
}

const LONGEST: Took = { millis: Infinity, piece: Infinity };

/** Does a piece of work and adds what it took. */
export interface Watch {
  readonly took: Took;
  time<T>(work: () => T): T;
}

export function createWatch(): Watch {
  const took = { millis: 0, piece: 0 };
  return {
    took,
    time(work) {
      // other processes take time of the clock, this one's other threads that of the processor
      const began = performance.now();
      const before = process.cpuUsage();
      const result = work();
      const { user, system } = process.cpuUsage(before);
      const millis = Math.min(performance.now() - began, (user + system) / 1000);
      took.millis += millis;
      took.piece = Math.max(took.piece, millis);
      return result;
    },
  };
}

/** Does work to its end, piece by piece, and tells what that took. */
export function timePieces<Result>(begin: () => Result | Suspended<Result>): Took {
  const { took, time } = createWatch();
  let result = time(begin);
  while (result instanceof Suspended) {
    const suspended: Suspended<Result> = result;
    result = time(() => suspended.resume());
  }
  return took;
}

/** What work takes at least, in `times` tries and in one `before` them. */
export function leastOf<Result>(
  begin: () => Result | Suspended<Result>,
  times: number,
  before: Took = LONGEST,
): Took {
  let { millis, piece } = before;
  for (let i = 0; i < times; i++) {
    const took = timePieces(begin);
    millis = Math.min(millis, took.millis);
    piece = Math.min(piece, took.piece);
  }
  return { millis, piece };
}
