import { inStretches, isWork, type Meter, type Work } from '../common/work.js';
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
export function* measureMany(
  meter: Meter,
  coords: Float64Array,
  centre: Centre,
  rows: Int32Array,
): Work<Measured> {
  const distances = new Float64Array(rows.length);
  yield* each(meter, rows.length, MEASURE, (from, to) => {
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

/** Does `work` on `0` to `count - 1` in stretches. */
export function* each(
  meter: Meter,
  count: number,
  cost: number,
  work: (from: number, to: number) => void,
): Work<void> {
  const step = inStretches(meter, 0, count, cost, work);
  if (isWork(step)) yield* step;
}

/** The least and the greatest of some distances. */
function* spanOf(meter: Meter, distances: Float64Array): Work<[least: number, most: number]> {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  yield* each(meter, distances.length, COMPARE, (from, to) => {
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
function* countDistances(meter: Meter, distances: Float64Array): Work<Counts | undefined> {
  const [least, most] = yield* spanOf(meter, distances);
  if (!(most - least > LEAST_SPAN)) return undefined;
  const scale = (BUCKETS - 1) / (most - least);
  const sizes = new Uint32Array(BUCKETS);
  yield* each(meter, distances.length, COUNT, (from, to) => {
    for (let i = from; i < to; i++) sizes[Math.trunc((distances[i]! - least) * scale)]!++;
  });
  return { least, scale, sizes };
}

/**
 * Leaves out the rows whose distances lie before or behind the places asked for, by counting how
 * many there are in stretches of equal length: a pass or two where sorting them all would take
 * twenty. Returns the others, and the places among them.
 */
export function* leaveOutDistances(
  meter: Meter,
  measured: Measured,
  { from, to }: Places,
): Work<{ readonly measured: Measured; readonly places: Places }> {
  const { rows, distances } = measured;
  const counts = yield* countDistances(meter, distances);
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
  yield* each(meter, rows.length, COUNT, (start, stop) => {
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
export function* distancesAt(
  meter: Meter,
  distances: Float64Array,
  first: number,
  second: number,
): Work<[first: number, second: number]> {
  if (distances.length > SORTED) {
    const least = yield* distanceAt(meter, distances, first);
    return [least, yield* distanceAt(meter, distances, second)];
  }
  const sorted = distances.slice().sort();
  return [sorted[first]!, sorted[second]!];
}

function* distanceAt(meter: Meter, distances: Float64Array, place: number): Work<number> {
  let candidates = distances;
  let left = place;
  while (candidates.length > SORTED) {
    const counts = yield* countDistances(meter, candidates);
    if (counts === undefined) break;
    const { least, scale, sizes } = counts;
    let bucket = 0;
    while (left >= sizes[bucket]!) left -= sizes[bucket++]!;
    const all = candidates;
    const kept = new Float64Array(sizes[bucket]!);
    let at = 0;
    yield* each(meter, all.length, COUNT, (from, to) => {
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
