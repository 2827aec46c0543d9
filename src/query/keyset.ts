import type { Dataset } from '../index/dataset.js';
import type { Delta, DeltaMatches } from '../index/delta.js';
import { firstAbove } from '../index/order.js';
import { type Budget, inStretches } from '../model/budget.js';
import type { Filters } from '../model/query.js';
import { listRows, type Matches } from './common/matches.js';
import { SCATTERED } from './common/plan.js';
import type { Scratch } from './common/scratch.js';
import { type Engine, takePage } from './engine.js';

/**
 * A page by ascending ids that begins behind an id, not at a place: points that come or go
 * meanwhile neither repeat others nor hide them.
 */
export interface KeysetQuery {
  readonly filters: Filters;
  /** Ids on the page are above this one; 0 for the first page. */
  readonly after: number;
  /** From 1. */
  readonly limit: number;
}

export interface KeysetPage {
  readonly count: number;
  /** Rows of the page; those from the dataset's `count` on are rows of the delta, from 0. */
  readonly rows: Uint32Array;
  /** Has the rows that are not the dataset's; undefined where there are none. */
  readonly delta: Delta | undefined;
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
