import { AT_ONCE, Budget } from '../../budget.js';

/** What the questions of one turn of the event loop may cost together, in nanoseconds. */
const TURN = 2 * AT_ONCE;
/** What each may cost in any case: twice what a small box or the nearest in a city do. */
const LEAST = AT_ONCE / 4;

/**
 * Makes what gives each question of a thread its budget. A hundred that arrive in one turn of the
 * event loop would hold it for a tenth of a second: when the turn's share is used up, those that
 * are not small go to the slow lane.
 */
export function createAllowance(): () => Budget {
  let left = TURN;
  let last: Budget | undefined;

  function renew(): void {
    left = TURN;
    last = undefined;
  }

  return () => {
    if (last === undefined) setImmediate(renew);
    else left -= last.spent;
    last = new Budget(Math.max(LEAST, Math.min(left, AT_ONCE)));
    return last;
  };
}
