import type { Dataset } from '../index/dataset.js';
import type { Delta, DeltaMatches, DeltaRow } from '../index/delta.js';
import type { Order, Row } from '../index/order.js';
import { recordLength } from '../index/records.js';
import { type Budget, sortNumbers } from '../model/budget.js';
import type { Filters, TimeOrdering } from '../model/query.js';
import { bitOf, markRun } from '../query/common/marks.js';
import { type Engine, orderOf } from '../query/engine.js';

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
  /** Rows of the delta, in the order of the walk. */
  readonly #beside: Int32Array;
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
    this.#beside = accepted?.rows.slice() ?? new Int32Array(0);
    if (order === undefined || accepted === undefined) return;
    const { id } = accepted.delta;
    const keys = keysOf(order, dataset, accepted.delta);
    const sign = isDescending ? -1 : 1;
    const compare = (a: number, b: number): number =>
      sign * (keys[a]! - keys[b]! || id[a]! - id[b]!);
    sortNumbers(this.#beside, compare, budget);
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
    let own = this.#ownAt(this.#step);
    while (own >= 0 && bitOf(this.#bits, own) === 0) own = this.#ownAt(++this.#step);
    const beside = this.#beside[this.#besideStep];
    if (beside !== undefined && (own < 0 || this.#isBefore(beside, own))) {
      this.#besideStep++;
      return count + beside;
    }
    this.#step++;
    return own;
  }

  /** The row of the dataset at a step of the walk, match or not; -1 behind the last one. */
  #ownAt(step: number): Row {
    const { count } = this.#dataset;
    if (step >= count) return -1;
    const rank = this.#isDescending ? count - 1 - step : step;
    return this.#order === undefined ? rank : this.#order.rows[rank]!;
  }

  /** Whether a row of the delta comes before one of the dataset. */
  #isBefore(beside: DeltaRow, own: Row): boolean {
    const [order, dataset, delta] = [this.#order, this.#dataset, this.#delta!];
    if (order === undefined) return false;
    const { byId } = dataset;
    const difference =
      keysOf(order, dataset, delta)[beside]! - order.keys[order.ranks[own]!]! ||
      delta.id[beside]! - byId.keys[byId.ranks[own]!]!;
    return this.#isDescending ? difference > 0 : difference < 0;
  }
}

function keysOf(order: Order, { byCreatedAt }: Dataset, delta: Delta): Float64Array {
  return order === byCreatedAt ? delta.createdAt : delta.modifiedAt;
}

function deltaLengthOf({ ends }: Delta, row: number): number {
  return ends[row]! - (row === 0 ? 0 : ends[row - 1]!);
}
