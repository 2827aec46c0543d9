import type { Dataset } from '../index/dataset.js';
import type { Delta, DeltaMatches } from '../index/delta.js';
import { firstAbove, lowerBound, type Order } from '../index/order.js';
import { recordLength } from '../index/records.js';
import { type Budget, sortNumbers } from '../model/budget.js';
import type { Filters, TimeOrdering } from '../model/query.js';
import { bitOf, markRun } from '../query/common/marks.js';
import { type Engine, orderOf } from '../query/engine.js';

/** Accepted points among the rows of a dataset. */
interface Beside {
  /** Rows of the delta, in the order of the walk. */
  readonly rows: Int32Array;
  /** How many rows of the dataset come before each of them, matches or not. */
  readonly places: Float64Array;
}

const NONE: Beside = { rows: new Int32Array(0), places: new Float64Array(0) };

/**
 * Goes through all matches of filters, a stretch at a time. Between two stretches a walk keeps one
 * bit for each row of the dataset and its place, and no list of matches: in an order it looks at
 * every row of that order. Without an order the rows ascend, as they lie in memory, and the accepted
 * points come last.
 */
export class Walk {
  left: number;
  readonly #dataset: Dataset;
  readonly #delta: Delta | undefined;
  readonly #bits: Int32Array;
  readonly #order: Order | undefined;
  readonly #isDescending: boolean;
  readonly #beside: Beside;
  #step = 0;
  #besideStep = 0;

  /** Finds the matches; charges the budget, and throws what that throws. */
  constructor(
    engine: Engine,
    filters: Filters,
    ordering: TimeOrdering | undefined,
    accepted: DeltaMatches | undefined,
    budget: Budget,
  ) {
    const { dataset } = engine;
    const bits = new Int32Array((dataset.count + 31) >>> 5);
    const mark = (from: number, to: number): void => markRun(bits, from, to);
    const own = engine.scan(filters, mark, undefined, undefined, budget);
    this.left = own + (accepted?.rows.length ?? 0);
    this.#dataset = dataset;
    this.#delta = accepted?.delta;
    this.#bits = bits;
    const [order, isDescending] = ordering ? orderOf(dataset, ordering) : [undefined, false];
    this.#order = order;
    this.#isDescending = isDescending;
    this.#beside = accepted ? place(dataset, order, isDescending, accepted, budget) : NONE;
  }

  /**
   * Writes the next rows to `rows`: as many as there is room for, or fewer whose records have
   * `bytes` bytes together. Returns how many. Those from the dataset's `count` on are rows of the
   * delta, from 0.
   */
  take(rows: Uint32Array, bytes: number): number {
    const { count, records } = this.#dataset;
    let found = 0;
    for (let size = 0; found < rows.length && size < bytes && this.left > 0; found++) {
      const row = this.#next(count);
      rows[found] = row;
      size += row < count ? recordLength(records, row) : deltaLengthOf(this.#delta!, row - count);
      this.left--;
    }
    return found;
  }

  /** The next match, of which there is one at least. */
  #next(count: number): number {
    const { rows, places } = this.#beside;
    for (;;) {
      if (this.#besideStep < rows.length && places[this.#besideStep]! <= this.#step) {
        return count + rows[this.#besideStep++]!;
      }
      const rank = this.#isDescending ? count - 1 - this.#step : this.#step;
      this.#step++;
      const row = this.#order === undefined ? rank : this.#order.rows[rank]!;
      if (bitOf(this.#bits, row) === 1) return row;
    }
  }
}

function deltaLengthOf({ ends }: Delta, row: number): number {
  return ends[row]! - (row === 0 ? 0 : ends[row - 1]!);
}

/** Finds the places of accepted points by binary searches in an order. */
function place(
  dataset: Dataset,
  order: Order | undefined,
  isDescending: boolean,
  { delta, rows }: DeltaMatches,
  budget: Budget,
): Beside {
  const { count, byId, byCreatedAt } = dataset;
  if (order === undefined) return { rows, places: new Float64Array(rows.length).fill(count) };
  const keys =
    order === byId ? delta.id : order === byCreatedAt ? delta.createdAt : delta.modifiedAt;
  const sorted = rows.slice();
  const sign = isDescending ? -1 : 1;
  const compare = (a: number, b: number): number =>
    sign * (keys[a]! - keys[b]! || delta.id[a]! - delta.id[b]!);
  sortNumbers(sorted, compare, budget);
  const places = Float64Array.from(sorted, (row) => {
    const before = rowsBefore(order, byId, keys[row]!, delta.id[row]!);
    return isDescending ? count - before : before;
  });
  return { rows: sorted, places };
}

/** How many rows of an order come before a point with this key and id. */
function rowsBefore({ keys, rows }: Order, byId: Order, key: number, id: number): number {
  let from = lowerBound(keys, key);
  let to = firstAbove(keys, key);
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (byId.keys[byId.ranks[rows[middle]!]!]! < id) from = middle + 1;
    else to = middle;
  }
  return from;
}
