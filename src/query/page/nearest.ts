import { around } from 'geokdbush';
import { inStretches } from '../../budget.js';
import type { Dataset } from '../../dataset/dataset.js';
import { firstAbove } from '../../dataset/order.js';
import type { Row } from '../../dataset/row.js';
import type { Filters } from '../../model/query.js';
import { listRows, type Matches, markMatches } from '../common/matches.js';
import { chooseNearestWay, NEAREST, OUTWARDS, type Way } from '../common/plan.js';
import type { Runs } from '../common/runs.js';
import { FEW, type Scratch } from '../common/scratch.js';
import { sortNumbers } from '../common/sort.js';
import { Centre } from '../region/centre.js';
import type { Region } from '../region/overlap.js';
import { distancesAt, leaveOutDistances, type Measured, measureMany } from './distances.js';
import { leaveOutGroups } from './groups.js';
import { type Places, takeOrdered } from './ordered.js';
import { selectFew, selectRanked } from './select.js';

/** Up to here measuring every match is cheaper than finding out which need not be. */
const NOT_MANY = 2_048;

/**
 * How many more than the page needs are asked for, to see whether the last distance is shared; when
 * even these all share it, the search outwards is given up.
 */
const SPARES = [8, 256];

/**
 * Rows that a search outwards may look at, besides these for each one wanted. Where neighbours on
 * the map are as good as equally far away it would queue all of them.
 */
const FEWEST_LOOKS = 1_536;
const LOOKS_PER_ROW = 2;

/**
 * Two haversines of one distance, taken in different ways, differ by less than this share; the
 * search outwards computes its own.
 */
const AGREEMENT = 1e-6;
/** And by less than this, where both are as good as nought. */
const LEAST_GAP = 1e-30;

/** Nanoseconds of a look at a distance, and of one of the ranks of those that tie. */
const COMPARE = 2;
const LOOK_UP = 4;

/**
 * Writes the rows of a page to the front of `scratch.page`: the matches at the given places when
 * sorted by great-circle distance from the centre of the circle among the filters, ties by id.
 * `forced` overrides the planner.
 */
export function takeNearest(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  filters: Filters,
  places: Places,
  forced?: Way,
): void {
  const { lon, lat } = filters.circle!;
  const centre = new Centre(lon, lat);
  const { budget } = scratch;
  budget.way = 'distances';
  if (matches.form === 'runs') {
    // with a box as well, all that is near may lie outside it: no telling how far a search would go
    const choice =
      filters.boxes === undefined ? chooseNearestWay(places.to, matches.count) : 'select';
    if ((forced ?? choice) === 'walk') {
      const found = searchOutwards(dataset, scratch, centre, matches.region, places, matches.count);
      if (found !== undefined) {
        budget.way = 'outwards';
        pick(dataset, scratch, found, places);
        return;
      }
    }
    if (areInOnePlace(dataset, matches.runs)) {
      takeOrdered(dataset, scratch, matches, dataset.byId, false, places);
      return;
    }
  }
  if (matches.count > NOT_MANY) {
    select(dataset, scratch, centre, matches, places);
    return;
  }
  const rows = listRows(scratch, matches);
  pick(dataset, scratch, measureFew(dataset, scratch, centre, rows), places);
}

/** Whether all rows of the runs share their coordinates: then ids alone put them in order. */
function areInOnePlace({ blocks, coords }: Dataset, { bounds, length }: Runs): boolean {
  const { starts, boxes } = blocks;
  const [lon, lat] = [coords[2 * bounds[0]!]!, coords[2 * bounds[0]! + 1]!];
  for (let run = 0; run < length; run++) {
    const from = bounds[2 * run]!;
    const to = bounds[2 * run + 1]!;
    // a row is looked at first: mostly it settles the matter
    if (coords[2 * to - 2] !== lon || coords[2 * to - 1] !== lat) return false;
    for (let block = firstAbove(starts, from) - 1; starts[block]! < to; block++) {
      const at = 4 * block;
      if (boxes[at] !== lon || boxes[at + 1] !== lat) return false;
      if (boxes[at + 2] !== lon || boxes[at + 3] !== lat) return false;
    }
  }
  return true;
}

/**
 * Picks the page out of many matches. As bits they ascend: whole blocks of neighbours are counted
 * unseen.
 */
