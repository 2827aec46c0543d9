import type { Row } from '../../index/order.js';
import { EQUATOR_RADIUS, FLATTENING, geodesic } from '../../model/geo.js';
import type { Circle } from '../../model/query.js';
import type { Degrees, Metres } from '../../model/units.js';

const RADIANS = Math.PI / 180;

/** Estimates are off by `SHARE` × distance ÷ cos³(angle ÷ 2) at most: twice that of 10M pairs. */
const SHARE = 6e-9;
/** Rounding errors, here and in the geodesic. */
const ROUNDING: Metres = 1e-7;
/** The squared cosine of half the angle below which an estimate is useless: beyond 18,500 km. */
const FAR = 0.0145;

// nanoseconds
const ESTIMATING = 80;
const SOLVING = 2_500;

/**
 * Tells on which side of a circle's rim points are, by an estimate with a known error, or else by
 * the geodesic. Remembers the last place: points that share one are neighbours in memory.
 */
export class Rim {
  /** The largest possible error of the last {@link beyond}. */
  error: Metres = 0;
  estimated = 0;
  solved = 0;
  readonly #circle: Circle;
  // of the centre's reduced latitude
  readonly #sin: number;
  readonly #cos: number;
  #lon: Degrees = Number.NaN;
  #lat: Degrees = Number.NaN;
  #isWithin = false;

  constructor(circle: Circle) {
    this.#circle = circle;
    const tan = (1 - FLATTENING) * Math.sin(circle.lat * RADIANS);
    const cos = Math.cos(circle.lat * RADIANS);
    const norm = 1 / Math.sqrt(tan * tan + cos * cos);
    this.#sin = tan * norm;
    this.#cos = cos * norm;
  }

  /** Nanoseconds of all measuring so far. */
  get work(): number {
    return this.estimated * ESTIMATING + this.solved * SOLVING;
  }

  /**
   * The length of the geodesic to a row's point, less the radius, by the series of Forsyth, Andoyer
   * and Lambert to the square of the flattening: the great circle between the reduced latitudes,
   * and what the ellipsoid adds to it.
   */
  beyond(coords: Float64Array, row: Row): Metres {
    const { lon, radius } = this.#circle;
    const phi = coords[2 * row + 1]! * RADIANS;
    const lambda = (coords[2 * row]! - lon) * RADIANS;
    const tan = (1 - FLATTENING) * Math.sin(phi);
    const cosPhi = Math.cos(phi);
    const norm = 1 / Math.sqrt(tan * tan + cosPhi * cosPhi);
    const cos2 = cosPhi * norm;
    const sum = tan * norm + this.#sin;
    const gap = tan * norm - this.#sin;
    // the chord through the auxiliary sphere
    const x = cos2 * Math.cos(lambda) - this.#cos;
    const y = cos2 * Math.sin(lambda);
    const sinSquare = (x * x + y * y + gap * gap) / 4;
    const cosSquare = 1 - sinSquare;
    this.estimated++;
    this.error = ROUNDING;
    if (sinSquare === 0) return -radius;
    if (cosSquare < FAR) {
      this.error = 0;
      return this.#solve(coords, row) - radius;
    }
    const sinHalf = Math.sqrt(sinSquare);
    const cosHalf = Math.sqrt(cosSquare);
    const sin = 2 * sinHalf * cosHalf;
    const t = (2 * Math.asin(sinHalf)) / sin;
    const u = (sum * sum) / (2 * cosSquare);
    const v = (gap * gap) / (2 * sinSquare);
    const [p, q] = [u + v, u - v];
    const d = 4 * t * t;
    const e = 2 - 4 * sinSquare;
    const first = (FLATTENING / 4) * (t * p - q);
    const c = t - (d * e - e) / 2;
    const second = p * (d * e + c * p) - q * (2 * d + e * q) + d * p * q;
    const square = (FLATTENING * FLATTENING) / 64;
    const distance = EQUATOR_RADIUS * sin * (t - first + square * second);
    this.error += (SHARE * distance) / (cosSquare * cosHalf);
    return distance - radius;
  }

  holds(coords: Float64Array, row: Row): boolean {
    const lat = coords[2 * row + 1]!;
    // a pole is one place, whatever its longitude
    const lon = Math.abs(lat) === 90 ? 0 : coords[2 * row]!;
    if (lon !== this.#lon || lat !== this.#lat) {
      const beyond = this.beyond(coords, row);
      const isSure = Math.abs(beyond) > this.error;
      this.#isWithin = isSure ? beyond < 0 : this.#solve(coords, row) <= this.#circle.radius;
      this.#lon = lon;
      this.#lat = lat;
    }
    return this.#isWithin;
  }

  #solve(coords: Float64Array, row: Row): Metres {
    const { lon, lat } = this.#circle;
    this.solved++;
    return geodesic(lon, lat, coords[2 * row]!, coords[2 * row + 1]!);
  }
}
