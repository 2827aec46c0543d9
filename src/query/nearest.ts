import { around } from 'geokdbush';
import { putUnion } from '../dataset/blocks.js';
import type { Dataset } from '../dataset/dataset.js';
import { firstAbove, lowerBound, type Order } from '../dataset/order.js';
import type { Row } from '../dataset/row.js';
import { Centre } from './centre.js';
import { listRows, type Matches } from './match.js';
import type { Places } from './ordered.js';
import type { Region } from './overlap.js';
import { chooseNearestWay, type Way } from './plan.js';
import type { Filters } from './query.js';
import { FEW, type Scratch } from './scratch.js';
import { selectFew, selectRanks } from './select.js';

/** Rows with their haversines from the centre, index by index. */
interface Measured {
  readonly rows: Int32Array;
  readonly distances: Float64Array;
}

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
): void {
  const { lon, lat } = filters.circle!;
  const centre = new Centre(lon, lat);
  if (matches.form === 'runs') {
    // with a box as well, all that is near may lie outside it: no telling how far a search would go
    const choice =
      filters.boxes === undefined ? chooseNearestWay(places.to, matches.count) : 'select';
    if ((forced ?? choice) === 'walk') {
      const found = searchOutwards(dataset, centre, matches.region, places, matches.count);
      if (found !== undefined) {
        pick(dataset, scratch, found, places);
        return;
      }
    }
  }
  const rows = listRows(scratch, matches);
  if (rows.length <= FEW && pickFew(dataset, scratch, centre, rows, places)) return;
  if (rows.length <= NOT_MANY || !isAscending(matches)) {
    pick(dataset, scratch, measure(dataset.coords, centre, rows), places);
    return;
  }
  const { candidates, skipped } = nearCandidates(dataset, centre, rows, places);
  const rest = { from: places.from - skipped, to: places.to - skipped };
  pick(dataset, scratch, measure(dataset.coords, centre, candidates), rest);
}

/**
 * The nearest matches, a few more than the page needs, so that none at the page's last distance is missing;
 * undefined when too many share it.
 */
function searchOutwards(
  { radiusIndex, coords }: Dataset,
  centre: Centre,
  region: Region,
  { to }: Places,
  count: number,
): Measured | undefined {
  const test = (row: Row): boolean => region.contains(coords, row);
  for (const spare of SPARES) {
    const wanted = Math.min(to + spare, count);
    // no maximum distance: beyond half the circumference it would wrap round
    const rows = around(radiusIndex, centre.lon, centre.lat, wanted, Infinity, test);
    const found = measure(coords, centre, Int32Array.from(rows));
    const last = found.distances[wanted - 1]!;
    if (wanted === count || last > found.distances[to - 1]! * (1 + AGREEMENT) + LEAST_GAP)
      return found;
  }
  return undefined;
}

/** Writes the rows at the places to the page, of a few; false when they are too close to each other for it. */
function pickFew(
  { coords, byId }: Dataset,
  scratch: Scratch,
  centre: Centre,
  rows: Int32Array,
  { from, to }: Places,
): boolean {
  const { keys } = scratch.few;
  let most = 0;
  for (let i = 0; i < rows.length; i++) {
    const distance = centre.to(coords, rows[i]!);
    keys[i] = distance;
    if (distance > most) most = distance;
  }
  return selectFew(scratch, rows.length, most, byId.ranks, from, to, scratch.page);
}

function isAscending(matches: Matches): boolean {
  return matches.form === 'runs' || (matches.form === 'rows' && matches.ascending);
}

function measure(coords: Float64Array, centre: Centre, rows: Int32Array): Measured {
  const distances = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    distances[i] = centre.to(coords, rows[i]!);
  }
  return { rows, distances };
}

/** So many blocks are kept or left out as one: a subtree, too. */
const GROUP_BLOCKS = 4;
/** One for each float of six fractional bits, up to 1. */
const BUCKETS = 8_192;

/** Matching rows of neighbouring blocks, `start` to `end - 1` of the list, and the span of their distances. */
interface Group {
  readonly start: number;
  readonly end: number;
  readonly nearest: number;
  readonly farthest: number;
}

/**
 * Leaves out the groups of rows that surely come before or after the places asked for. Returns the other
 * rows and how many were left out in front of them. `rows` ascend.
 */
function nearCandidates(
  dataset: Dataset,
  centre: Centre,
  rows: Int32Array,
  { from, to }: Places,
): { candidates: Int32Array; skipped: number } {
  const groups = groupRows(dataset, centre, rows);
  // rows in groups that end before a bucket, and in groups that begin in it or before
  const surelyBefore = new Float64Array(BUCKETS + 1);
  const possiblyWithin = new Float64Array(BUCKETS);
  for (const { start, end, nearest, farthest } of groups) {
    surelyBefore[bucketOf(farthest) + 1]! += end - start;
    possiblyWithin[bucketOf(nearest)]! += end - start;
  }
  for (let i = 1; i < BUCKETS; i++) {
    surelyBefore[i]! += surelyBefore[i - 1]!;
    possiblyWithin[i]! += possiblyWithin[i - 1]!;
  }

  const candidates = new Int32Array(rows.length);
  let kept = 0;
  let skipped = 0;
  for (const { start, end, nearest, farthest } of groups) {
    if (possiblyWithin[bucketOf(farthest)]! <= from) skipped += end - start;
    else if (surelyBefore[bucketOf(nearest)]! < to) {
      candidates.set(rows.subarray(start, end), kept);
      kept += end - start;
    }
  }
  return { candidates: candidates.subarray(0, kept), skipped };
}

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/**
 * Buckets as wide as their distances are great: a whole city would fit the first of equal ones. The bits of a
 * float from nought to 1, read as a number, grow with it.
 */
function bucketOf(distance: number): number {
  float[0] = distance;
  return bits[0]! >>> 17;
}

function groupRows({ blocks }: Dataset, centre: Centre, rows: Int32Array): Group[] {
  const { starts, boxes } = blocks;
  const groups: Group[] = [];
  const box = new Float64Array(4);
  let cursor = 0;
  while (cursor < rows.length) {
    const start = cursor;
    const block = firstAbove(starts, rows[cursor]!) - 1;
    const first = block - (block % GROUP_BLOCKS);
    const last = Math.min(first + GROUP_BLOCKS, starts.length - 1);
    while (cursor < rows.length && rows[cursor]! < starts[last]!) cursor++;
    putUnion(box, 0, boxes, first, last);
    centre.bound(box, 0);
    groups.push({ start, end: cursor, nearest: centre.least, farthest: centre.most });
  }
  return groups;
}

/** Writes the rows at the places to the page, by distance, then id. */
function pick(
  { byId }: Dataset,
  scratch: Scratch,
  { rows, distances }: Measured,
  { from, to }: Places,
): void {
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
  selectRanks(scratch, ranks.length, byId.rows.length, skipped, skipped + length, out);
  for (let i = 0; i < length; i++) out[i] = byId.rows[out[i]!]!;
}
