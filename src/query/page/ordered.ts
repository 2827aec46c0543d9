import type { Dataset } from '../../dataset/dataset.js';
import type { Order } from '../../dataset/order.js';
import type { Rank, Row } from '../../dataset/row.js';
import { listRows, type Matches } from '../match.js';
import { chooseWay, type Way, walkBudget } from '../plan.js';
import { FEW, type Scratch } from '../scratch.js';
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
): void {
  const { count } = matches;
  const length = places.to - places.from;
  // descending pages are ascending ones counted from the end, turned round
  const from = descending ? count - places.to : places.from;
  const page = scratch.page.subarray(0, length);
  const start = sliceStart(matches, order);
  if (start !== undefined) {
    page.set(order.rows.subarray(start + from, start + from + length));
  } else {
    const end = Math.min(from + length, count - from);
    const way = forced ?? chooseWay(end, count, dataset.count, matches.form);
    const course = courseOf(count, from, length, dataset.count);
    if (way === 'mark' || (way === 'walk' && matches.form === 'rows')) {
      const test = mark(scratch, matches);
      walk(passMarked(scratch.bits, order, course), test, order, page, Infinity);
      scratch.bits.fill(0);
    } else {
      const budget = forced === undefined ? walkBudget(end, count, dataset.count) : Infinity;
      const isDone = way === 'walk' && walk(course, rowTest(dataset, matches), order, page, budget);
      if (!isDone) select(scratch, matches, order, from, page);
    }
  }
  if (descending) page.reverse();
}

/** Where the matches begin when they are a stretch of the order itself. */
function sliceStart(matches: Matches, order: Order): number | undefined {
  if (matches.form === 'all') return 0;
  return matches.form === 'window' && matches.order === order ? matches.range.from : undefined;
}

/** The way along an order, from its nearer end, to a page of the matches. */
interface Course {
  readonly rank: Rank;
  /** 1, or -1 towards the front. */
  readonly step: number;
  /** Matches before the page. */
  readonly toPass: number;
}

function courseOf(count: number, from: number, length: number, total: number): Course {
  const behind = count - from - length;
  return from <= behind
    ? { rank: 0, step: 1, toPass: from }
    : { rank: total - 1, step: -1, toPass: behind };
}

/** Tests rows along the order until the page is full. Returns false when that takes more than `budget` rows. */
function walk(
  { rank: first, step, toPass: before }: Course,
  test: RowTest,
  { rows }: Order,
  page: Uint32Array,
  budget: number,
): boolean {
  let rank = first;
  let toPass = before;
  let left = budget;
  for (let taken = 0; taken < page.length; rank += step) {
    if (left-- === 0) return false;
    const row = rows[rank]!;
    if (!test(row)) continue;
    if (toPass > 0) toPass--;
    else page[step > 0 ? taken++ : page.length - ++taken] = row;
  }
  return true;
}

type RowTest = (row: Row) => boolean;

function rowTest({ coords }: Dataset, matches: Matches): RowTest {
  if (matches.form === 'runs') {
    const { region } = matches;
    return (row) => region.contains(coords, row);
  }
  if (matches.form !== 'window') throw new Error(`Expected runs or a window, got ${matches.form}.`);
  const { ranks } = matches.order;
  const { from, to } = matches.range;
  return (row) => ranks[row]! >= from && ranks[row]! < to;
}

/** Sets the bit of each match, to tell it by: the bits of a million rows fit the cache, their ranks do not. */
function mark(scratch: Scratch, matches: Matches): RowTest {
  const { bits } = scratch;
  const rows = listRows(scratch, matches);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    bits[row >>> 5]! |= 1 << (row & 31);
  }
  return (row) => bitOf(bits, row) === 1;
}

function bitOf(bits: Int32Array, row: Row): number {
  return (bits[row >>> 5]! >>> (row & 31)) & 1;
}

/** Rows that are passed without a look at whether the page has begun. */
const STRIDE = 64;

/** The rest of the course, a stride before the page at most: matches are counted, every other branch would be mispredicted. */
function passMarked(bits: Int32Array, { rows }: Order, course: Course): Course {
  const { step } = course;
  let { rank, toPass } = course;
  while (toPass >= STRIDE) {
    for (const end = rank + step * STRIDE; rank !== end; rank += step) {
      toPass -= bitOf(bits, rows[rank]!);
    }
  }
  return { rank, step, toPass };
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
  const { ranks } = order;
  const target = listRows(scratch, matches);
  if (target.length <= FEW) {
    const { keys } = scratch.few;
    for (let i = 0; i < target.length; i++) keys[i] = ranks[target[i]!]!;
    if (selectFew(scratch, target.length, ranks.length, ranks, from, to, page)) return;
  }
  for (let i = 0; i < target.length; i++) target[i] = ranks[target[i]!]!;
  selectRanks(scratch, target.length, order.rows.length, from, to, page);
  for (let i = 0; i < page.length; i++) page[i] = order.rows[page[i]!]!;
}
