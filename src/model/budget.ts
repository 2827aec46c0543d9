/** What a question may cost at once, in the planner's nanoseconds: 2 ms on hostile data. */
export const AT_ONCE = 1_000_000;

/** The most nanoseconds of a loop between two charges. */
const STRETCH = 100_000;

/** What {@link Budget.charge} throws: one object, since a stack costs microseconds. */
export const EXCEEDED: Error = new Error('The budget is used up.');

/** What a question may still cost, in nanoseconds by the planner's costs, not by the clock. */
export class Budget {
  /** Rows that were looked at one by one so far. */
  looks = 0;
  /** An access path of the planner, `slice` of an order, `outwards`, `distances` or `nothing`. */
  accessPath = 'nothing';
  /** The most cost of a loop between two charges. */
  readonly stretch: number;
  readonly #amount: number;
  readonly #spent: () => void;
  #left: number;

  /** `spent` is called when the budget is used up. Where it returns, the budget begins anew. */
  constructor(amount: number = Infinity, spent: () => void = exceed) {
    this.stretch = Math.min(STRETCH, amount / 5);
    this.#amount = amount;
    this.#spent = spent;
    this.#left = amount;
  }

  /** What was charged since the budget began or began anew. */
  get spent(): number {
    return this.#amount - this.#left;
  }

  charge(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) this.#renew();
  }

  /** Acts as if `cost` was charged and does not charge it: work is given up before it begins. */
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

/** Calls `work` on ranges of `from` to `to - 1`; each number costs `cost` nanoseconds. */
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

/** Nanoseconds of a comparison. */
const COMPARE = 20;

/** Sorts in place. Numbers in order, as accepted points mostly are, take one comparison each. */
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
