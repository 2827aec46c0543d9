import { around } from 'geokdbush';
import type KDBush from 'kdbush';
import type { Dataset } from '../../index/dataset.js';
import type { Row } from '../../index/order.js';
import { type Budget, inStretches, sortNumbers } from '../../model/budget.js';
import type { Filters } from '../../model/query.js';
import { bitOf } from '../common/marks.js';
import { listRows, type Matches, markMatches } from '../common/matches.js';
import { type AccessPath, chooseNearestPath, FEW, NEAREST, OUTWARDS } from '../common/plan.js';
import { findRuns, Runs } from '../common/runs.js';
import type { Scratch } from '../common/scratch.js';
import { Centre } from '../region/centre.js';
import { frameOf } from '../region/circle.js';
import { regionOf } from '../region/region.js';
import type { Places } from './ordered.js';
import { selectFew } from './select.js';

/** Points that a search asks for beyond the page, to see whether others tie with its last one. */
const SPARE = 8;

/**
 * A search outwards may look at `FEWEST_LOOKS` rows and `LOOKS_PER_ROW` for each one wanted. Where
 * all points are nearly as far away it would queue all of them.
 */
const FEWEST_LOOKS = 1_536;
const LOOKS_PER_ROW = 2;

/** geokdbush's haversine of a distance differs from that of `Centre` by a smaller share. */
const AGREEMENT = 1e-6;
/** Of geokdbush's sphere, in kilometres. */
const EARTH_RADIUS = 6371;
/** Two haversines of nearly 0 differ by less. */
const LEAST_GAP = 1e-30;

/** Buckets of equal width that distances are counted in. */
const STRETCHES = 8_192;
/** A smaller span of distances would make the scale infinite. */
const LEAST_SPAN = 1e-300;

// nanoseconds a row
const MEASURE = 25;
const COMPARE = 2; // a look at a distance
const COUNT = 3;
const TEST = 80; // whether a row is a match

/**
 * Writes the matches at the given places, sorted by great-circle distance from the centre of the
 * circle, ties by id, to the front of `scratch.page`.
 */
export function takeNearest(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  filters: Filters,
  places: Places,
  forced?: AccessPath,
): void {
  const { lon, lat } = filters.circle!;
  const centre = new Centre(lon, lat);
  const { budget } = scratch;
  budget.accessPath = 'distances';
  // where there is a box, all near points may lie outside it, and a search would go far
  const choice =
    filters.boxes === undefined ? chooseNearestPath(places.to, matches.count) : 'select';
  if ((forced ?? choice) === 'walk') {
    const found = searchOutwards(dataset, scratch, centre, matches, places);
    if (found !== undefined) {
      budget.accessPath = 'outwards';
      pick(dataset, scratch, found, places);
      return;
    }
  }
  const all = measure(dataset, scratch, centre, listRows(scratch, matches));
  if (matches.count <= FEW) pick(dataset, scratch, all, places);
  else {
    const nearer = leaveOutDistances(budget, all, places);
    pick(dataset, scratch, nearer.measured, nearer.places);
  }
}

/** Rows and their haversines from the centre. */
interface Measured {
  readonly rows: Int32Array;
  readonly distances: Float64Array;
}

/** A search outwards has looked at more rows than it may. */
class GivenUp extends Error {}

/**
 * The nearest matches up to the end of the page, with all that tie with the last of them; undefined
 * where too many others are nearly as far away.
 */
function searchOutwards(
  dataset: Dataset,
  scratch: Scratch,
  centre: Centre,
  matches: Matches,
  { to }: Places,
): Measured | undefined {
  const { trees, coords } = dataset;
  const { budget } = scratch;
  budget.charge(OUTWARDS + to * NEAREST);
  const isMatch = testOf(dataset, scratch, matches);
  let looks = FEWEST_LOOKS + LOOKS_PER_ROW * to;
  const test = (row: Row): boolean => {
    if (looks-- === 0) throw new GivenUp();
    return isMatch(row);
  };
  const wanted = Math.min(to + SPARE, matches.count);
  const rows: Row[] = [];
  // haversine of the last one wanted among those found so far
  let last = 1;
  try {
    for (const tree of trees) {
      const sine = Math.sqrt(Math.min(1, last * (1 + AGREEMENT) + LEAST_GAP));
      const most = 2 * EARTH_RADIUS * Math.asin(sine);
      rows.push(...around(tree as unknown as KDBush, centre.lon, centre.lat, wanted, most, test));
      if (rows.length < wanted || tree === trees.at(-1)) continue;
      last = Float64Array.from(rows, (row) => centre.to(coords, row)).sort()[wanted - 1]!;
    }
  } catch (error) {
    if (error instanceof GivenUp) return undefined;
    throw error;
  }
  const found = measure(dataset, scratch, centre, Int32Array.from(rows));
  const sorted = found.distances.toSorted();
  const most = sorted[to - 1]! * (1 + AGREEMENT) + LEAST_GAP;
  if (wanted === matches.count || sorted[wanted - 1]! > most) return found;
  // more points may tie with the last one: all of them lie in the frame of a circle through it
  const radius = 2000 * EARTH_RADIUS * Math.asin(Math.sqrt(Math.min(1, most)));
  const frame = frameOf({ lat: centre.lat, lon: centre.lon, radius });
  const { west, east } = frame;
  const boxes =
    west <= east
      ? [frame]
      : [
          { ...frame, east: 180 },
          { ...frame, west: -180 },
        ];
  const { bounds, length } = findRuns(dataset, regionOf({ boxes })!, new Runs(), budget);
  const near: Row[] = [];
  for (let run = 0; run < length; run++) {
    inStretches(budget, bounds[2 * run]!, bounds[2 * run + 1]!, TEST, (from, end) => {
      for (let row = from; row < end; row++) if (isMatch(row)) near.push(row);
    });
  }
  return measure(dataset, scratch, centre, Int32Array.from(near));
}

