import type { Row } from '../../dataset/row.js';
import { geodesic, LARGEST_RADIUS } from '../../model/geo.js';
import { GeodesicFrom } from '../../model/geodesic-from.js';
import type { Circle } from '../../model/query.js';
import type { Degrees, Metres } from '../../model/units.js';
import { ACROSS, INSIDE, isPlace, OUTSIDE, type Overlap, type Region } from './overlap.js';
import type { Patch } from './patch.js';

/**
 * {@link GeodesicFrom} and the geodesic agree to this; test/model/geodesic-from.test.ts finds a
 * third of it.
 */
const AGREEMENT: Metres = 5e-8;
/** Tolerance for rounding and for {@link AGREEMENT}. */
const NOISE: Metres = 1e-6;

const RADIANS = Math.PI / 180;

// nanoseconds to measure a place, and in addition where the general solution must decide
const MEASURING = 500;
const SOLVING = 2_000;

/** Places that are remembered, a power of two. */
const PLACES = 1_024;
/** Odd numbers whose multiples look random. */
const SPREAD = 0x9e3779b1;
const OTHER_SPREAD = 0xc2b2ae35;
/** Which 32-bit half of a double has its sign. */
const SIGN = new Uint8Array(Uint16Array.of(1).buffer)[0]!;
const UNKNOWN = 0;
const WITHIN = 1;
const BEYOND = 2;

/** Memory of a rim, made when the first point is in doubt: small circles hardly ever need it. */
class Memory {
  /**
   * Longitude and latitude of each place that is remembered, at its hash, and the verdict on it.
   */
  readonly places: Float64Array = new Float64Array(2 * PLACES);
  readonly verdicts: Uint8Array = new Uint8Array(PLACES);
  /** Two numbers, to be read as bits. */
  readonly numbers: Float64Array = new Float64Array(2);
  readonly bits: Int32Array = new Int32Array(this.numbers.buffer);
}

/**
 * Tells for points near the rim of a circle which side they are on: by a geodesic for each place,
 * and by the general solution where rounding could decide. A place that many points share is
 * measured once.
 */
export class Rim {
  readonly #circle: Circle;
  #from: GeodesicFrom | undefined;
  #memory: Memory | undefined;
  readonly #isPolar: boolean;
  /**
   * Places that were measured, and how many of these took the general solution: what a search has
   * cost.
   */
  measured = 0;
  solved = 0;
  // no point nearer than this to the one measured last is on the other side of the rim
  #margin: Metres = 0;

  constructor(circle: Circle) {
    this.#circle = circle;
    this.#isPolar = Math.abs(circle.lat) === 90;
  }

  /** Geodesics from the circle's centre. */
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
    this.#memory ??= new Memory();
    const { places, verdicts } = this.#memory;
    const slot = slotOf(this.#memory, lon, lat);
    if (places[2 * slot] === lon && places[2 * slot + 1] === lat) {
      const verdict = verdicts[slot]!;
      if (verdict !== UNKNOWN) return verdict === WITHIN;
    }
    const within = this.#measure(coords, row);
    places[2 * slot] = lon;
    places[2 * slot + 1] = lat;
    verdicts[slot] = within ? WITHIN : BEYOND;
    return within;
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

  /**
   * Collects those rows from `from` to `to - 1` that the circle holds; all of them are in the
   * patch.
   */
  collect(
    patch: Patch,
    coords: Float64Array,
    from: Row,
    to: Row,
    bounds: Int32Array,
    at: number,
  ): number {
    const { lon, lat, error, c00, c10, c01, c20, c11, c02, c30, c21, c12, c03 } = patch;
    this.#memory ??= new Memory();
    const { numbers, bits } = this.#memory;
    let end = at;
    for (let row = from; row < to; row++) {
      const x = coords[2 * row]! - lon;
      const y = coords[2 * row + 1]! - lat;
      const beyond =
        c00 +
        x * (c10 + x * (c20 + x * c30 + y * c21)) +
        y * (c01 + y * (c02 + y * c03 + x * c12) + x * c11);
      // written always and counted by the sign bit: half of all branches would be mispredicted
      bounds[end] = row;
      bounds[end + 1] = row + 1;
      if (Math.abs(beyond) <= error) {
        end += this.holds(coords, row) ? 2 : 0;
      } else {
        numbers[0] = beyond;
        end += (bits[SIGN]! >>> 30) & 2;
      }
    }
    return end;
  }
}

function slotOf({ numbers, bits }: Memory, lon: Degrees, lat: Degrees): number {
  numbers[0] = lon;
  numbers[1] = lat;
  const first = Math.imul(bits[0]! ^ Math.imul(bits[1]!, SPREAD), SPREAD);
  const second = Math.imul(bits[2]! ^ Math.imul(bits[3]!, SPREAD), OTHER_SPREAD);
  const mixed = first ^ second;
  return (mixed ^ (mixed >>> 15)) & (PLACES - 1);
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
