import type { Dataset } from '../../index/dataset.js';
import type { Order, Rank, RankRange } from '../../index/order.js';
import { countCells, crossViewOf } from '../../index/orders.js';
import type { Budget } from '../../model/budget.js';
import type { Window } from './matches.js';
import { NEIGHBOUR, SCATTERED } from './plan.js';

/**
 * Walks along a range of one order to the rows that lie in a window of another order. The cross
 * table tells how many matches each cell has, so whole cells are passed without reading their rows.
 */
export class CellWalk {
  readonly #along: Order;
  readonly #window: Window;
  readonly #shift: number;
  readonly #counts: Int32Array;
  readonly #to: Rank;
  #rank: Rank;

  constructor(dataset: Dataset, along: Order, range: RankRange, window: Window) {
    const view = crossViewOf(dataset, along, window.order);
    this.#along = along;
    this.#window = window;
    this.#shift = view.table.shift;
    this.#counts = new Int32Array(view.table.cells);
    this.#rank = range.from;
    this.#to = range.to;
    countCells(view, along, window.order, window, this.#counts);
  }

  /** Counts the matches ahead; tests the rows of two cells at most. */
  count(): number {
    let count = 0;
    while (this.#rank < this.#to) {
      count += this.#isWhole() ? this.#counts[this.#rank >>> this.#shift]! : this.#testCell();
      this.#rank = this.#cellEnd();
    }
    return count;
  }

  /** Fills the page with the matches after the first `skipped`. */
  take(skipped: number, page: Uint32Array, budget: Budget): void {
    const { rows } = this.#along;
    const { ranks, from, to } = this.#window;
    let toPass = skipped;
    let taken = 0;
    // `countCells` has read the rows of one cell
    budget.charge(SCATTERED << this.#shift);
    while (taken < page.length) {
      const here = this.#counts[this.#rank >>> this.#shift]!;
      const end = this.#cellEnd();
      if (this.#isWhole() && toPass >= here) {
        toPass -= here;
        budget.charge(NEIGHBOUR);
      } else {
        budget.charge((end - this.#rank) * SCATTERED);
        for (let rank = this.#rank; rank < end && taken < page.length; rank++) {
          const row = rows[rank]!;
          const other = ranks[row]!;
          if (other < from || other >= to) continue;
          if (toPass > 0) toPass--;
          else page[taken++] = row;
        }
      }
      this.#rank = end;
    }
  }

  #testCell(): number {
    const { rows } = this.#along;
    const { ranks, from, to } = this.#window;
    const last = to - 1;
    const end = this.#cellEnd();
    let count = 0;
    // the sign bit says "outside", without a branch to mispredict
    for (let rank = this.#rank; rank < end; rank++) {
      const other = ranks[rows[rank]!]!;
      count += ~((other - from) | (last - other)) >>> 31;
    }
    return count;
  }

  #cellEnd(): Rank {
    return Math.min(((this.#rank >>> this.#shift) + 1) << this.#shift, this.#to);
  }

  #isWhole(): boolean {
    const cell = this.#rank >>> this.#shift;
    const isWholeEnd =
      this.#cellEnd() === Math.min((cell + 1) << this.#shift, this.#along.rows.length);
    return isWholeEnd && this.#rank === cell << this.#shift;
  }
}

/** Rows of a cell of the largest cross table. */
export function cellRows({ crossTables }: Dataset): number {
  return 1 << crossTables.createdAtModifiedAt.shift;
}
