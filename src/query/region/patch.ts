import {
  ECCENTRICITY_SQUARED,
  EQUATOR_RADIUS,
  FLATTENING,
  geodesic,
  LARGEST_RADIUS,
} from '../../model/geo.js';
import type { GeodesicFrom } from '../../model/geodesic-from.js';
import type { Degrees, Metres } from '../../model/units.js';

const RADIANS = Math.PI / 180;

/** Largest size of a patch in radians: the error of a larger one grows too fast. */
const MOST_REACH = 0.1;

/** Share of the error model: twice the largest that test/query/region/patch.test.ts finds. */
const SHARE = 0.4;
/** Rounding, here and in the geodesic. */
const ROUNDING: Metres = 1e-7;

/**
 * Distances from one place to the points of a small box, as a polynomial in longitude and latitude
 * around the box's middle: Taylor's, exact to the second order; of the third order it takes the
 * terms of the sphere.
 */
export class Patch {
  /** Whether the polynomial holds for the box that was asked for last. */
  isValid = false;
  /** Whether only the distance to the middle is known; {@link error} allows for the rest. */
  isFlat = false;
  west: Degrees = 0;
  south: Degrees = 0;
  east: Degrees = 0;
  north: Degrees = 0;
  /** No value of the polynomial is further off than this within the box. */
  error: Metres = 0;
  // bound of the cosines of latitude within
  #side = 1;

  // where the polynomial begins, and its coefficients, for degrees; named for the powers of x and y
  lon: Degrees = 0;
  lat: Degrees = 0;
  c00: Metres = 0;
  c10 = 0;
  c01 = 0;
  c20 = 0;
  c11 = 0;
  c02 = 0;
  c30 = 0;
  c21 = 0;
  c12 = 0;
  c03 = 0;
  readonly #middle = new Float64Array(2);

  holds(boxes: Float64Array, at: number): boolean {
    return (
      this.isValid &&
      !this.isFlat &&
      boxes[at]! >= this.west &&
      boxes[at + 1]! >= this.south &&
      boxes[at + 2]! <= this.east &&
      boxes[at + 3]! <= this.north
    );
  }

  /** Whether the last call of {@link fit} was for this box, whatever came of it. */
  isAround(boxes: Float64Array, at: number): boolean {
    return (
      boxes[at] === this.west &&
      boxes[at + 1] === this.south &&
      boxes[at + 2] === this.east &&
      boxes[at + 3] === this.north
    );
  }

  /**
   * Fits the polynomial to a box; its values are distances less `radius`. Leaves the patch invalid
   * where a polynomial would be of no use. `nearness` is the sine of the radius as an angle: a box
   * that is too large beside it is not even measured.
   */
  fit(
    from: GeodesicFrom,
    radius: Metres,
    boxes: Float64Array,
    at: number,
    nearness: number = 1,
  ): void {
    this.isValid = false;
    this.west = boxes[at]!;
    this.south = boxes[at + 1]!;
    this.east = boxes[at + 2]!;
    this.north = boxes[at + 3]!;
    const halfWidth = ((this.east - this.west) / 2) * RADIANS;
    const halfHeight = ((this.north - this.south) / 2) * RADIANS;
    if (halfWidth + halfHeight > MOST_REACH) return;
    const middle = this.#middle;
    const lat = (this.south + this.north) / 2;
    middle[0] = (this.west + this.east) / 2;
    middle[1] = lat;
    const phi = lat * RADIANS;
    const cos = Math.cos(phi);
    // of the parallel nearest to the equator
    this.#side = Math.min(1, cos + halfHeight);
    const side = this.#side * halfWidth;
    const extent = Math.sqrt(halfHeight * halfHeight + side * side);
    // the search goes down to smaller boxes before a polynomial is of use
    if (extent > 2 * MOST_REACH * nearness) return;
    this.isValid = true;
    this.isFlat = false;
    this.lon = middle[0]!;
    this.lat = lat;
    // on the two sides of the antipode's parallel geodesics leave in different directions
    const isSmooth =
      from.measure(middle, 0) &&
      !(from.isFar && this.south <= -from.lat && this.north >= -from.lat);
    if (isSmooth) {
      const moved = Math.abs(from.offset);
      if (this.#expand(from, radius, extent + moved, halfWidth + halfHeight + moved, cos)) return;
    }
    this.#flatten(geodesic(from.lon, from.lat, this.lon, lat) - radius, extent);
  }

  #flatten(c00: Metres, extent: number): void {
    this.isFlat = true;
    this.error = LARGEST_RADIUS * extent + ROUNDING;
    this.c00 = c00;
    this.c10 = this.c01 = 0;
    this.c20 = this.c11 = this.c02 = 0;
    this.c30 = this.c21 = this.c12 = this.c03 = 0;
  }

