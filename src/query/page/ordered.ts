import type { Dataset } from '../../index/dataset.js';
import type { Order, Rank, RankRange, Row } from '../../index/order.js';
import type { Budget } from '../../model/budget.js';
import { CellWalk, cellRows } from '../common/cell-walk.js';
import { bitOf } from '../common/marks.js';
import {
  type Bounds,
  costOfListing,
  costOfMarking,
  listRows,
  type Matches,
  markMatches,
  type Window,
} from '../common/matches.js';
import {
  type AccessPath,
  BIT_TEST,
  type Choice,
  chooseAccessPath,
  FEW,
  MARKED,
  RUN_TEST,
  SCATTERED,
} from '../common/plan.js';
import type { Scratch } from '../common/scratch.js';
import { selectFew, selectRanked } from './select.js';

/** Places `from` to `to - 1` of an order, at least one. */
export interface Places {
  readonly from: number;
  readonly to: number;
}

/** Writes the matches at the given places of an order to the front of `scratch.page`. */
export function takeOrdered(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  order: Order,
  { from, to }: Places,
  forced?: AccessPath,
): void {
  const length = to - from;
  const page = scratch.page.subarray(0, length);
  const { windows } = matches;
  const others = windows.filter((window) => window.order !== order);
  const whole = { from: 0, to: order.rows.length };
  const range = windows.find((window) => window.order === order) ?? whole;
  if (others.length === 0 && (matches.form === 'windows' || matches.form === 'all')) {
    page.set(order.rows.subarray(range.from + from, range.from + to));
    scratch.budget.accessPath = 'slice';
    return;
  }
  const { count, form } = matches;
  const span = range.to - range.from;
  const end = Math.min(to, count - from);
  const hasCells = form === 'windows' && others.length === 1;
  const choose = (hasWalked: boolean): Choice =>
    chooseAccessPath(end, count, span, form, {
      length,
      tests: others.length,
      listing: costOfListing(dataset, matches),
      marking: costOfMarking(dataset, matches),
      cellRows: hasCells ? cellRows(dataset) : undefined,
      hasWalked,
    });
  take(forced === undefined ? choose(false) : { accessPath: forced, most: Infinity });

  function take({ accessPath, most }: Choice): void {
    scratch.budget.accessPath = accessPath;
    if (accessPath === 'select') select(scratch, matches, order, from, page);
    else if (accessPath === 'cells' && hasCells) {
      new CellWalk(dataset, order, range, others[0]!).take(from, page, scratch.budget);
    } else {
      const walk = new Walk(count, from, range, order, page);
      if (accessPath === 'mark' || form === 'rows') takeMarked(dataset, scratch, matches, walk);
      else {
        if (!walk.run(rowTest(matches, others), scratch.budget, most)) take(choose(true));
      }
    }
  }
}

/** Walks by marked matches: the bits of a million rows fit the cache, their ranks do not. */
function takeMarked(dataset: Dataset, scratch: Scratch, matches: Matches, walk: Walk): void {
  const { budget } = scratch;
  const bits = markMatches(dataset, scratch, matches);
  walk.pass(bits, budget);
  walk.run(bitTest(bits), budget, Infinity);
}

/** Tells a match of the rows of a range; `windows` are those of other orders. */
function rowTest(matches: Matches, windows: readonly Window[]): RowTest {
  if (matches.form === 'runs') {
    const { runs } = matches;
    return { bounds: undefined, also: (row) => runs.has(row), cost: RUN_TEST };
  }
  if (matches.form === 'bits') return { ...bitTest(matches.bits), cost: BIT_TEST };
  const [first, second] = windows;
  if (first === undefined) throw new Error(`Expected runs or windows, got ${matches.form}.`);
  if (second === undefined) return { bounds: first, also: undefined, cost: SCATTERED };
  const { ranks, from, to } = second;
  const also = (row: Row): boolean => ranks[row]! >= from && ranks[row]! < to;
  return { bounds: first, also, cost: 2 * SCATTERED };
}

function bitTest(bits: Int32Array): RowTest {
  return { bounds: undefined, also: (row) => bitOf(bits, row) === 1, cost: MARKED };
}

function select(
  scratch: Scratch,
  matches: Matches,
  order: Order,
  from: number,
  page: Uint32Array,
): void {
  const to = from + page.length;
  const rows = listRows(scratch, matches);
  if (rows.length <= FEW) {
    const { selection } = scratch;
    const { ranks } = order;
    for (let i = 0; i < rows.length; i++) selection.keys[i] = ranks[rows[i]!]!;
    if (selectFew(selection, rows, ranks.length, ranks, from, to, page)) return;
  }
  selectRanked(scratch, rows, order, from, to, page);
}

/**
 * What makes a row a match. The walk itself compares ranks: V8 does not inline a call whose
 * function varies with the form of the matches, which made a window's page take 1.2 times as long.
 */
interface RowTest {
  readonly bounds: Bounds | undefined;
  readonly also: ((row: Row) => boolean) | undefined;
  /** Nanoseconds a row. */
  readonly cost: number;
}

/** Rows that a walk passes between two checks whether the page is near. */
const STRIDE = 64;

const EVERYWHERE = { ranks: undefined, from: 0, to: 0 };

/** A walk along an order, from its nearer end, to a page of the matches. */
class Walk {
  readonly #rows: Uint32Array;
  readonly #page: Uint32Array;
  /** 1, or -1 towards the front. */
  readonly #step: number;
  #rank: Rank;
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

  /** Fills the page; returns false where that takes more than `most` rows. */
  run(test: RowTest, budget: Budget, most: number): boolean {
    const { cost } = test;
    const stretch = Math.ceil(budget.stretch / cost);
    for (let left = most; left > 0; left -= stretch) {
      if (this.#test(test, Math.min(stretch, left), budget)) return true;
      budget.charge(stretch * cost);
    }
    return false;
  }

  /** Tests `most` rows at most; returns whether the page is full. */
  #test({ bounds, also }: RowTest, most: number, budget: Budget): boolean {
    const { ranks, from, to } = bounds ?? EVERYWHERE;
    const rows = this.#rows;
    const page = this.#page;
    const step = this.#step;
    let rank = this.#rank;
    let toPass = this.#toPass;
    let taken = this.#taken;
    for (let left = most; left > 0 && taken < page.length; left--, rank += step) {
      const row = rows[rank]!;
      if (ranks !== undefined && (ranks[row]! < from || ranks[row]! >= to)) continue;
      if (also !== undefined && !also(row)) continue;
      if (toPass > 0) toPass--;
      else page[step > 0 ? taken++ : page.length - ++taken] = row;
    }
    budget.looks += Math.abs(rank - this.#rank);
    this.#rank = rank;
    this.#toPass = toPass;
    this.#taken = taken;
    return taken === page.length;
  }

  /** Walks to less than a stride before the page by bits alone: branches would be mispredicted. */
  pass(bits: Int32Array, budget: Budget): void {
    const stretch = Math.ceil(budget.stretch / MARKED);
    while (!this.#pass(bits, stretch, budget)) budget.charge(stretch * MARKED);
  }

  /** Passes some `most` rows; returns whether the page is near. */
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