function select(
  dataset: Dataset,
  scratch: Scratch,
  centre: Centre,
  matches: Matches,
  places: Places,
): void {
  const { coords, blocks } = dataset;
  const { budget, rows } = scratch;
  const bits = markMatches(dataset, scratch, matches);
  const near = leaveOutGroups(budget, blocks, centre, bits, rows, places);
  const all = measureMany(budget, coords, centre, near.rows);
  const nearer = leaveOutDistances(budget, all, near.places);
  pick(dataset, scratch, nearer.measured, nearer.places);
}

/** Tells that a search outwards has looked at more rows than it may. */
class GivenUp extends Error {}

/**
 * The nearest matches, a few more than the page needs, so that none at the page's last distance is
 * missing; undefined when too many share it, or are nearly as far away.
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
  scratch.budget.charge(OUTWARDS + to * NEAREST);
  let looks = FEWEST_LOOKS + LOOKS_PER_ROW * to;
  const test = (row: Row): boolean => {
    if (looks-- === 0) throw new GivenUp();
    return region.contains(coords, row);
  };
  try {
    for (const spare of SPARES) {
      const wanted = Math.min(to + spare, count);
      // no maximum distance: beyond half the circumference it would wrap round
      const rows = around(radiusIndex, centre.lon, centre.lat, wanted, Infinity, test);
      const found = measureFew(dataset, scratch, centre, Int32Array.from(rows));
      const last = found.distances[wanted - 1]!;
      if (wanted === count || last > found.distances[to - 1]! * (1 + AGREEMENT) + LEAST_GAP)
        return found;
    }
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error;
  }
  return undefined;
}

/**
 * Distances of few rows are written to the scratch memory, from which {@link pick} sorts them: they
 * are its own then.
 */
function measureFew(
  { coords }: Dataset,
  { selection, budget }: Scratch,
  centre: Centre,
  rows: Int32Array,
): Measured {
  const { length } = rows;
  budget.looks += length;
  const distances = length <= FEW ? selection.keys.subarray(0, length) : new Float64Array(length);
  for (let i = 0; i < length; i++) distances[i] = centre.to(coords, rows[i]!);
  return { rows, distances };
}

/** Writes the rows at the places to the page, by distance, then id. */
function pick(dataset: Dataset, scratch: Scratch, measured: Measured, { from, to }: Places): void {
  const { rows, distances } = measured;
  const { ranks } = dataset.byId;
  if (rows.length <= FEW) {
    const { selection } = scratch;
    // what `measureFew` measured is there already
    if (distances.buffer !== selection.keys.buffer) selection.keys.set(distances);
    let most = 0;
    for (let i = 0; i < distances.length; i++) most = Math.max(most, distances[i]!);
    if (selectFew(selection, rows, most, ranks, from, to, scratch.page)) return;
  }
  pickTied(dataset, scratch, measured, { from, to });
}

/**
 * The same where many may be equally far away. All between the first and the last distance of the
 * page is on it; of what is at these two, which may be a great deal, ids decide.
 */
function pickTied(
  { byId }: Dataset,
  scratch: Scratch,
  { rows, distances }: Measured,
  { from, to }: Places,
): void {
  const { budget, page } = scratch;
  const [least, most] = distancesAt(budget, distances, from, to - 1);
  let before = 0;
  const list = new Int32Array(to - from);
  let listed = 0;
  // rows at the first and at the last distance; memory comes with what is written to it
  const first = new Int32Array(rows.length);
  const last = new Int32Array(rows.length);
  let firsts = 0;
  let lasts = 0;
  inStretches(budget, 0, rows.length, COMPARE + LOOK_UP, (start, end) => {
    for (let i = start; i < end; i++) {
      const distance = distances[i]!;
      if (distance < least) before++;
      else if (distance === least) first[firsts++] = rows[i]!;
      else if (distance === most) last[lasts++] = rows[i]!;
      else if (distance < most) list[listed++] = i;
    }
  });
  const idRank = (i: number): number => byId.ranks[rows[i]!]!;
  const between = list.subarray(0, listed);
  const compare = (a: number, b: number): number =>
    distances[a]! - distances[b]! || idRank(a) - idRank(b);
  sortNumbers(between, compare, budget);
  const middle = between.map((i) => rows[i]!);

  const skipped = from - before;
  const head = Math.min(firsts - skipped, to - from);
  take(first.subarray(0, firsts), skipped, page.subarray(0, head));
  page.set(middle, head);
  take(last.subarray(0, lasts), 0, page.subarray(head + middle.length, to - from));

  /** Writes the rows of the smallest ids after the first `skip`, as many as there is room for. */
  function take(tied: Int32Array, skip: number, out: Uint32Array): void {
    if (out.length === 0) return;
    selectRanked(scratch, tied, byId, skip, skip + out.length, out);
  }
}
