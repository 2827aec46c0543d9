import { Suspended } from '../../src/query/suspended.js';

/** What work in pieces took, in milliseconds. */
export interface Took {
  /** From the first to the last piece. */
  readonly millis: number;
  /** The longest piece. */
  readonly piece: number;
}

const LONGEST: Took = { millis: Infinity, piece: Infinity };

/** Does work to its end, piece by piece, and tells what that took. */
export function timePieces<Result>(begin: () => Result | Suspended<Result>): Took {
  let millis = 0;
  let piece = 0;
  const time = <T>(work: () => T): T => {
    // other processes take time of the clock, this one's other threads that of the processor
    const began = performance.now();
    const before = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(before);
    const took = Math.min(performance.now() - began, (user + system) / 1000);
    millis += took;
    piece = Math.max(piece, took);
    return result;
  };
  let result = time(begin);
  while (result instanceof Suspended) {
    const suspended: Suspended<Result> = result;
    result = time(() => suspended.resume());
  }
  return { millis, piece };
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
