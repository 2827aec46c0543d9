import { type Scratch, unmark, wipe } from './common/scratch.js';
import { isWork, refill, type Step, type Work } from './common/work.js';

/**
 * Share of a piece that a query may begin with while another one is half-way: a hundred that arrive
 * in one turn of the event loop would hold it for a piece each. Beyond it they wait in the queue.
 */
const BESIDE_ANOTHER = 1 / 4;

/**
 * The working memory of an engine: two sets at most. One suspended query keeps one of them, so that
 * there is always one for the next query.
 */
export class Memory {
  readonly #create: () => Scratch;
  readonly #free: Scratch[];
  #isKept = false;
  /** Suspended queries that wait until they may keep a set. */
  #waiting = 0;

  constructor(create: () => Scratch) {
    this.#create = create;
    this.#free = [create()];
  }

  /** A set for one query, its meter full, or filled in part while another query is half-way. */
  take(): Scratch {
    const scratch = this.#free.pop() ?? this.#create();
    refill(scratch.meter);
    if (this.#isKept || this.#waiting > 0) scratch.meter.left *= BESIDE_ANOTHER;
    return scratch;
  }

  giveBack(scratch: Scratch): void {
    unmark(scratch);
    this.#free.push(scratch);
  }

  /**
   * Whether a query that has just begun may keep the set that it has; false when another one keeps
   * one or waits for that, which then comes first.
   */
  keep(): boolean {
    if (this.#isKept || this.#waiting > 0) return false;
    this.#isKept = true;
    return true;
  }

  /** Counts a suspended query that waits, until {@link leave}. */
  wait(): void {
    this.#waiting++;
  }

  leave(): void {
    this.#waiting--;
  }

  /** A set for a query whose turn has come. Throws when another one keeps one. */
  takeAndKeep(): Scratch {
    if (this.#isKept) throw new Error('Expected no other query to be half-way.');
    const scratch = this.take();
    this.#isKept = true;
    return scratch;
  }

  /** Takes back the set that a suspended query kept. */
  release(scratch: Scratch): void {
    this.#isKept = false;
    this.giveBack(scratch);
  }
}

/** Work that has begun, and the memory that it has. */
interface Begun<T> {
  readonly scratch: Scratch;
  readonly work: Work<T>;
}

/**
 * A query that needs more than one piece of work. The first one of an engine keeps its working
 * memory; each further one gives its own back, and starts anew at its first {@link resume}.
 */
export class Suspended<T> {
  readonly #memory: Memory;
  readonly #again: (scratch: Scratch) => Step<T>;
  #own: Begun<T> | undefined;
  #isWaiting = false;

  /**
   * Takes over work that has `begun`. Without any, or where another query is half-way, this one
   * waits: its work begins, or begins anew, with the first {@link resume}.
   */
  constructor(memory: Memory, again: (scratch: Scratch) => Step<T>, begun?: Begun<T>) {
    this.#memory = memory;
    this.#again = again;
    if (begun !== undefined && memory.keep()) {
      this.#own = begun;
      return;
    }
    if (begun !== undefined) {
      wipe(begun.scratch);
      memory.giveBack(begun.scratch);
    }
    memory.wait();
    this.#isWaiting = true;
  }

  /**
   * Works for one more piece; returns the result once it is there, else this. Throws when another
   * query of the engine is half-way: that one has to end, or to be dropped, before the next is
   * resumed.
   */
  resume(): T | Suspended<T> {
    const { scratch, work } = this.#own ?? this.#restart();
    refill(scratch.meter);
    try {
      const { done, value } = work.next();
      if (!done) return this;
      this.#own = undefined;
      this.#memory.release(scratch);
      return value;
    } catch (error) {
      this.drop();
      throw error;
    }
  }

  /** Ends the query without a result and gives its working memory back. */
  drop(): void {
    this.#leave();
    if (this.#own === undefined) return;
    const { scratch } = this.#own;
    this.#own = undefined;
    wipe(scratch);
    this.#memory.release(scratch);
  }

  #restart(): Begun<T> {
    const scratch = this.#memory.takeAndKeep();
    this.#leave();
    this.#own = { scratch, work: workOf(this.#again, scratch) };
    return this.#own;
  }

  #leave(): void {
    if (this.#isWaiting) this.#memory.leave();
    this.#isWaiting = false;
  }
}

function* workOf<T>(again: (scratch: Scratch) => Step<T>, scratch: Scratch): Work<T> {
  const step = again(scratch);
  return isWork(step) ? yield* step : step;
}
