import type { Dataset } from '../dataset/dataset.js';
import type { Order } from '../dataset/order.js';
import type { Row } from '../dataset/row.js';
import type { Tail, TailMatches } from '../dataset/tail.js';
import type { Filters } from '../model/query.js';
import { MAX_PAGE_ROWS, type Scratch } from './common/scratch.js';
import { andThen, type Step } from './common/work.js';
import type { Places } from './page/ordered.js';
import { Centre } from './region/centre.js';

/** Takes a page of the dataset's own matches, which are `count`, in ascending order. */
export interface OwnMatches {
  readonly count: number;
  take(scratch: Scratch, places: Places): Step<void>;
}

/** Keys that rows are sorted by; those of one key are sorted by their ids. */
interface Keys {
  /** The key of a row of the dataset. */
  of(row: Row): number;
  /** No row of the dataset has a smaller key than `least`, and none a larger one than `most`. */
  readonly least: number;
  readonly most: number;
  /** The keys of the accepted points, index by index. */
  readonly accepted: Float64Array;
}

/**
 * Writes the rows of a page to the front of `scratch.page`: the given places of the dataset's
 * matches and the accepted points together, ascending by an order, or by distance where that is
 * undefined. Row `dataset.count + i` stands for row `i` of the tail.
 *
 * Of the dataset's matches the page is taken and, before it, as many as there are accepted points
 * that may lie between them. Accepted points are newer than the others, nearly always, so that by
 * id and by time there are none.
 */
export function takeMerged(
  dataset: Dataset,
  scratch: Scratch,
  own: OwnMatches,
  accepted: TailMatches,
  filters: Filters,
  order: Order | undefined,
  places: Places,
): Step<void> {
  const keys = order ? keysOf(dataset, order, accepted) : distances(dataset, filters, accepted);
  const { before, between } = position(keys);
  const from = Math.max(0, Math.min(places.from - before - between, own.count));
  const to = Math.max(0, Math.min(places.to - before, own.count));
  const room = to - from > MAX_PAGE_ROWS ? new Uint32Array(to - from) : scratch.page;
  const taking = from < to ? own.take({ ...scratch, page: room }, { from, to }) : undefined;
  return andThen(taking, () => {
    const rows = room.slice(0, to - from);
    merge(dataset, keys, accepted, { rows, from, isLast: to === own.count }, places, scratch.page);
  });
}

/**
 * How many accepted points surely come before all rows of the dataset, and how many may lie between
 * them.
 */
function position({ accepted, least, most }: Keys): { before: number; between: number } {
  let before = 0;
  let between = 0;
  for (const key of accepted) {
    if (key < least) before++;
    else if (key <= most) between++;
  }
  return { before, between };
}

/** A stretch of the dataset's matches, the first at place `from` of them all. */
interface Stretch {
  readonly rows: Uint32Array;
  readonly from: number;
  /** Whether no match of the dataset follows. */
  readonly isLast: boolean;
}

/** Merges a stretch with the accepted points, and writes what stands at the places to `page`. */
function merge(
  { count, byId }: Dataset,
  keys: Keys,
  { tail, rows: tailRows }: TailMatches,
  stretch: Stretch,
  places: Places,
  page: Uint32Array,
): void {
  const { rows } = stretch;
  const idOf = (row: Row): number => byId.keys[byId.ranks[row]!]!;
  /** Below zero where accepted point `i` comes before a row. */
  const compare = (i: number, row: Row): number =>
    keys.accepted[i]! - keys.of(row) || tail.id[tailRows[i]!]! - idOf(row);

  // what comes behind the stretch is on no page that ends with it
  const last = stretch.isLast ? undefined : rows.at(-1);
  const candidates: number[] = [];
  for (let i = 0; i < tailRows.length; i++) {
    if (last === undefined || compare(i, last) < 0) candidates.push(i);
  }
  candidates.sort(
    (a, b) =>
      keys.accepted[a]! - keys.accepted[b]! || idAt(tail, tailRows, a) - idAt(tail, tailRows, b),
  );

  let own = 0;
  let next = 0;
  for (let place = stretch.from; place < places.to; place++) {
    const isAccepted =
      next < candidates.length &&
      (own === rows.length || compare(candidates[next]!, rows[own]!) < 0);
    const row = isAccepted ? count + tailRows[candidates[next++]!]! : rows[own++]!;
    if (place >= places.from) page[place - places.from] = row;
  }
}

function idAt({ id }: Tail, rows: Int32Array, i: number): number {
  return id[rows[i]!]!;
}

function keysOf(dataset: Dataset, order: Order, { tail, rows }: TailMatches): Keys {
  const { keys, ranks } = order;
  const column =
    order === dataset.byId
      ? tail.id
      : order === dataset.byCreatedAt
        ? tail.createdAt
        : tail.modifiedAt;
  return {
    of: (row) => keys[ranks[row]!]!,
    least: keys[0]!,
    most: keys.at(-1)!,
    accepted: Float64Array.from(rows, (row) => column[row]!),
  };
}

function distances({ coords }: Dataset, { circle }: Filters, { tail, rows }: TailMatches): Keys {
  const centre = new Centre(circle!.lon, circle!.lat);
  return {
    of: (row) => centre.to(coords, row),
    least: 0,
    most: Infinity,
    accepted: Float64Array.from(rows, (row) => centre.to(tail.coords, row)),
  };
}
