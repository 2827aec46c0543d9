import type { Dataset } from '../index/dataset.js';
import type { Delta, DeltaMatches } from '../index/delta.js';
import type { Order, Row } from '../index/order.js';
import { inStretches, sortNumbers } from '../model/budget.js';
import type { Filters } from '../model/query.js';
import { MAX_PAGE_ROWS, type Scratch } from './common/scratch.js';
import type { Places } from './page/ordered.js';
import { Centre } from './region/centre.js';

// nanoseconds an accepted point
const KEY = 10; // read
const DISTANCE = 60; // measured
const COMPARE = 15; // with a row
const PLACE = 30; // put into the page, or passed before it

/** Takes a page of the dataset's own `count` matches in ascending order. */
interface OwnMatches {
  readonly count: number;
  take(scratch: Scratch, places: Places): void;
}

/** The keys of an order; ties go by id. */
interface Keys {
  of(row: Row): number;
  /** The key of an accepted point, in `cost` nanoseconds. */
  ofAccepted(row: number): number;
  readonly cost: number;
  /** All keys of the dataset lie within `least` and `most`. */
  readonly least: number;
  readonly most: number;
}

/**
 * Writes the given places of the dataset's matches and the accepted points together to the front of
 * `scratch.page`, by an order, or by distance where that is undefined.
 */
export function takeMerged(
  dataset: Dataset,
  scratch: Scratch,
  own: OwnMatches,
  { delta, rows: deltaRows }: DeltaMatches,
  filters: Filters,
  order: Order | undefined,
  places: Places,
): void {
  const { count, byId } = dataset;
  const { budget } = scratch;
  const keys = order ? keysOf(dataset, order, delta) : distances(dataset, filters, delta);
  const idOf = (row: Row): number => byId.keys[byId.ranks[row]!]!;
  const idAt = (i: number): number => delta.id[deltaRows[i]!]!;

  // accepted points that come before all rows of the dataset, and that may lie between them
  const measured = new Float64Array(deltaRows.length);
  let [before, between] = [0, 0];
  inStretches(budget, 0, deltaRows.length, keys.cost, (first, end) => {
    for (let i = first; i < end; i++) {
      const key = keys.ofAccepted(deltaRows[i]!);
      measured[i] = key;
      if (key < keys.least) before++;
      else if (key <= keys.most) between++;
    }
  });

  // places `from` to `to - 1` of the dataset's own matches may be on the page, which begins earlier
  // among them by each accepted point before it: hardly any by id or time, since they are newer
  const from = Math.max(0, Math.min(places.from - before - between, own.count));
  const to = Math.max(0, Math.min(places.to - before, own.count));
  const isLong = to - from > MAX_PAGE_ROWS;
  const stretch = isLong ? new Uint32Array(to - from) : scratch.page;
  if (from < to) own.take({ ...scratch, page: stretch }, { from, to });
  const rows = isLong ? stretch : stretch.slice(0, to - from);

  // accepted points behind the last of these matches are not on the page
  const last = to === own.count ? undefined : rows.at(-1);
  const lastKey = last === undefined ? Infinity : keys.of(last);
  const lastId = last === undefined ? Infinity : idOf(last);
  const list = new Int32Array(deltaRows.length);
  let listed = 0;
  inStretches(budget, 0, deltaRows.length, COMPARE, (first, end) => {
    for (let i = first; i < end; i++) {
      if ((measured[i]! - lastKey || idAt(i) - lastId) < 0) list[listed++] = i;
    }
  });
  const candidates = list.subarray(0, listed);
  sortNumbers(candidates, (a, b) => measured[a]! - measured[b]! || idAt(a) - idAt(b), budget);

  // merges both, and writes what is on the page
  let taken = 0;
  let next = 0;
  let ownKey = rows.length === 0 ? Infinity : keys.of(rows[0]!);
  inStretches(budget, from, places.to, PLACE, (first, end) => {
    for (let at = first; at < end; at++) {
      const i = candidates[next];
      const isAccepted =
        i !== undefined && (measured[i]! - ownKey || idAt(i) - idOf(rows[taken]!)) < 0;
      const row = isAccepted ? count + deltaRows[i]! : rows[taken]!;
      if (isAccepted) next++;
      else ownKey = ++taken === rows.length ? Infinity : keys.of(rows[taken]!);
      if (at >= places.from) scratch.page[at - places.from] = row;
    }
  });
}

/** The keys of an order of the dataset, and of the delta's column with the same ones. */
export function keysOf({ byId, byCreatedAt }: Dataset, order: Order, delta: Delta): Keys {
  const { keys, ranks } = order;
  const { id, createdAt, modifiedAt } = delta;
  const others = order === byCreatedAt ? createdAt : modifiedAt;
  const column = order === byId ? id : others;
  return {
    of: (row) => keys[ranks[row]!]!,
    ofAccepted: (row) => column[row]!,
    cost: KEY,
    least: keys[0]!,
    most: keys.at(-1)!,
  };
}

function distances({ coords }: Dataset, { circle }: Filters, delta: Delta): Keys {
  const centre = new Centre(circle!.lon, circle!.lat);
  return {
    of: (row) => centre.to(coords, row),
    ofAccepted: (row) => centre.to(delta.coords, row),
    cost: DISTANCE,
    least: 0,
    most: Infinity,
  };
}
