import { AT_ONCE, Budget, EXCEEDED } from '../../src/model/budget.js';

/** What a question took, in milliseconds. */
export interface Took {
  /** From beginning to end. */
  readonly millis: number;
  /** As long as it holds a thread that answers others, too: until its budget is used up. */
  readonly held: number;
}

/** Works on a question within a budget. */
export type Work = (budget: Budget) => unknown;

const LONGEST: Took = { millis: Infinity, held: Infinity };

/** Works on a question at once, then to its end where that did not suffice; tells what that took. */
export function timeWork(work: Work): Took {
  let isDone = true;
  const held = millisOf(() => {
    try {
      work(new Budget(AT_ONCE));
    } catch (error) {
      if (error !== EXCEEDED) throw error;
      isDone = false;
    }
  });
  return { held, millis: isDone ? held : millisOf(() => work(new Budget())) };
}

function millisOf(work: () => void): number {
  // other processes take time of the clock, this one's other threads that of the processor
  const began = performance.now();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return Math.min(performance.now() - began, (user + system) / 1000);
}

/** What work takes at least, in `times` tries and in one `before` them. */
export function leastOf(work: Work, times: number, before: Took = LONGEST): Took {
  let { millis, held } = before;
  for (let i = 0; i < times; i++) {
    const took = timeWork(work);
    millis = Math.min(millis, took.millis);
    held = Math.min(held, took.held);
  }
  return { millis, held };
}
