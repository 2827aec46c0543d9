/** Does some work, for as long as the clock is below `until`, and for one piece at least. */
export type Share = (until: number) => void;

/**
 * When a thread does its heavy work: long queries, pages in pieces, and requests behind heavy ones.
 * Requests that take a moment are answered in between.
 */
export interface Pace {
  /** Has `share` called once, in a later turn of the event loop. */
  next(share: Share): void;
  /** Notes that a request began work which goes on in later turns. */
  begin(): void;
  /** How often that was noted. */
  readonly begun: number;
  /** Notes that a light request was answered at a time by `performance.now()`. */
  noteLight(time: number): void;
}

/** Milliseconds of one turn of the event loop that all heavy work shares. */
const TURN_MS = 1;
/** Light requests keep coming in while the last one is no longer ago than this. */
const RECENT_MS = 50;
/** A timer cannot be set to less; a pause that is longer would let heavy work down. */
const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 5;

/**
 * Makes the pace of a thread. All heavy work together gets a share of each turn, in which each of
 * it comes in turn. While light requests come in beside it, heavy work pauses after each turn for
 * as long as that took: half of the time the thread is free to answer at once, and so is the core
 * for those who share it. Without light requests there is no pause.
 */
export function createPace(turnMs: number = TURN_MS): Pace {
  const shares: Share[] = [];
  let begun = 0;
  let lightAt = Number.NEGATIVE_INFINITY;
  /** Also while it is there: what is added then is looked at when it has ended. */
  let isTurnComing = false;
  let endedAt = Number.NEGATIVE_INFINITY;
  let took = 0;

  function expectTurn(): void {
    if (isTurnComing || shares.length === 0) return;
    isTurnComing = true;
    if (performance.now() - lightAt < RECENT_MS) rest();
    else setImmediate(turn);
  }

  function rest(): void {
    const pause = Math.max(SHORTEST_PAUSE_MS, Math.min(took, LONGEST_PAUSE_MS));
    const left = endedAt + pause - performance.now();
    // a timer counts from when the event loop last looked at the clock, and may come too early
    if (left > 0) setTimeout(rest, left);
    else setImmediate(turn);
  }

  function turn(): void {
    const began = performance.now();
    const until = began + turnMs;
    // what is added meanwhile waits for the next turn
    let left = shares.length;
    do shares.shift()!(until);
    while (--left > 0 && performance.now() < until);
    endedAt = performance.now();
    took = endedAt - began;
    isTurnComing = false;
    expectTurn();
  }

  return {
    next(share) {
      shares.push(share);
      expectTurn();
    },
    begin() {
      begun++;
    },
    get begun() {
      return begun;
    },
    noteLight(time) {
      // one that came before says nothing: a client that waits for each answer makes nobody wait
      if (isTurnComing) lightAt = time;
    },
  };
}
