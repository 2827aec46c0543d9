import type { Dataset } from '../index/dataset.js';
import type { Delta, DeltaMatches } from '../index/delta.js';
import { firstAbove, type Order } from '../index/order.js';
import { Budget, inStretches } from '../model/budget.js';
import type { Filters, Ordering, Query, QueryWork } from '../model/query.js';
import { listRows, type Matches } from './common/matches.js';
import { type AccessPath, type Driver, SCATTERED } from './common/plan.js';
import { clear, createScratch, type Scratch } from './common/scratch.js';
import { findMatches } from './match.js';
import { takeMerged } from './merged-page.js';
import { takeNearest } from './page/nearest.js';
import { type Places, takeOrdered } from './page/ordered.js';

/** Overrides of the planner, for tests that every access path gives the same page. */
export interface Hints {
  readonly driver?: Driver;
  readonly accessPath?: AccessPath;
}

export interface PageRows {
  readonly count: number;
  /** From 1. */
  readonly page: number;
  readonly pageCount: number;
  /**
   * The page's rows, in order, are the first `length` of these; valid until the next query. Those
   * from the dataset's `count` on are rows of the delta, from 0.
   */
  readonly rows: Uint32Array;
  readonly length: number;
  /** Has the rows that are not the dataset's; undefined where there are none. */
  readonly delta: Delta | undefined;
  readonly work: QueryWork;
}

/** Makes something of matches, which are valid until it ends. */
export type Use<T> = (matches: Matches, scratch: Scratch) => T;

/**
 * Answers queries on one dataset, each within a budget: what {@link Budget.charge} throws leaves
 * nothing behind. `accepted` are the matches of a query among the points that were accepted since,
 * which belong to its answer: `matchDelta` finds them.
 */
export class Engine {
  readonly dataset: Dataset;
  /** Some 4 bytes a row, made for the first query. */
  #scratch: Scratch | undefined;

  constructor(dataset: Dataset) {
    this.dataset = dataset;
  }

  run(
    query: Query,
    hints: Hints = {},
    accepted?: DeltaMatches,
    budget: Budget = new Budget(),
  ): PageRows | undefined {
    return this.#within(budget, (own) => answerOf(this.dataset, own, query, hints, accepted));
  }

  /** Hands all matches to `use`, in the form that was cheapest to find; returns what it makes. */
  collect<T>(
    filters: Filters,
    use: Use<T>,
    { driver }: Hints = {},
    budget: Budget = new Budget(),
  ): T {
    return this.#within(budget, (own) => use(findMatches(this.dataset, own, filters, driver), own));
  }

  #within<T>(budget: Budget, work: (own: Scratch) => T): T {
    this.#scratch ??= createScratch(this.dataset.count);
    const scratch = this.#scratch;
    scratch.budget = budget;
    try {
      return work(scratch);
    } finally {
      clear(scratch);
    }
  }
}

/** Nanoseconds for a record of a page that is found, anywhere in memory, and sent. */
export const RECORD = 300;

/** The stages of a query: the matches, then the page. */
function answerOf(
  dataset: Dataset,
  scratch: Scratch,
  query: Query,
  hints: Hints,
  accepted: DeltaMatches | undefined,
): PageRows | undefined {
  const { budget } = scratch;
  const matches = findMatches(dataset, scratch, query.filters, hints.driver);
  const count = matches.count + (accepted === undefined ? 0 : accepted.rows.length);
  const place = locate(query, count);
  if (place === undefined) return undefined;
  const { page, pageCount, from, to } = place;
  // what the page costs later is known now
  budget.charge((to - from) * RECORD);
  if (from < to) takePage(dataset, scratch, query, matches, hints, accepted, place);
  const work = { looks: budget.looks, form: matches.form, accessPath: budget.accessPath };
  const delta = accepted?.delta;
  return { count, page, pageCount, rows: scratch.page, length: to - from, delta, work };
}

