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
  /** The first `length`, until the next query; rows from `dataset.count` on are the delta's. */
  readonly rows: Uint32Array;
  readonly length: number;
  readonly delta: Delta | undefined;
  readonly work: QueryWork;
}

/** Makes something of matches, which are valid until it returns. */
export type Use<T> = (matches: Matches, scratch: Scratch) => T;

/**
 * Answers queries on one dataset within budgets, which may throw. `accepted` are a query's matches
 * in the delta, by `matchDelta`.
 */
export class Engine {
  readonly dataset: Dataset;
  /** Some 4 bytes a row, made with the first query. */
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

  /** Hands all matches to `use`; returns what it makes. */
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

/** Nanoseconds to find a record of a page, anywhere in memory, and to send it. */
export const RECORD = 300;

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
  // what sending the page costs later is known now
  budget.charge((to - from) * RECORD);
  if (from < to) takePage(dataset, scratch, query, matches, hints, accepted, place);
  const work = { looks: budget.looks, form: matches.form, accessPath: budget.accessPath };
  const delta = accepted?.delta;
  return { count, page, pageCount, rows: scratch.page, length: to - from, delta, work };
}

/** Writes the matches and accepted points at the places to the front of `scratch.page`. */
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
  // a descending page is an ascending one counted from the end, reversed
  const ascending = isDescending ? { from: all - to, to: all - from } : places;
  if (accepted === undefined) take(scratch, ascending);
  else takeMerged(dataset, scratch, { count, take }, accepted, filters, order, ascending);
  if (isDescending) scratch.page.subarray(0, to - from).reverse();
}

type Place = Pick<PageRows, 'page' | 'pageCount'> & Places;

/** The place of a page among `count` matches; undefined for a page behind the last one. */
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

/** The order that an ordering reads, and whether from its end. */
export function orderOf(
  { byId, byCreatedAt, byModifiedAt }: Dataset,
  ordering: Exclude<Ordering, 'distance'>,
): [order: Order, isDescending: boolean] {
  if (ordering === 'id') return [byId, false];
  const order = ordering.endsWith('created_at') ? byCreatedAt : byModifiedAt;
  return [order, ordering.startsWith('-')];
}

/** A page by ascending ids that begins behind an id: new points neither repeat nor hide others. */
interface KeysetQuery {
  readonly filters: Filters;
  /** The page's ids are greater; 0 for the first page. */
  readonly after: number;
  /** From 1. */
  readonly limit: number;
}

/** All of `rows` are the page's. */
interface KeysetPage extends Pick<PageRows, 'count' | 'rows' | 'delta'> {
  /** `after` of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

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

/** How many matches have ids up to `id`; lists the matches. */
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
