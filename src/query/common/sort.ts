import { type Budget, inStretches } from '../../budget.js';

/** Negative where the first of two numbers comes first. */
type Compare = (a: number, b: number) => number;

/** Up to here numbers are sorted in one go, in some 0.1 ms. */
const FEW = 256;
/** Length of the first runs, which are sorted by insertion. */
const RUN = 16;

// nanoseconds a number
const INSERT = 80;
const MERGE = 25;

/**
 * Sorts numbers in place. Where there are many: short runs first, then runs of twice the
 * length out of two. Numbers that are sorted already take one comparison each, and one a run.
 */
export function sortNumbers(numbers: Int32Array, compare: Compare, budget: Budget): void {
  if (numbers.length > FEW) sortMany(numbers, compare, budget);
  else numbers.sort(compare);
}

function sortMany(numbers: Int32Array, compare: Compare, budget: Budget): void {
  const { length } = numbers;
  const runs = Math.ceil(length / RUN);
  inStretches(budget, 0, runs, RUN * INSERT, (from, to) => {
    for (let run = from; run < to; run++) {
      insert(numbers, run * RUN, Math.min((run + 1) * RUN, length), compare);
    }
  });
  const left = new Int32Array(length);
  for (let run = RUN; run < length; run *= 2) {
    for (let from = 0; from + run < length; from += 2 * run) {
      const middle = from + run;
      budget.charge(MERGE);
      if (compare(numbers[middle - 1]!, numbers[middle]!) <= 0) continue;
      left.set(numbers.subarray(from, middle));
      const to = Math.min(middle + run, length);
      mergeRuns(numbers, left, from, middle, to, compare, budget);
    }
  }
}

/** Sorts the numbers from `from` to `to - 1` by insertion. */
function insert(numbers: Int32Array, from: number, to: number, compare: Compare): void {
  for (let i = from + 1; i < to; i++) {
    const number = numbers[i]!;
    let hole = i;
    for (; hole > from && compare(numbers[hole - 1]!, number) > 0; hole--) {
      numbers[hole] = numbers[hole - 1]!;
    }
    numbers[hole] = number;
  }
}

/** Merges the first `middle - from` numbers of `left` with those from `middle` to `to - 1`. */
function mergeRuns(
  numbers: Int32Array,
  left: Int32Array,
  from: number,
  middle: number,
  to: number,
  compare: Compare,
  budget: Budget,
): void {
  const end = middle - from;
  let [i, j] = [0, middle];
  inStretches(budget, from, to, MERGE, (first, last) => {
    for (let at = first; at < last; at++) {
      const isLeft = i < end && (j === to || compare(left[i]!, numbers[j]!) <= 0);
      numbers[at] = isLeft ? left[i++]! : numbers[j++]!;
    }
  });
}
