/** The access path to a page for which nothing had to be taken. */
const NO_PATH = 'nothing';

/**
 * What a question may cost at once, beside those of others, in nanoseconds by the planner's costs:
 * a millisecond, or two on hostile data.
 */
export const AT_ONCE = 1_000_000;

/** Nanoseconds of work that a loop does between two charges, at most. */
const STRETCH = 100_000;

/** Says that a question costs more than its budget. */
class BudgetExceeded extends Error {}

/**
 * What {@link Budget.charge} throws: one object, made once, since a stack costs microseconds. Only
 * who made the budget catches it.
 */
export const EXCEEDED: Error = new BudgetExceeded('The budget is used up.');

/**
 * What a question may still cost, in nanoseconds by the planner's costs, not by the clock. Loops
 * charge it for each stretch of rows.
 */
export class Budget {
  /** Rows that the question has looked at one by one so far. */
  looks = 0;
  /**
   * How the page was taken: by an access path of the planner, as a slice of its order, by a search
   * outwards from the centre, or by the distances of all matches.
   */
  accessPath: string = NO_PATH;
  /** Cost of the work that a loop does between two charges, at most. */
  readonly stretch: number;
  readonly #amount: number;
  readonly #spent: () => void;
  #left: number;

  /**
   * Makes a budget of `amount`, without a bound by default. `spent` is called each time that it is
   * used up, and throws, or else has the budget begin anew.
   */
  constructor(amount: number = Infinity, spent: () => void = exceed) {
    this.stretch = Math.min(STRETCH, amount / 5);
    this.#amount = amount;
    this.#spent = spent;
    this.#left = amount;
  }

  /** What was charged since the budget began, or began anew. */
  get spent(): number {
    return this.#amount - this.#left;
  }

  /** Takes the cost of work that was done, or is about to be. */
  charge(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) this.#renew();
  }

  /** Gives up at once what would cost more than is left; the cost has yet to be charged. */
  expect(cost: number): void {
    if (cost > this.#left) this.#renew();
  }

  #renew(): void {
    this.#spent();
    this.#left = this.#amount;
  }
}

function exceed(): never {
  throw EXCEEDED;
}

/**
 * Does `work` on the numbers `from` to `to - 1`, each of which costs `cost` nanoseconds, in
 * stretches of at most `most` numbers.
 */
export function inStretches(
  budget: Budget,
  from: number,
  to: number,
  cost: number,
  work: (from: number, to: number) => void,
  most: number = Infinity,
): void {
  budget.looks += to - from;
  budget.expect((to - from) * cost);
  const size = Math.max(1, Math.min(most, Math.floor(budget.stretch / cost)));
  for (let at = from; at < to; at += size) {
    const end = Math.min(at + size, to);
    work(at, end);
    budget.charge((end - at) * cost);
  }
}

/** Nanoseconds of a comparison while numbers are sorted. */
const COMPARE = 20;

/**
 * Sorts numbers in place, as `compare` says. Numbers that are in order already, as accepted points
 * mostly are, take one comparison each.
 */
export function sortNumbers(
  numbers: Int32Array,
  compare: (a: number, b: number) => number,
  budget: Budget,
): void {
  const { length } = numbers;
  budget.charge(length * COMPARE);
  let sorted = 1;
  while (sorted < length && compare(numbers[sorted - 1]!, numbers[sorted]!) <= 0) sorted++;
  if (sorted >= length) return;
  budget.charge(length * Math.log2(length) * COMPARE);
  numbers.sort(compare);
}