  /** Works out the coefficients; returns false where the polynomial would not hold. */
  #expand(from: GeodesicFrom, radius: Metres, extent: number, size: number, cos: number): boolean {
    const sin = from.sinLat;
    const w2 = 1 - ECCENTRICITY_SQUARED * sin * sin;
    const meridian = (EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED)) / (w2 * Math.sqrt(w2));
    const normal = EQUATOR_RADIUS / Math.sqrt(w2);
    const parallel = normal * cos;
    const mean = Math.sqrt(meridian * normal);
    const nearness = Math.min(1, from.reduced / mean);
    const q = size + extent / nearness;
    if (q > MOST_REACH) return false;
    // near the centre, and far more so towards the antipode, the ellipsoid is less like a sphere
    const far = 1 - nearness;
    const stretch = from.curvature > 0 ? 1 + far : (1 + 3 * far) / nearness;
    this.error = SHARE * mean * extent * q * q * (FLATTENING * stretch + q) + ROUNDING;

    const { sinAzimuth: e, cosAzimuth: n, curvature } = from;
    const cot = curvature * mean;
    const y1 = n;
    const x1 = cos * e;
    const yy = cot * e * e;
    const xy = -(sin * e + cot * cos * e * n);
    const xx = cos * n * (sin + cot * cos * n);
    const unit = RADIANS;
    const square = RADIANS * RADIANS;
    const cube = mean * square * RADIANS;
    this.lon += from.offset / RADIANS;
    this.c00 = from.distance - radius;
    this.c10 = unit * parallel * e;
    this.c01 = unit * meridian * n;
    this.c20 = (square / 2) * parallel * (sin * n + curvature * parallel * n * n);
    this.c11 = -square * meridian * (sin * e + curvature * parallel * e * n);
    const bend = (3 * ECCENTRICITY_SQUARED * sin * cos * n) / w2;
    this.c02 = (square / 2) * meridian * (bend + curvature * meridian * e * e);
    this.c30 = (cube / 6) * (x1 * x1 * x1 - 3 * cot * xx * x1 - x1);
    this.c21 =
      (cube / 2) *
      (y1 * x1 * x1 -
        cot * (xx * y1 + 2 * xy * x1 + cos * sin * e * e) -
        sin * (sin * n + cot * cos * n * n));
    this.c12 = (cube / 2) * (y1 * y1 * x1 - cot * (yy * x1 + 2 * xy * y1) - x1);
    this.c03 = (cube / 6) * (y1 * y1 * y1 - 3 * cot * yy * y1 - y1);
    return true;
  }

  /** The farthest that a point of a box within the patch can be from the box's middle. */
  reachOf(boxes: Float64Array, at: number): Metres {
    const halfWidth = (boxes[at + 2]! - boxes[at]!) * this.#side;
    const halfHeight = boxes[at + 3]! - boxes[at + 1]!;
    const squares = halfWidth * halfWidth + halfHeight * halfHeight;
    return ((LARGEST_RADIUS * RADIANS) / 2) * Math.sqrt(squares);
  }

  /** Distance less radius at the middle of a box within the patch. */
  atMiddle(boxes: Float64Array, at: number): Metres {
    const x = (boxes[at]! + boxes[at + 2]!) / 2 - this.lon;
    const y = (boxes[at + 1]! + boxes[at + 3]!) / 2 - this.lat;
    return (
      this.c00 +
      x * (this.c10 + x * (this.c20 + x * this.c30 + y * this.c21)) +
      y * (this.c01 + y * (this.c02 + y * this.c03 + x * this.c12) + x * this.c11)
    );
  }
}