/** Writes the rows at the places to the front of `scratch.page`: of matches and accepted points. */
function takePage(
  dataset: Dataset,
  scratch: Scratch,
  { filters, ordering }: Pick<Query, 'filters' | 'ordering'>,
  matches: Matches,
  { accessPath }: Hints,
  accepted: DeltaMatches | undefined,
  places: Places,
): void {
  const [order, isDescending] =
    ordering === 'distance' ? [undefined, false] : orderOf(dataset, ordering);
  const take = (room: Scratch, some: Places): void =>
    order === undefined
      ? takeNearest(dataset, room, matches, filters, some, accessPath)
      : takeOrdered(dataset, room, matches, order, some, accessPath);
  const { count } = matches;
  const { from, to } = places;
  const all = count + (accepted?.rows.length ?? 0);
  // descending pages are ascending ones counted from the end, turned round
  const ascending = isDescending ? { from: all - to, to: all - from } : places;
  if (accepted === undefined) take(scratch, ascending);
  else takeMerged(dataset, scratch, { count, take }, accepted, filters, order, ascending);
  if (isDescending) scratch.page.subarray(0, to - from).reverse();
}

interface Place extends Pick<PageRows, 'page' | 'pageCount'> {
  /** The page's matches are at places `from` to `to - 1` of the order. */
  readonly from: number;
  readonly to: number;
}

/** Where a page of `count` matches is; undefined behind the last one. */
export function locate(
  { page: wanted, pageSize }: Pick<Query, 'page' | 'pageSize'>,
  count: number,
): Place | undefined {
  const pageCount = Math.max(1, Math.ceil(count / pageSize));
  const page = wanted === 'last' ? pageCount : wanted;
  if (page > pageCount) return undefined;
  const from = (page - 1) * pageSize;
  return { page, pageCount, from, to: Math.min(from + pageSize, count) };
}

/** The order that a list is read off, and whether from its end. */
export function orderOf(
  { byId, byCreatedAt, byModifiedAt }: Dataset,
  ordering: Exclude<Ordering, 'distance'>,
): [order: Order, isDescending: boolean] {
  if (ordering === 'id') return [byId, false];
  const order = ordering.endsWith('created_at') ? byCreatedAt : byModifiedAt;
  return [order, ordering.startsWith('-')];
}

/**
 * A page by ascending ids that begins behind an id, not at a place: points that come or go
 * meanwhile neither repeat others nor hide them.
 */
interface KeysetQuery {
  readonly filters: Filters;
  /** Ids on the page are above this one; 0 for the first page. */
  readonly after: number;
  /** From 1. */
  readonly limit: number;
}

/** All of `rows` are the page's. */
interface KeysetPage extends Pick<PageRows, 'count' | 'rows' | 'delta'> {
  /** The id that the next page begins behind; undefined on the last one. */
  readonly next: number | undefined;
}

/** The page that begins at the first match behind the id. */
export function takeKeyset(
  engine: Engine,
  { filters, after, limit }: KeysetQuery,
  accepted: DeltaMatches | undefined,
  budget?: Budget,
): KeysetPage {
  const { dataset } = engine;
  const { byId } = dataset;
  const take = (matches: Matches, scratch: Scratch): KeysetPage => {
    const delta = accepted?.delta;
    const count = matches.count + (accepted?.rows.length ?? 0);
    const from = matchesUpTo(dataset, scratch, matches, after) + acceptedUpTo(accepted, after);
    const to = Math.min(from + limit, count);
    const query = { filters, ordering: 'id' } as const;
    if (from < to) takePage(dataset, scratch, query, matches, {}, accepted, { from, to });
    const rows = scratch.page.slice(0, to - from);
    const last = rows.at(-1)!;
    const idOf = (row: number): number =>
      row < dataset.count ? byId.keys[byId.ranks[row]!]! : delta!.id[row - dataset.count]!;
    return { count, rows, delta, next: to < count ? idOf(last) : undefined };
  };
  return engine.collect(filters, take, undefined, budget);
}

/** How many matches have an id up to this one; costs what listing the matches costs. */
function matchesUpTo({ byId }: Dataset, scratch: Scratch, matches: Matches, id: number): number {
  const end = firstAbove(byId.keys, id);
  if (matches.form === 'all' || end === 0) return end;
  const { ranks } = byId;
  const rows = listRows(scratch, matches);
  let count = 0;
  inStretches(scratch.budget, 0, rows.length, SCATTERED, (from, to) => {
    for (let i = from; i < to; i++) count += ranks[rows[i]!]! < end ? 1 : 0;
  });
  return count;
}

function acceptedUpTo(accepted: DeltaMatches | undefined, id: number): number {
  if (accepted === undefined) return 0;
  const { delta, rows } = accepted;
  return rows.reduce((count, row) => count + (delta.id[row]! <= id ? 1 : 0), 0);
}
