import { around } from 'geokdbush';
import type { Dataset } from '../../dataset/dataset.js';
import { lowerBound, type Order } from '../../dataset/order.js';
import type { Row } from '../../dataset/row.js';
import { listRows, type Matches } from '../match.js';
import { chooseNearestWay, type Way } from '../plan.js';
import type { Filters } from '../query.js';
import { Centre } from '../region/centre.js';
import type { Region } from '../region/overlap.js';
import { FEW, type Scratch } from '../scratch.js';
import { andThen, drain, type Step } from '../work.js';
import { leaveOutDistances, leaveOutGroups, type Measured } from './groups.js';
import type { Places } from './ordered.js';
import { selectFew, selectRanks } from './select.js';

/** Up to here measuring every match is cheaper than finding out which need not be. */
const NOT_MANY = 2_048;

/**
 * How many more than the page needs are asked for, to see whether the last distance is shared; when even
 * these all share it, the search outwards is given up.
 */
const SPARES = [8, 256];

/**
 * Two haversines of one distance, taken in different ways, differ by less than this share; the search
 * outwards computes its own.
 */
const AGREEMENT = 1e-6;
/** And by less than this, where both are as good as nought. */
const LEAST_GAP = 1e-30;

/**
 * Writes the rows of a page to the front of `scratch.page`: the matches at the given places when sorted by
 * great-circle distance from the centre of the circle among the filters, ties by id. `forced` overrides the planner.
 */
export function takeNearest(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  filters: Filters,
  places: Places,
  forced?: Way,
): Step<void> {
  const { lon, lat } = filters.circle!;
  const centre = new Centre(lon, lat);
  if (matches.form === 'runs') {
    // with a box as well, all that is near may lie outside it: no telling how far a search would go
    const choice =
      filters.boxes === undefined ? chooseNearestWay(places.to, matches.count) : 'select';
    if ((forced ?? choice) === 'walk') {
      const found = searchOutwards(dataset, scratch, centre, matches.region, places, matches.count);
      if (found !== undefined) {
        pick(dataset, scratch, found, places);
        return undefined;
      }
    }
  }
  return andThen(listRows(dataset, scratch, matches), (rows) =>
    pickOf(dataset, scratch, matches, centre, rows, places),
  );
}

/** Picks the page out of all matches. */
function pickOf(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  centre: Centre,
  rows: Int32Array,
  places: Places,
): void {
  const near =
    rows.length > NOT_MANY && isAscending(matches)
      ? leaveOutGroups(dataset.blocks, centre, rows, places)
      : { rows, places };
  const measured = measure(dataset, scratch, centre, near.rows);
  const nearer =
    near.rows.length > NOT_MANY
      ? leaveOutDistances(measured, near.places)
      : { measured, places: near.places };
  pick(dataset, scratch, nearer.measured, nearer.places);
}

/**
 * The nearest matches, a few more than the page needs, so that none at the page's last distance is missing;
 * undefined when too many share it.
 */
function searchOutwards(
  dataset: Dataset,
  scratch: Scratch,
  centre: Centre,
  region: Region,
  { to }: Places,
  count: number,
): Measured | undefined {
  const { radiusIndex, coords } = dataset;
  const test = (row: Row): boolean => region.contains(coords, row);
  for (const spare of SPARES) {
    const wanted = Math.min(to + spare, count);
    // no maximum distance: beyond half the circumference it would wrap round
    const rows = around(radiusIndex, centre.lon, centre.lat, wanted, Infinity, test);
    const found = measure(dataset, scratch, centre, Int32Array.from(rows));
    const last = found.distances[wanted - 1]!;
    if (wanted === count || last > found.distances[to - 1]! * (1 + AGREEMENT) + LEAST_GAP)
      return found;
  }
  return undefined;
}

function isAscending(matches: Matches): boolean {
  return matches.form === 'runs' || (matches.form === 'rows' && matches.ascending);
}

/** Distances of few rows are written to the scratch memory, from which {@link pick} sorts them: they are its own then. */
function measure(
  { coords }: Dataset,
  { few }: Scratch,
  centre: Centre,
  rows: Int32Array,
): Measured {
  const { length } = rows;
  const distances = length <= FEW ? few.keys.subarray(0, length) : new Float64Array(length);
  for (let i = 0; i < length; i++) distances[i] = centre.to(coords, rows[i]!);
  return { rows, distances };
}

/** Writes the rows at the places to the page, by distance, then id. */
function pick(
  { byId }: Dataset,
  scratch: Scratch,
  { rows, distances }: Measured,
  { from, to }: Places,
): void {
  if (rows.length <= FEW) {
    scratch.matches.set(rows);
    scratch.few.keys.set(distances);
    let most = 0;
    for (let i = 0; i < distances.length; i++) most = Math.max(most, distances[i]!);
    if (selectFew(scratch, rows.length, most, byId.ranks, from, to, scratch.page)) return;
  }
  // numbers alone are sorted natively, ten times faster than pairs by a comparator
  const sorted = distances.slice().sort();
  const least = sorted[from]!;
  const most = sorted[to - 1]!;

  // all between the first and the last distance of the page is on it; of what is at these two, which may
  // be a great deal, ids decide
  const between: number[] = [];
  const first: number[] = [];
  const last: number[] = [];
  for (let i = 0; i < rows.length; i++) {
    const distance = distances[i]!;
    if (distance < least || distance > most) continue;
    if (distance === least) first.push(byId.ranks[rows[i]!]!);
    else if (distance === most) last.push(byId.ranks[rows[i]!]!);
    else between.push(i);
  }
  const idRank = (i: number): number => byId.ranks[rows[i]!]!;
  between.sort((a, b) => distances[a]! - distances[b]! || idRank(a) - idRank(b));
  const middle = between.map((i) => rows[i]!);

  const { page } = scratch;
  const skipped = from - lowerBound(sorted, least);
  const head = Math.min(first.length - skipped, to - from);
  takeRanks(scratch, byId, first, skipped, head, page);
  page.set(middle, head);
  const tail = to - from - head - middle.length;
  if (tail > 0) takeRanks(scratch, byId, last, 0, tail, page.subarray(head + middle.length));
}

/** Writes `length` rows to the front of `out`: those of the smallest id ranks after the first `skipped`. */
function takeRanks(
  scratch: Scratch,
  byId: Order,
  ranks: readonly number[],
  skipped: number,
  length: number,
  out: Uint32Array,
): void {
  scratch.matches.set(ranks);
  const { length: count } = ranks;
  drain(
    selectRanks(scratch, count, byId.rows.length, skipped, skipped + length, out),
    scratch.meter,
  );
  for (let i = 0; i < length; i++) out[i] = byId.rows[out[i]!]!;
}