function testOf(dataset: Dataset, scratch: Scratch, matches: Matches): (row: Row) => boolean {
  if (matches.form === 'runs') {
    const { region } = matches;
    return (row) => region.contains(dataset.coords, row);
  }
  const bits = markMatches(dataset, scratch, matches);
  return (row) => bitOf(bits, row) === 1;
}

function measure(
  { coords }: Dataset,
  { budget, selection }: Scratch,
  centre: Centre,
  rows: Int32Array,
): Measured {
  const { length } = rows;
  // up to FEW rows are sorted by these keys
  const distances = length > FEW ? new Float64Array(length) : selection.keys.subarray(0, length);
  inStretches(budget, 0, rows.length, MEASURE, (from, to) => {
    for (let i = from; i < to; i++) distances[i] = centre.to(coords, rows[i]!);
  });
  return { rows, distances };
}

/**
 * Leaves out rows that lie before or behind the places asked for, by counting distances in buckets:
 * two passes where sorting would take twenty. Returns the other rows, and the places among them.
 */
function leaveOutDistances(
  budget: Budget,
  { rows, distances }: Measured,
  { from, to }: Places,
): { readonly measured: Measured; readonly places: Places } {
  const { length } = rows;
  let [least, most] = [Infinity, 0];
  inStretches(budget, 0, length, COMPARE, (start, end) => {
    for (let i = start; i < end; i++) {
      const distance = distances[i]!;
      if (distance < least) least = distance;
      if (distance > most) most = distance;
    }
  });
  const scale = most - least > LEAST_SPAN ? (STRETCHES - 1) / (most - least) : 0;
  const sizes = new Uint32Array(STRETCHES);
  inStretches(budget, 0, length, COUNT, (start, end) => {
    for (let i = start; i < end; i++) sizes[Math.trunc((distances[i]! - least) * scale)]!++;
  });
  let first = 0;
  let skipped = 0;
  while (skipped + sizes[first]! <= from) skipped += sizes[first++]!;
  let last = first;
  let end = skipped + sizes[last]!;
  while (end < to) end += sizes[++last]!;

  const kept = { rows: new Int32Array(end - skipped), distances: new Float64Array(end - skipped) };
  let at = 0;
  inStretches(budget, 0, length, COUNT, (start, stop) => {
    for (let i = start; i < stop; i++) {
      const stretch = Math.trunc((distances[i]! - least) * scale);
      if (stretch < first || stretch > last) continue;
      kept.rows[at] = rows[i]!;
      kept.distances[at++] = distances[i]!;
    }
  });
  return { measured: kept, places: { from: from - skipped, to: to - skipped } };
}

/** Sorts by distance, ties by id, and writes the rows at the places to the page. */
function pick(
  { byId }: Dataset,
  { selection, page, budget }: Scratch,
  { rows, distances }: Measured,
  { from, to }: Places,
): void {
  const { ranks } = byId;
  if (rows.length <= FEW) {
    if (distances.buffer !== selection.keys.buffer) selection.keys.set(distances);
    let most = 0;
    for (let i = 0; i < distances.length; i++) most = Math.max(most, distances[i]!);
    if (selectFew(selection, rows, most, ranks, from, to, page)) return;
  }
  const sorted = Int32Array.from(rows.keys());
  const compare = (a: number, b: number): number =>
    distances[a]! - distances[b]! || ranks[rows[a]!]! - ranks[rows[b]!]!;
  sortNumbers(sorted, compare, budget);
  for (let place = from; place < to; place++) page[place - from] = rows[sorted[place]!]!;
}
