import type { Dataset } from '../../dataset/dataset.js';
import type { Order, RankRange } from '../../dataset/order.js';
import type { Rank, Row } from '../../dataset/row.js';
import { CellWalk, cellRows } from '../cells.js';
import { listRows, type Matches } from '../match.js';
import { chooseWay, MARKED, REGION_TEST, SCATTERED, type Way, walkBudget } from '../plan.js';
import { FEW, type Scratch } from '../scratch.js';
import { narrowest, type Window } from '../windows.js';
import { andThen, inStretches, type Meter, type Step, type Work } from '../work.js';
import { selectFew, selectRanks } from './select.js';

/** Which matches make the page: places `from` to `to - 1` of the order, at least one. */
export interface Places {
  readonly from: number;
  readonly to: number;
}

/**
 * Writes the rows of a page to the front of `scratch.page`: the matches at the given places of an order,
 * or of its reverse. `forced` overrides the planner where there is a choice.
 */
export function takeOrdered(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  order: Order,
  descending: boolean,
  places: Places,
  forced?: Way,
): Step<void> {
  const length = places.to - places.from;
  // descending pages are ascending ones counted from the end, turned round
  const from = descending ? matches.count - places.to : places.from;
  const page = scratch.page.subarray(0, length);
  const taking = takeAscending(dataset, scratch, matches, order, from, page, forced);
  return descending ? andThen(taking, () => void page.reverse()) : taking;
}

/** Fills the page with the matches from place `from` of the order on. */
function takeAscending(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  order: Order,
  from: number,
  page: Uint32Array,
  forced?: Way,
): Step<void> {
  const windows = windowsOf(matches);
  const others = windows.filter((window) => window.order !== order);
  const range = windows.find((window) => window.order === order)?.range ?? wholeOf(order);
  if (others.length === 0 && (matches.form === 'windows' || matches.form === 'all')) {
    page.set(order.rows.subarray(range.from + from, range.from + from + page.length));
    return;
  }
  const { count, form } = matches;
  const { length } = page;
  const span = range.to - range.from;
  const end = Math.min(from + length, count - from);
  const hasCells = form === 'windows' && others.length === 1;
  const choose = (hasWalked: boolean): Way =>
    chooseWay(end, count, span, form, {
      length,
      listed: form === 'windows' && windows.length === 2 ? narrowest(windows).count : 0,
      cellRows: hasCells ? cellRows(dataset) : undefined,
      hasWalked,
    });
  return take(forced ?? choose(false));

  function take(way: Way): Step<void> {
    if (way === 'select') return select(dataset, scratch, matches, order, from, page);
    if (way === 'cells' && hasCells) {
      return new CellWalk(dataset, order, range, others[0]!).take(from, page, scratch.meter);
    }
    const walk = new Walk(count, from, range, order, page);
    if (way === 'mark' || form === 'rows') return takeMarked(dataset, scratch, matches, walk);
    const budget = forced === undefined ? walkBudget(end, count, span) : Infinity;
    const [test, cost] = rowTest(dataset, matches, others);
    return andThen(walk.run(test, cost, scratch.meter, budget), (isDone) =>
      isDone ? undefined : take(choose(true)),
    );
  }
}

/** Walks by a bit for each match. */
function takeMarked(dataset: Dataset, scratch: Scratch, matches: Matches, walk: Walk): Step<void> {
  const { bits, meter } = scratch;
  return andThen(mark(dataset, scratch, matches), () =>
    andThen(walk.pass(bits, meter), () =>
      andThen(walk.run(bitTest(bits), MARKED, meter, Infinity), () => void bits.fill(0)),
    ),
  );
}

const NO_WINDOWS: readonly Window[] = [];

function windowsOf(matches: Matches): readonly Window[] {
  return matches.form === 'windows' || matches.form === 'rows' ? matches.windows : NO_WINDOWS;
}

function wholeOf({ rows }: Order): RankRange {
  return { from: 0, to: rows.length };
}

/** Rows that are passed without a look at whether the page has begun. */
const STRIDE = 64;

/** A walk along an order, from its nearer end, to a page of the matches. */
class Walk {
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
   * `budget` rows.
   */
  run(test: RowTest, cost: number, meter: Meter, budget: number): Step<boolean> {
    const most = Math.ceil(meter.stretch / cost);
    if (this.#test(test, Math.min(most, budget))) return true;
    return budget <= most ? false : this.#goOn(test, cost, meter, budget - most, most);
  }

  *#goOn(test: RowTest, cost: number, meter: Meter, budget: number, most: number): Work<boolean> {
    for (let left = budget; left > 0; left -= most) {
      meter.left -= most * cost;
      if (meter.left < 0) yield;
      if (this.#test(test, Math.min(most, left))) return true;
    }
    return false;
  }

  /** Tests `most` rows at most; returns whether the page is full. */
  #test(test: RowTest, most: number): boolean {
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
    this.#rank = rank;
    this.#toPass = toPass;
    this.#taken = taken;
    return taken === page.length;
  }

