import { type Budget, inStretches } from '../budget.js';
import type { Dataset } from '../dataset/dataset.js';
import type { Tail, TailMatches } from '../dataset/tail.js';
import type { Filters } from '../model/query.js';
import { NEIGHBOUR } from './common/plan.js';
import type { Scratch } from './common/scratch.js';
import { sortNumbers } from './common/sort.js';
import type { Engine } from './engine.js';
import { takeAfter } from './page/after.js';

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
  /** Matches on all pages. */
  readonly count: number;
  /** Rows of the page; those from the dataset's `count` on are rows of the tail, from 0. */
  readonly rows: Uint32Array;
  /** Has the rows that are not the dataset's; undefined where there are none. */
  readonly tail: Tail | undefined;
  /** The id that the next page begins behind; undefined on the last one. */
  readonly next: number | undefined;
}

/** Takes a page. `accepted` are the matches of the tail. */
export function takeKeyset(
  engine: Engine,
  { filters, after, limit }: KeysetQuery,
  accepted: TailMatches | undefined,
  budget?: Budget,
): KeysetPage {
  const { dataset } = engine;
  // one more than the page has tells whether there is another
  return engine.collect(
    filters,
    (matches, scratch) => {
      const own = takeAfter(dataset, scratch, matches, after, limit + 1);
      const more = acceptedAfter(dataset, scratch, accepted, after);
      const idOf = idsOf(dataset, accepted?.tail);
      const rows = merge(own, more, idOf, limit + 1);
      return {
        count: matches.count + (accepted?.rows.length ?? 0),
        rows: rows.subarray(0, limit),
        tail: accepted?.tail,
        next: rows.length > limit ? idOf(rows[limit - 1]!) : undefined,
      };
    },
    undefined,
    budget,
  );
}

const NONE = new Int32Array(0);

type IdOf = (row: number) => number;

function idsOf({ byId, count }: Dataset, tail: Tail | undefined): IdOf {
  return (row) => (row < count ? byId.keys[byId.ranks[row]!]! : tail!.id[row - count]!);
}

/** Rows of accepted points with ids above `after`, by ascending ids, behind those of the dataset. */
function acceptedAfter(
  { count }: Dataset,
  { budget }: Scratch,
  accepted: TailMatches | undefined,
  after: number,
): Int32Array {
  if (accepted === undefined) return NONE;
  const { tail, rows } = accepted;
  const list = new Int32Array(rows.length);
  let listed = 0;
  inStretches(budget, 0, rows.length, NEIGHBOUR, (from, to) => {
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      if (tail.id[row]! > after) list[listed++] = count + row;
    }
  });
  const found = list.subarray(0, listed);
  sortNumbers(found, (a, b) => tail.id[a - count]! - tail.id[b - count]!, budget);
  return found;
}

function merge(own: Uint32Array, more: Int32Array, idOf: IdOf, most: number): Uint32Array {
  const rows = new Uint32Array(Math.min(most, own.length + more.length));
  let [i, j] = [0, 0];
  for (let at = 0; at < rows.length; at++) {
    const isOwn = j === more.length || (i < own.length && idOf(own[i]!) < idOf(more[j]!));
    rows[at] = isOwn ? own[i++]! : more[j++]!;
  }
  return rows;
}
