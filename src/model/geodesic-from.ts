import { ECCENTRICITY_SQUARED, EQUATOR_RADIUS, FLATTENING } from './geo.js';
import type { Degrees, Metres } from './units.js';

const RADIANS = Math.PI / 180;

const POLAR_RADIUS: Metres = EQUATOR_RADIUS * (1 - FLATTENING);
const SECOND_ECCENTRICITY_SQUARED = ECCENTRICITY_SQUARED / (1 - ECCENTRICITY_SQUARED);
const THIRD_FLATTENING = FLATTENING / (2 - FLATTENING);

// coefficients of Karney's A3 and C3 series in the third flattening, summed up for WGS84
const N = THIRD_FLATTENING;
const A31 = -(1 - N) / 2;
const A32 = -(2 + N - 3 * N * N) / 8;
const A33 = -(1 + 3 * N + N * N) / 16;
const A34 = -(3 + 2 * N) / 64;
const C311 = (1 - N) / 4;
const C312 = (1 - N * N) / 8;
const C313 = (3 + 3 * N - N * N) / 64;
const C314 = (5 + 2 * N) / 128;
const C322 = (2 - 3 * N + N * N) / 32;
const C323 = (3 - 2 * N - 3 * N * N) / 64;
const C324 = (3 + N) / 128;
const C333 = (5 - 9 * N + 5 * N * N) / 192;
const C334 = (9 - 10 * N) / 384;
const C344 = (7 - 14 * N) / 512;

/** Share of the arc that the point that was measured may be off the point that was asked for. */
const CLOSE_ENOUGH = 1e-6;
const MOST_STEPS = 8;

/** Cosine of the arc on the auxiliary sphere beyond which nothing is measured: 4° from the antipode. */
const ANTIPODAL = -0.9976;
/** … and from the centre: closer than 100 m the rounding of coordinates would count. */
const SAME_PLACE = 1.5e-5;

/**
 * Geodesics of the WGS84 ellipsoid from one place to many, at a tenth of the cost of the general solution. After
 * {@link measure} the fields describe the end of the geodesic.
 */
export class GeodesicFrom {
  readonly lon: Degrees;
  readonly lat: Degrees;
  readonly #sin: number;
  readonly #cos: number;
  readonly #scale: number;
  /** Difference of the longitudes on the auxiliary sphere and on the ellipsoid, of the last geodesic. */
  #shift = 0;

  /** Length of the geodesic. */
  distance: Metres = 0;
  /** Forward azimuth at its end, clockwise from north. */
  sinAzimuth = 0;
  cosAzimuth = 1;
  /** Reduced length: metres at the end for each radian that the azimuth at the start changes. */
  reduced: Metres = 0;
  /** Radius of the parallel at the end, and the sine of its latitude. */
  parallel: Metres = 0;
  sinLat = 0;
  /** Curvature of the circle of points as far away, at the end, in 1/m. */
  curvature = 0;
  /** Radians of longitude east of the point asked for at which all of this holds, a few millionths at most. */
  offset = 0;

  constructor(lon: Degrees, lat: Degrees) {
    this.lon = lon;
    this.lat = lat;
    const tan = (1 - FLATTENING) * Math.sin(lat * RADIANS);
    const cos = Math.cos(lat * RADIANS);
    const norm = 1 / Math.sqrt(tan * tan + cos * cos);
    this.#sin = tan * norm;
    this.#cos = cos * norm;
    this.#scale = Math.sqrt(1 + SECOND_ECCENTRICITY_SQUARED * this.#sin * this.#sin);
  }

