import type { Row } from '../../dataset/row.js';
import { geodesic } from '../../model/geo.js';
import { GeodesicFrom } from '../../model/geodesic-from.js';
import type { Degrees, Metres } from '../../model/units.js';
import type { Circle } from '../query.js';
import { isPlace } from './overlap.js';
import type { Patch } from './patch.js';

/** {@link GeodesicFrom} and the geodesic agree to this; test/model/geodesic-from.test.ts finds a third of it. */
const AGREEMENT: Metres = 5e-8;

// nanoseconds: of a place, and more where the general solution must decide
const MEASURING = 500;
const SOLVING = 2_000;

/** Places that are remembered, a power of two. */
const PLACES = 1_024;
/** Odd numbers whose multiples look random. */
const SPREAD = 0x9e3779b1;
const OTHER_SPREAD = 0xc2b2ae35;
/** Which half of a number has its sign. */
const SIGN = new Uint8Array(Uint16Array.of(1).buffer)[0]!;
const UNKNOWN = 0;
const WITHIN = 1;
const BEYOND = 2;

/**
 * Tells for points near the rim of a circle which side they are on: by a geodesic for each place, and by the general
 * solution where rounding could decide. A place that many points share is measured once.
 */
export class Rim {
  readonly from: GeodesicFrom;
  readonly radius: Metres;
  readonly #isPolar: boolean;
  /** Places that were measured, and how many of these took the general solution: what a search has cost. */
  measured = 0;
  solved = 0;
  // longitude and latitude of each place that is remembered, at its hash
  #places: Float64Array | undefined;
  #verdicts = new Uint8Array(0);
  readonly #place = new Float64Array(2);
  readonly #bits = new Int32Array(this.#place.buffer);

  constructor({ lon, lat, radius }: Circle) {
    this.from = new GeodesicFrom(lon, lat);
    this.radius = radius;
    this.#isPolar = Math.abs(lat) === 90;
  }

  /** Nanoseconds that all measuring has taken, more or less. */
  get work(): number {
    return this.measured * MEASURING + this.solved * SOLVING;
  }

  /** Whether all points of a box are equally far away: because it is a single place, or a parallel seen from a pole. */
  isOneDistance(boxes: Float64Array, at: number): boolean {
    return isPlace(boxes, at) || (this.#isPolar && boxes[at + 1] === boxes[at + 3]);
  }

  /** Whether the geodesic to a point is no longer than the radius. */
  holds(coords: Float64Array, row: Row): boolean {
    const lat = coords[2 * row + 1]!;
    // a pole is one place, and so is a parallel when seen from a pole
    const isRound = lat === 90 || lat === -90 || this.#isPolar;
    const lon = isRound ? 0 : coords[2 * row]!;
    const places = this.#remembered();
    const slot = this.#slotOf(lon, lat);
    if (places[2 * slot] === lon && places[2 * slot + 1] === lat) {
      const verdict = this.#verdicts[slot]!;
      if (verdict !== UNKNOWN) return verdict === WITHIN;
    }
    const within = this.#measure(coords, row);
    places[2 * slot] = lon;
    places[2 * slot + 1] = lat;
    this.#verdicts[slot] = within ? WITHIN : BEYOND;
    return within;
  }

  #measure(coords: Float64Array, row: Row): boolean {
    const { from, radius } = this;
    this.measured++;
    if (from.measure(coords, row)) {
      const distance = from.exactDistance;
      if (Math.abs(distance - radius) > AGREEMENT) return distance < radius;
    }
    this.solved++;
    return geodesic(from.lon, from.lat, coords[2 * row]!, coords[2 * row + 1]!) <= radius;
  }

  #slotOf(lon: Degrees, lat: Degrees): number {
    this.#place[0] = lon;
    this.#place[1] = lat;
    const [a, b, c, d] = this.#bits as unknown as [number, number, number, number];
    const mixed =
      Math.imul(a ^ Math.imul(b, SPREAD), SPREAD) ^
      Math.imul(c ^ Math.imul(d, SPREAD), OTHER_SPREAD);
    return (mixed ^ (mixed >>> 15)) & (PLACES - 1);
  }

  #remembered(): Float64Array {
    if (this.#places === undefined) {
      this.#places = new Float64Array(2 * PLACES);
      this.#verdicts = new Uint8Array(PLACES);
    }
    return this.#places;
  }

  /** Collects, as a region does, those of the rows `from` to `to - 1` that the circle holds; all are in the patch. */
  collect(
    patch: Patch,
    coords: Float64Array,
    from: Row,
    to: Row,
    bounds: Int32Array,
    at: number,
  ): number {
    const { lon, lat, error, c00, c10, c01, c20, c11, c02, c30, c21, c12, c03 } = patch;
    const value = this.#place;
    const halves = this.#bits;
    let end = at;
    for (let row = from; row < to; row++) {
      const x = coords[2 * row]! - lon;
      const y = coords[2 * row + 1]! - lat;
      const beyond =
        c00 +
        x * (c10 + x * (c20 + x * c30 + y * c21)) +
        y * (c01 + y * (c02 + y * c03 + x * c12) + x * c11);
      // written in any case, to be overwritten, and counted by the sign bit: half of all branches would be mispredicted
      bounds[end] = row;
      bounds[end + 1] = row + 1;
      if (Math.abs(beyond) <= error) {
        end += this.holds(coords, row) ? 2 : 0;
      } else {
        value[0] = beyond;
        end += (halves[SIGN]! >>> 30) & 2;
      }
    }
    return end;
  }
}
