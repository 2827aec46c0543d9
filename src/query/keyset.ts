import type { Dataset } from '../index/dataset.js';
import type { Delta, DeltaMatches } from '../index/delta.js';
import { firstAbove } from '../index/order.js';
import { type Budget, inStretches, sortNumbers } from '../model/budget.js';
import type { Filters } from '../model/query.js';
import { bitOf } from './common/marks.js';
import { listRows, type Matches, markMatches } from './common/matches.js';
import { MARKED, NEIGHBOUR, SCATTERED } from './common/plan.js';
import type { Scratch } from './common/scratch.js';
import type { Engine } from './engine.js';

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

export function takeKeyset(
  engine: Engine,
  { filters, after, limit }: KeysetQuery,
  accepted: DeltaMatches | undefined,
  budget?: Budget,
): KeysetPage {
  const { dataset } = engine;
  // one more than the page has tells whether there is another
  return engine.collect(
    filters,
    (matches, scratch) => {
      const own = takeAfter(dataset, scratch, matches, after, limit + 1);
      const more = acceptedAfter(dataset, scratch, accepted, after);
      const idOf = idsOf(dataset, accepted?.delta);
      const rows = merge(own, more, idOf, limit + 1);
      return {
        count: matches.count + (accepted?.rows.length ?? 0),
        rows: rows.subarray(0, limit),
        delta: accepted?.delta,
        next: rows.length > limit ? idOf(rows[limit - 1]!) : undefined,
      };
    },
    undefined,
    budget,
  );
}

/** Up to `MOST_SORTED` matches are sorted, in less time than a walk past all rows takes. */
const MOST_SORTED = 4_096;

/**
 * The rows of the first matches whose ids are above `after`, by ascending ids: `most` of them, or
 * all there are. Costs what finding and marking the matches costs, wherever the page lies.
 */
function takeAfter(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  after: number,
  most: number,
): Uint32Array {
  const { keys, rows, ranks } = dataset.byId;
  const from = firstAbove(keys, after);
  if (matches.form === 'all') return Uint32Array.from(rows.subarray(from, from + most));
  if (matches.count <= MOST_SORTED) {
    const found = listRows(scratch, matches);
    const behind = found.map((row) => ranks[row]!).filter((rank) => rank >= from);
    scratch.budget.charge(4 * found.length * SCATTERED);
    return Uint32Array.from(behind.sort().subarray(0, most), (rank) => rows[rank]!);
  }
  const bits = markMatches(scratch, matches);
  const page = new Uint32Array(most + 1);
  const stretch = Math.ceil(scratch.budget.stretch / MARKED);
  let count = 0;
  for (let rank = from; rank < rows.length && count < most; ) {
    const first = rank;
    const end = Math.min(rows.length, rank + stretch);
    for (; rank < end && count < most; rank++) {
      const row = rows[rank]!;
      // written in any case: a branch would be mispredicted
      page[count] = row;
      count += bitOf(bits, row);
    }
    scratch.budget.charge((rank - first) * MARKED);
  }
  return page.subarray(0, count);
}

const NONE = new Int32Array(0);

type IdOf = (row: number) => number;

function idsOf({ byId, count }: Dataset, delta: Delta | undefined): IdOf {
  return (row) => (row < count ? byId.keys[byId.ranks[row]!]! : delta!.id[row - count]!);
}

/** Rows of accepted points with ids above `after`, by ascending ids, behind those of the dataset. */
function acceptedAfter(
  { count }: Dataset,
  { budget }: Scratch,
  accepted: DeltaMatches | undefined,
  after: number,
): Int32Array {
  if (accepted === undefined) return NONE;
  const { delta, rows } = accepted;
  const list = new Int32Array(rows.length);
  let listed = 0;
  inStretches(budget, 0, rows.length, NEIGHBOUR, (from, to) => {
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      if (delta.id[row]! > after) list[listed++] = count + row;
    }
  });
  const found = list.subarray(0, listed);
  sortNumbers(found, (a, b) => delta.id[a - count]! - delta.id[b - count]!, budget);
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
