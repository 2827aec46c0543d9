import type { Budget } from '../../budget.js';
import type { Order, RankRange } from '../../dataset/order.js';
import type { Rank, Row } from '../../dataset/row.js';
import { bitOf } from '../common/marks.js';
import { MARKED } from '../common/plan.js';

/** Whether a row is a match. */
export type RowTest = (row: Row) => boolean;

/** Rows that are passed without a look at whether the page has begun. */
const STRIDE = 64;

/** A walk along an order, from its nearer end, to a page of the matches. */
export class Walk {
  readonly #rows: Uint32Array;
  readonly #page: Uint32Array;
  /** 1, or -1 towards the front. */
  readonly #step: number;
  #rank: Rank;
  /** Matches before the page. */
  #toPass: number;
  #taken = 0;

  constructor(count: number, from: number, range: RankRange, order: Order, page: Uint32Array) {
    const behind = count - from - page.length;
    this.#rows = order.rows;
    this.#page = page;
    this.#step = from <= behind ? 1 : -1;
    this.#rank = from <= behind ? range.from : range.to - 1;
    this.#toPass = Math.min(from, behind);
  }

  /**
   * Tests rows, each at a cost, until the page is full. Returns false when that takes more than
   * `most` rows.
   */
  run(test: RowTest, cost: number, budget: Budget, most: number): boolean {
    const stretch = Math.ceil(budget.stretch / cost);
    for (let left = most; left > 0; left -= stretch) {
      if (this.#test(test, Math.min(stretch, left), budget)) return true;
      budget.charge(stretch * cost);
    }
    return false;
  }

  /** Tests `most` rows at most; returns whether the page is full. */
  #test(test: RowTest, most: number, budget: Budget): boolean {
    const rows = this.#rows;
    const page = this.#page;
    const step = this.#step;
    let rank = this.#rank;
    let toPass = this.#toPass;
    let taken = this.#taken;
    for (let left = most; left > 0 && taken < page.length; left--, rank += step) {
      const row = rows[rank]!;
      if (!test(row)) continue;
      if (toPass > 0) toPass--;
      else page[step > 0 ? taken++ : page.length - ++taken] = row;
    }
    budget.looks += Math.abs(rank - this.#rank);
    this.#rank = rank;
    this.#toPass = toPass;
    this.#taken = taken;
    return taken === page.length;
  }

  /**
   * Goes on by bits to a stride before the page at most: matches are counted, every other branch
   * would be mispredicted.
   */
  pass(bits: Int32Array, budget: Budget): void {
    const stretch = Math.ceil(budget.stretch / MARKED);
    while (!this.#pass(bits, stretch, budget)) budget.charge(stretch * MARKED);
  }

  /** Passes some `most` rows at most; returns whether the page is near. */
  #pass(bits: Int32Array, most: number, budget: Budget): boolean {
    const rows = this.#rows;
    const step = this.#step;
    let rank = this.#rank;
    let toPass = this.#toPass;
    for (let left = most; left > 0 && toPass >= STRIDE; left -= STRIDE) {
      for (const end = rank + step * STRIDE; rank !== end; rank += step) {
        toPass -= bitOf(bits, rows[rank]!);
      }
    }
    budget.looks += Math.abs(rank - this.#rank);
    this.#rank = rank;
    this.#toPass = toPass;
    return toPass < STRIDE;
  }
}