  /**
   * Measures the geodesic to the point at `2 * row` of longitudes and latitudes in turn. Returns false, and leaves
   * the fields undefined, near the centre and its antipode.
   */
  measure(coords: Float64Array, row: number): boolean {
    const sin1 = this.#sin;
    const cos1 = this.#cos;
    const scale1 = this.#scale;
    const phi = coords[2 * row + 1]! * RADIANS;
    let gap = coords[2 * row]! - this.lon;
    if (gap > 180) gap -= 360;
    else if (gap < -180) gap += 360;
    const lambda = Math.abs(gap) * RADIANS;

    const sinPhi = Math.sin(phi);
    const tan2 = (1 - FLATTENING) * sinPhi;
    const cosPhi = Math.cos(phi);
    const norm = 1 / Math.sqrt(tan2 * tan2 + cosPhi * cosPhi);
    const sin2 = tan2 * norm;
    const cos2 = cosPhi * norm;
    const scale2 = Math.sqrt(1 + SECOND_ECCENTRICITY_SQUARED * sin2 * sin2);

    let shift = this.#shift;
    for (let step = 0; step < MOST_STEPS; step++) {
      // the triangle of the two points and the pole on the auxiliary sphere
      const omega = lambda + shift;
      const sinOmega = Math.sin(omega);
      const cosOmega = Math.cos(omega);
      const east2 = cos1 * sinOmega;
      const north2 = cos1 * sin2 * cosOmega - sin1 * cos2;
      const sinArc = Math.sqrt(east2 * east2 + north2 * north2);
      const cosArc = sin1 * sin2 + cos1 * cos2 * cosOmega;
      if (cosArc < ANTIPODAL || sinArc < SAME_PLACE) return false;
      const arc = Math.atan2(sinArc, cosArc);
      const sinAzimuth = east2 / sinArc;
      const cosAzimuth = north2 / sinArc;
      // the great circle's azimuth where it crosses the equator
      const sin0 = cos2 * sinAzimuth;
      const square0 = Math.max(0, 1 - sin0 * sin0);
      const inverse0 = square0 > 1e-20 ? 1 / square0 : 0;
      const sines = sin1 * sin2 * inverse0;
      const cosMean = Math.max(-1, Math.min(1, cosArc - 2 * sines));

      const k2 = SECOND_ECCENTRICITY_SQUARED * square0;
      const root = Math.sqrt(1 + k2);
      const e = k2 / (2 * (1 + root) + k2);
      const e2 = e * e;

      // sin 2lσ2 - sin 2lσ1, by the middle of the arc, for l from 1
      const doubleMean = 2 * cosMean;
      const doubleArc = 2 * cosArc;
      const s1 = 2 * sinArc * cosMean;
      const cosMean2 = doubleMean * cosMean - 1;
      const sinArc2 = doubleArc * sinArc;
      const s2 = 2 * sinArc2 * cosMean2;
      const cosMean3 = doubleMean * cosMean2 - cosMean;
      const sinArc3 = doubleArc * sinArc2 - sinArc;
      const s3 = 2 * sinArc3 * cosMean3;
      const cosMean4 = doubleMean * cosMean3 - cosMean2;
      const sinArc4 = doubleArc * sinArc3 - sinArc2;
      const s4 = 2 * sinArc4 * cosMean4;

      // longitude
      const a3 = 1 + e * (A31 + e * (A32 + e * (A33 + e * A34)));
      const b3 =
        e * (C311 + e * (C312 + e * (C313 + e * C314))) * s1 +
        e2 * (C322 + e * (C323 + e * C324)) * s2 +
        e2 * e * (C333 + e * C334) * s3 +
        e2 * e2 * C344 * s4;
      const wanted = FLATTENING * sin0 * a3 * (arc + b3);
      const miss = shift - wanted;

      // length
      const a1 = (1 + e2 * (1 / 4 + e2 / 64)) / (1 - e);
      const b1 =
        e * (-1 / 2 + e2 * (3 / 16 - e2 / 32)) * s1 +
        e2 * (-1 / 16 + e2 / 32) * s2 +
        e2 * e * (-1 / 48) * s3 +
        e2 * e2 * (-5 / 512) * s4;

      // reduced length
      const a2 = (1 - e2 * (3 / 4 + (7 / 64) * e2)) / (1 + e);
      const b2 = e * (1 / 2 + e2 / 16) * s1 + e2 * (3 / 16) * s2 + e2 * e * (5 / 48) * s3;
      const j = (a1 - a2) * arc + a1 * b1 - a2 * b2;
      const cosines = cosArc - sines;
      const north1 = cos1 * sin2 - sin1 * cos2 * cosOmega;
      const sinSum = ((sin1 * cos2 * north2 + sin2 * cos1 * north1) / sinArc) * inverse0;
      const reduced = ((scale2 + scale1) * sinArc + (scale2 - scale1) * sinSum) / 2 - cosines * j;

      if (Math.abs(miss) > CLOSE_ENOUGH * sinArc) {
        shift -= (miss * sinArc) / reduced;
        continue;
      }
      this.#shift = wanted;
      const sign = gap < 0 ? -1 : 1;
      this.offset = sign * miss;
      this.distance = POLAR_RADIUS * a1 * (arc + b1);
      this.sinAzimuth = sign * sinAzimuth;
      this.cosAzimuth = cosAzimuth;
      this.sinLat = sinPhi;
      this.parallel = EQUATOR_RADIUS * cos2;
      this.reduced = POLAR_RADIUS * reduced;
      const turned = cosines + (scale1 / scale2) * sines + ((sinSum + sinArc) / 2) * (j / scale2);
      this.curvature = turned / this.reduced;
      return true;
    }
    return false;
  }

  /** Length of the geodesic to the very point that was asked for. */
  get exactDistance(): Metres {
    const { offset, parallel, cosAzimuth, sinAzimuth } = this;
    const slope = parallel * sinAzimuth;
    const along = parallel * cosAzimuth;
    const bend = along * (this.sinLat + this.curvature * along);
    return this.distance - offset * (slope - (offset / 2) * bend);
  }
}
