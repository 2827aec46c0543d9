/**
 * Work that can pause: a generator that yields whenever its {@link Meter} has run out, and returns
 * the result. Between two pieces the event loop serves other requests.
 */
export type Work<T> = Generator<void, T, void>;

/** A result, or the work that leads to it: what is soon done needs no generator. */
export type Step<T> = T | Work<T>;

/**
 * What the current piece of work may still cost, in nanoseconds by the planner's costs, not by the
 * clock. A loop subtracts what a stretch of rows costs and yields when `left` is below zero;
 * whoever resumes the work calls {@link refill}.
 */
export interface Meter {
  left: number;
  /** Rows that the query has looked at one by one so far. */
  looks: number;
  /**
   * How the page was taken: by a way of the planner, as a slice of its order, by a search outwards
   * from the centre, or by the distances of all matches.
   */
  way: string;
  /** Cost of a piece. */
  readonly piece: number;
  /** Cost of the stretch of work that a loop does between two looks at the meter, at most. */
  readonly stretch: number;
}

/**
 * Cost of a piece: half a millisecond by the costs of the planner; hostile data take up to twice
 * that.
 */
export const PIECE = 500_000;

/** The way to a page for which nothing had to be taken. */
export const NO_WAY = 'nothing';

export function createMeter(piece: number): Meter {
  return { left: piece, looks: 0, way: NO_WAY, piece, stretch: piece / 5 };
}

export function refill(meter: Meter): void {
  meter.left = meter.piece;
}

/** Whether a step is work that has yet to be done, and not a result. */
export function isWork<T>(step: Step<T>): step is Work<T> {
  return typeof (step as Work<T> | undefined)?.next === 'function';
}

/** Hands the result of one step to the next. */
export function andThen<A, B>(step: Step<A>, next: (result: A) => Step<B>): Step<B> {
  return isWork(step) ? chain(step, next) : next(step);
}

function* chain<A, B>(work: Work<A>, next: (result: A) => Step<B>): Work<B> {
  const step = next(yield* work);
  return isWork(step) ? yield* step : step;
}

/**
 * Does `work` on the numbers `from` to `to - 1`, each of which costs `cost` nanoseconds: in one
 * call where the total is less than a stretch, else in stretches of at most `most` numbers.
 */
export function inStretches(
  meter: Meter,
  from: number,
  to: number,
  cost: number,
  work: (from: number, to: number) => void,
  most: number = Infinity,
): Step<void> {
  meter.looks += to - from;
  const whole = (to - from) * cost;
  if (whole > meter.stretch || to - from > most) {
    return stretches(meter, from, to, cost, work, most);
  }
  work(from, to);
  meter.left -= whole;
}

function* stretches(
  meter: Meter,
  from: number,
  to: number,
  cost: number,
  work: (from: number, to: number) => void,
  most: number,
): Work<void> {
  const size = Math.max(1, Math.min(most, Math.floor(meter.stretch / cost)));
  for (let at = from; at < to; at += size) {
    const end = Math.min(at + size, to);
    work(at, end);
    meter.left -= (end - at) * cost;
    if (meter.left < 0) yield;
  }
}

/**
 * Does work that has a meter to itself, filled again for each piece: whoever resumes the work need
 * not know of it. `piece` is the cost of a piece.
 */
export function metered<T>(piece: number, begin: (meter: Meter) => Step<T>): Step<T> {
  const meter = createMeter(piece);
  const step = begin(meter);
  return isWork(step) ? refilled(step, meter) : step;
}

function* refilled<T>(work: Work<T>, meter: Meter): Work<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    yield;
    refill(meter);
  }
}

/** Works to the end without a pause; returns the result. */
export function drain<T>(step: Step<T>, meter: Meter): T {
  if (!isWork(step)) return step;
  meter.left = Infinity;
  for (;;) {
    const { done, value } = step.next();
    if (done) return value;
  }
}
