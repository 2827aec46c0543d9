import { type Budget, inStretches } from '../../budget.js';
import type { Centre } from '../region/centre.js';
import type { Places } from './ordered.js';

/** Rows with their haversines from the centre, index by index. */
export interface Measured {
  readonly rows: Int32Array;
  readonly distances: Float64Array;
}

/** Stretches of equal length that distances are counted in. */
const BUCKETS = 8_192;
/** Up to here distances are sorted. */
const SORTED = 2_048;
/** Smaller spans would make the scale infinite. */
const LEAST_SPAN = 1e-300;

// nanoseconds a row
const MEASURE = 25;
const COMPARE = 2;
const COUNT = 3;

/** Measures rows. Neighbours that share a place, as those of a pile do, are measured once. */
export function measureMany(
  budget: Budget,
  coords: Float64Array,
  centre: Centre,
  rows: Int32Array,
): Measured {
  const distances = new Float64Array(rows.length);
  inStretches(budget, 0, rows.length, MEASURE, (from, to) => {
    let lon = Number.NaN;
    let lat = Number.NaN;
    let distance = 0;
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      if (coords[2 * row] !== lon || coords[2 * row + 1] !== lat) {
        lon = coords[2 * row]!;
        lat = coords[2 * row + 1]!;
        distance = centre.to(coords, row);
      }
      distances[i] = distance;
    }
  });
  return { rows, distances };
}

/** The least and the greatest of some distances. */
function spanOf(budget: Budget, distances: Float64Array): [least: number, most: number] {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  inStretches(budget, 0, distances.length, COMPARE, (from, to) => {
    for (let i = from; i < to; i++) {
      const distance = distances[i]!;
      if (distance < least) least = distance;
      if (distance > most) most = distance;
    }
  });
  return [least, most];
}

/** Distances counted in stretches of equal length between the least and the greatest. */
interface Counts {
  readonly least: number;
  readonly scale: number;
  readonly sizes: Uint32Array;
}

/** Undefined where all distances are the same, or as good as. */
function countDistances(budget: Budget, distances: Float64Array): Counts | undefined {
  const [least, most] = spanOf(budget, distances);
  if (!(most - least > LEAST_SPAN)) return undefined;
  const scale = (BUCKETS - 1) / (most - least);
  const sizes = new Uint32Array(BUCKETS);
  inStretches(budget, 0, distances.length, COUNT, (from, to) => {
    for (let i = from; i < to; i++) sizes[Math.trunc((distances[i]! - least) * scale)]!++;
  });
  return { least, scale, sizes };
}

/**
 * Leaves out the rows whose distances lie before or behind the places asked for, by counting how
 * many there are in stretches of equal length: a pass or two where sorting them all would take
 * twenty. Returns the others, and the places among them.
 */
export function leaveOutDistances(
  budget: Budget,
  measured: Measured,
  { from, to }: Places,
): { readonly measured: Measured; readonly places: Places } {
  const { rows, distances } = measured;
  const counts = countDistances(budget, distances);
  if (counts === undefined) return { measured, places: { from, to } };
  const { least, scale, sizes } = counts;
  let first = 0;
  let skipped = 0;
  while (skipped + sizes[first]! <= from) skipped += sizes[first++]!;
  let last = first;
  let end = skipped + sizes[last]!;
  while (end < to) end += sizes[++last]!;

  const kept = { rows: new Int32Array(end - skipped), distances: new Float64Array(end - skipped) };
  let at = 0;
  inStretches(budget, 0, rows.length, COUNT, (start, stop) => {
    for (let i = start; i < stop; i++) {
      const bucket = Math.trunc((distances[i]! - least) * scale);
      if (bucket < first || bucket > last) continue;
      kept.rows[at] = rows[i]!;
      kept.distances[at++] = distances[i]!;
    }
  });
  return { measured: kept, places: { from: from - skipped, to: to - skipped } };
}

/**
 * The distances at two places when sorted. Where there are many, the stretch that has such a place
 * is counted again, more finely each time.
 */
export function distancesAt(
  budget: Budget,
  distances: Float64Array,
  first: number,
  second: number,
): [first: number, second: number] {
  if (distances.length > SORTED) {
    const least = distanceAt(budget, distances, first);
    return [least, distanceAt(budget, distances, second)];
  }
  const sorted = distances.slice().sort();
  return [sorted[first]!, sorted[second]!];
}

function distanceAt(budget: Budget, distances: Float64Array, place: number): number {
  let candidates = distances;
  let left = place;
  while (candidates.length > SORTED) {
    const counts = countDistances(budget, candidates);
    if (counts === undefined) break;
    const { least, scale, sizes } = counts;
    let bucket = 0;
    while (left >= sizes[bucket]!) left -= sizes[bucket++]!;
    const all = candidates;
    const kept = new Float64Array(sizes[bucket]!);
    let at = 0;
    inStretches(budget, 0, all.length, COUNT, (from, to) => {
      for (let i = from; i < to; i++) {
        const distance = all[i]!;
        if (Math.trunc((distance - least) * scale) === bucket) kept[at++] = distance;
      }
    });
    candidates = kept;
  }
  // either few, or all the same
  return candidates.length > SORTED ? candidates[0]! : candidates.slice().sort()[left]!;
}