  /**
   * Goes on by bits to a stride before the page at most: matches are counted, every other branch would be
   * mispredicted.
   */
  pass(bits: Int32Array, meter: Meter): Step<void> {
    const most = Math.ceil(meter.stretch / MARKED);
    return this.#pass(bits, most) ? undefined : this.#passOn(bits, meter, most);
  }

  *#passOn(bits: Int32Array, meter: Meter, most: number): Work<void> {
    do {
      meter.left -= meter.stretch;
      if (meter.left < 0) yield;
    } while (!this.#pass(bits, most));
  }

  /** Passes some `most` rows at most; returns whether the page is near. */
  #pass(bits: Int32Array, most: number): boolean {
    const rows = this.#rows;
    const step = this.#step;
    let rank = this.#rank;
    let toPass = this.#toPass;
    for (let left = most; left > 0 && toPass >= STRIDE; left -= STRIDE) {
      for (const end = rank + step * STRIDE; rank !== end; rank += step) {
        toPass -= bitOf(bits, rows[rank]!);
      }
    }
    this.#rank = rank;
    this.#toPass = toPass;
    return toPass < STRIDE;
  }
}

type RowTest = (row: Row) => boolean;

/** How to tell a match, and what that costs; `windows` are those of other orders. */
function rowTest(
  { coords }: Dataset,
  matches: Matches,
  windows: readonly Window[],
): [RowTest, cost: number] {
  if (matches.form === 'runs') {
    const { region } = matches;
    return [(row) => region.contains(coords, row), SCATTERED + REGION_TEST];
  }
  const tests = windows.map(({ order: { ranks }, range: { from, to } }): RowTest => {
    return (row) => ranks[row]! >= from && ranks[row]! < to;
  });
  const [first, second] = tests;
  if (first === undefined) throw new Error(`Expected runs or windows, got ${matches.form}.`);
  if (second === undefined) return [first, SCATTERED];
  return [(row) => first(row) && second(row), 2 * SCATTERED];
}

/** Sets the bit of each match, to tell it by: the bits of a million rows fit the cache, their ranks do not. */
function mark(dataset: Dataset, scratch: Scratch, matches: Matches): Step<void> {
  const { bits, meter } = scratch;
  return andThen(listRows(dataset, scratch, matches), (rows) =>
    inStretches(meter, 0, rows.length, MARKED, (from, to) => markRows(bits, rows, from, to)),
  );
}

function markRows(bits: Int32Array, rows: Int32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const row = rows[i]!;
    bits[row >>> 5]! |= 1 << (row & 31);
  }
}

function bitTest(bits: Int32Array): RowTest {
  return (row) => bitOf(bits, row) === 1;
}

function bitOf(bits: Int32Array, row: Row): number {
  return (bits[row >>> 5]! >>> (row & 31)) & 1;
}

/** Picks the page's matches by their ranks of the order. */
function select(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  order: Order,
  from: number,
  page: Uint32Array,
): Step<void> {
  return andThen(listRows(dataset, scratch, matches), (rows) =>
    selectOf(scratch, rows, order, from, page),
  );
}

function selectOf(
  scratch: Scratch,
  target: Int32Array,
  order: Order,
  from: number,
  page: Uint32Array,
): Step<void> {
  const to = from + page.length;
  const { ranks } = order;
  if (target.length <= FEW) {
    const { keys } = scratch.few;
    for (let i = 0; i < target.length; i++) keys[i] = ranks[target[i]!]!;
    if (selectFew(scratch, target.length, ranks.length, ranks, from, to, page)) return;
  }
  const looking = inStretches(scratch.meter, 0, target.length, SCATTERED, (first, end) =>
    lookUp(ranks, target, first, end),
  );
  return andThen(looking, () =>
    andThen(selectRanks(scratch, target.length, order.rows.length, from, to, page), () => {
      for (let i = 0; i < page.length; i++) page[i] = order.rows[page[i]!]!;
    }),
  );
}

/** Replaces rows by their ranks. */
function lookUp(ranks: Int32Array, target: Int32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) target[i] = ranks[target[i]!]!;
}
