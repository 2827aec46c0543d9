import type { Row } from '../../index/order.js';
import { geodesic, LARGEST_RADIUS } from '../../model/geo.js';
import { GeodesicFrom } from '../../model/geodesic-from.js';
import type { Circle } from '../../model/query.js';
import type { Degrees, Metres } from '../../model/units.js';
import { ACROSS, INSIDE, isPlace, OUTSIDE, type Overlap, type Region } from './overlap.js';
import type { Patch } from './patch.js';

/** Between {@link GeodesicFrom} and the geodesic; a test finds a third of it. */
const AGREEMENT: Metres = 5e-8;
/** Tolerance for rounding and for {@link AGREEMENT}. */
const NOISE: Metres = 1e-6;

const RADIANS = Math.PI / 180;

// nanoseconds to measure a place, and in addition where the general solution must decide
const MEASURING = 500;
const SOLVING = 2_000;

/**
 * Tells for points near the rim of a circle which side they are on: by a geodesic for each place,
 * and by the general solution where rounding could decide. The place that was measured
 * last is remembered: points that share one are neighbours in memory.
 */
export class Rim {
  readonly #circle: Circle;
  #from: GeodesicFrom | undefined;
  readonly #isPolar: boolean;
  /** What a search has cost: places measured, and those that took the general solution. */
  measured = 0;
  solved = 0;
  // the place that was measured last
  #lon: Degrees = Number.NaN;
  #lat: Degrees = Number.NaN;
  #isWithin = false;
  // no point nearer than this to the one measured last is on the other side of the rim
  #margin: Metres = 0;

  constructor(circle: Circle) {
    this.#circle = circle;
    this.#isPolar = Math.abs(circle.lat) === 90;
  }

  get from(): GeodesicFrom {
    this.#from ??= new GeodesicFrom(this.#circle.lon, this.#circle.lat);
    return this.#from;
  }

  /** Nanoseconds that all measuring has taken, more or less. */
  get work(): number {
    const solved = this.solved + (this.#from?.solved ?? 0);
    return this.measured * MEASURING + solved * SOLVING;
  }

  /**
   * The overlap of a box in which the rim may lie: decided where all points of the box are equally
   * far away, since the box is a single place, or a parallel seen from a pole.
   */
  overlapInDoubt(boxes: Float64Array, at: number): Overlap {
    const isParallel = this.#isPolar && boxes[at + 1] === boxes[at + 3];
    if (!isPlace(boxes, at) && !isParallel) return ACROSS;
    return this.holds(boxes, at / 2) ? INSIDE : OUTSIDE;
  }

  /** Whether the geodesic to a point is no longer than the radius. */
  holds(coords: Float64Array, row: Row): boolean {
    const lat = coords[2 * row + 1]!;
    // a pole is one place, and so is a parallel when seen from a pole
    const isRound = lat === 90 || lat === -90 || this.#isPolar;
    const lon = isRound ? 0 : coords[2 * row]!;
    if (lon !== this.#lon || lat !== this.#lat) {
      this.#isWithin = this.#measure(coords, row);
      this.#lon = lon;
      this.#lat = lat;
    }
    return this.#isWithin;
  }

  #measure(coords: Float64Array, row: Row): boolean {
    const { from } = this;
    const { radius } = this.#circle;
    this.measured++;
    if (from.measure(coords, row)) {
      const distance = from.exactDistance;
      this.#margin = Math.abs(distance - radius) - NOISE;
      if (Math.abs(distance - radius) > AGREEMENT) return distance < radius;
    }
    this.solved++;
    return geodesic(from.lon, from.lat, coords[2 * row]!, coords[2 * row + 1]!) <= radius;
  }

  /**
   * Does what {@link Region.collect} does by single tests, which ask this rim. A distance changes
   * by no more than the way moved, so a point next to one that was measured may need no test.
   */
  collectEach(
    contains: Region['contains'],
    coords: Float64Array,
    from: Row,
    to: Row,
    bounds: Int32Array,
    at: number,
  ): number {
    let end = at;
    let measured = from;
    let within = false;
    this.#margin = 0;
    for (let row = from; row < to; row++) {
      if (this.#margin <= 0 || gapBetween(coords, measured, row) >= this.#margin) {
        this.#margin = 0;
        within = contains(coords, row);
        measured = row;
      }
      if (!within) continue;
      bounds[end++] = row;
      bounds[end++] = row + 1;
    }
    return end;
  }

  /** Collects the rows that the circle holds; all of them are in the patch. */
  collect(
    patch: Patch,
    coords: Float64Array,
    from: Row,
    to: Row,
    bounds: Int32Array,
    at: number,
  ): number {
    const { lon, lat, error, c00, c10, c01, c20, c11, c02, c30, c21, c12, c03 } = patch;
    let end = at;
    for (let row = from; row < to; row++) {
      const x = coords[2 * row]! - lon;
      const y = coords[2 * row + 1]! - lat;
      const beyond =
        c00 +
        x * (c10 + x * (c20 + x * c30 + y * c21)) +
        y * (c01 + y * (c02 + y * c03 + x * c12) + x * c11);
      // written always and counted by a comparison's bit: half of all branches would be mispredicted
      bounds[end] = row;
      bounds[end + 1] = row + 1;
      if (Math.abs(beyond) <= error) end += this.holds(coords, row) ? 2 : 0;
      else end += +(beyond < 0) << 1;
    }
    return end;
  }
}

/** An upper bound of the metres between two points. */
function gapBetween(coords: Float64Array, a: Row, b: Row): Metres {
  const [latA, latB] = [coords[2 * a + 1]!, coords[2 * b + 1]!];
  const dLon = Math.abs(coords[2 * b]! - coords[2 * a]!);
  const least = latA * latB <= 0 ? 0 : Math.min(Math.abs(latA), Math.abs(latB));
  const x = Math.min(dLon, 360 - dLon) * Math.cos(least * RADIANS);
  const y = latB - latA;
  return LARGEST_RADIUS * RADIANS * Math.sqrt(x * x + y * y);
}
