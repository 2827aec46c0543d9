import type { Dataset } from '../../dataset/dataset.js';
import type { Order, RankRange } from '../../dataset/order.js';
import { CellWalk, cellRows, narrowRange } from '../common/cells.js';
import { bitOf } from '../common/marks.js';
import {
  costOfListing,
  costOfMarking,
  listRows,
  type Matches,
  markMatches,
} from '../common/matches.js';
import {
  BIT_TEST,
  type Choice,
  chooseWay,
  MARKED,
  RUN_TEST,
  SCATTERED,
  type Way,
} from '../common/plan.js';
import { FEW, type Scratch } from '../common/scratch.js';
import type { Window } from '../common/windows.js';
import { selectFew, selectRanked } from './select.js';
import { type RowTest, Walk } from './walk.js';

/** Of more matches it is told where in the order they begin and end, which takes some 20 µs. */
const MANY = 16_384;

/** Which matches make the page: places `from` to `to - 1` of the order, at least one. */
export interface Places {
  readonly from: number;
  readonly to: number;
}

/**
 * Writes the rows of a page to the front of `scratch.page`: the matches at the given places of an
 * order, or of its reverse. `forced` overrides the planner where there is a choice.
 */
export function takeOrdered(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  order: Order,
  descending: boolean,
  places: Places,
  forced?: Way,
): void {
  const length = places.to - places.from;
  // descending pages are ascending ones counted from the end, turned round
  const from = descending ? matches.count - places.to : places.from;
  const page = scratch.page.subarray(0, length);
  takeAscending(dataset, scratch, matches, order, from, page, forced);
  if (descending) page.reverse();
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
): void {
  const windows = windowsOf(matches);
  const others = windows.filter((window) => window.order !== order);
  let range = windows.find((window) => window.order === order)?.range ?? wholeOf(order);
  if (others.length === 0 && (matches.form === 'windows' || matches.form === 'all')) {
    page.set(order.rows.subarray(range.from + from, range.from + from + page.length));
    scratch.budget.way = 'slice';
    return;
  }
  const { count, form } = matches;
  const { length } = page;
  if (form !== 'windows' && count > MANY) {
    for (const window of others) range = narrowRange(dataset, order, range, window, scratch.budget);
  }
  const span = range.to - range.from;
  const end = Math.min(from + length, count - from);
  const hasCells = form === 'windows' && others.length === 1;
  const choose = (hasWalked: boolean): Choice =>
    chooseWay(end, count, span, form, {
      length,
      tests: others.length,
      listing: costOfListing(dataset, matches),
      marking: costOfMarking(dataset, matches),
      cellRows: hasCells ? cellRows(dataset) : undefined,
      hasWalked,
    });
  take(forced === undefined ? choose(false) : { way: forced, most: Infinity });

  function take({ way, most }: Choice): void {
    scratch.budget.way = way;
    if (way === 'select') select(scratch, matches, order, from, page);
    else if (way === 'cells' && hasCells) {
      new CellWalk(dataset, order, range, others[0]!).take(from, page, scratch.budget);
    } else {
      const walk = new Walk(count, from, range, order, page);
      if (way === 'mark' || form === 'rows') takeMarked(dataset, scratch, matches, walk);
      else {
        const [test, cost] = rowTest(matches, others);
        if (!walk.run(test, cost, scratch.budget, most)) take(choose(true));
      }
    }
  }
}

/** Walks by a bit for each match: the bits of a million rows fit the cache, their ranks do not. */
function takeMarked(dataset: Dataset, scratch: Scratch, matches: Matches, walk: Walk): void {
  const { budget } = scratch;
  const bits = markMatches(dataset, scratch, matches);
  walk.pass(bits, budget);
  walk.run((row) => bitOf(bits, row) === 1, MARKED, budget, Infinity);
}

const NO_WINDOWS: readonly Window[] = [];

function windowsOf(matches: Matches): readonly Window[] {
  return 'windows' in matches ? matches.windows : NO_WINDOWS;
}

function wholeOf({ rows }: Order): RankRange {
  return { from: 0, to: rows.length };
}

/** How to tell a match, and what that costs; `windows` are those of other orders. */
function rowTest(matches: Matches, windows: readonly Window[]): [RowTest, cost: number] {
  if (matches.form === 'runs') {
    const { runs } = matches;
    return [(row) => runs.has(row), RUN_TEST];
  }
  if (matches.form === 'bits') {
    const { bits } = matches;
    return [(row) => bitOf(bits, row) === 1, BIT_TEST];
  }
  const tests = windows.map(({ order: { ranks }, range: { from, to } }): RowTest => {
    return (row) => ranks[row]! >= from && ranks[row]! < to;
  });
  const [first, second] = tests;
  if (first === undefined) throw new Error(`Expected runs or windows, got ${matches.form}.`);
  if (second === undefined) return [first, SCATTERED];
  return [(row) => first(row) && second(row), 2 * SCATTERED];
}

/** Picks the page's matches by their ranks of the order. */
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
