import geographiclib from 'geographiclib-geodesic';
import { EQUATOR_RADIUS, FLATTENING, POLAR_RADIUS, SECOND_ECCENTRICITY_SQUARED } from './geo.js';
import { GeodesicSeries } from './geodesic-series.js';
import type { Degrees, Metres } from './units.js';

const { Geodesic } = geographiclib;
const RADIANS = Math.PI / 180;

/** Share of the arc that the point that was measured may be off the point that was asked for. */
const CLOSE_ENOUGH = 1e-6;
const MOST_STEPS = 8;

/** Nearer than 100 m the rounding of coordinates would count. */
const SAME_PLACE = 1.5e-5;
/**
 * Cosine of a latitude whose place is taken for the pole: from there the meridians are the
 * geodesics.
 */
const POLAR = 1e-6;

/** Closer than this to the opposite meridian, in radians, two geodesics may be equally long. */
const OPPOSITE = 1e-9;
/** What the general solution is asked for. */
const ASKED =
  Geodesic.DISTANCE | Geodesic.AZIMUTH | Geodesic.REDUCEDLENGTH | Geodesic.GEODESICSCALE;

/**
 * Geodesics of the WGS84 ellipsoid from one place to many, at a small part of the cost of the
 * general solution but near the antipode, which is left to that. After {@link measure} the fields describe the end of the geodesic.
 */
export class GeodesicFrom {
  readonly lon: Degrees;
  readonly lat: Degrees;
  // sine and cosine of the reduced latitude
  readonly #sin: number;
  readonly #cos: number;
  readonly #scale: number;
  // cosine of the arc beyond which a point is near the antipode
  readonly #far: number;
  readonly #series = new GeodesicSeries();
  // longitude on the auxiliary sphere less that on the ellipsoid, of the last geodesic: the next is
  // likely a neighbour's
  #shift = 0;

  /**
   * Whether the end is so near the antipode that two geodesics may be the shortest, on its
   * parallel.
   */
  isFar = false;
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
  /** How often the general solution was taken. */
  solved = 0;
  /**
   * Radians of longitude east of the point asked for at which all of this holds, a few millionths
   * at most.
   */
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
    // geodesics meet within πf cos²β of it
    this.#far = -Math.cos(5e-4 + 0.06 * this.#cos * this.#cos);
  }

  /**
   * Measures the geodesic to the point at `2 * row` of longitudes and latitudes in turn. Returns
   * false, and leaves the fields undefined, next to the centre and where two geodesics may be the
   * shortest.
   */
  measure(coords: Float64Array, row: number): boolean {
    const sin1 = this.#sin;
    const cos1 = this.#cos;
    const scale1 = this.#scale;
    const series = this.#series;
    const phi = coords[2 * row + 1]! * RADIANS;
    let gap = coords[2 * row]! - this.lon;
    if (gap > 180) gap -= 360;
    else if (gap < -180) gap += 360;
    const lambda = Math.abs(gap) * RADIANS;
    const sign = gap < 0 ? -1 : 1;

    const sinPhi = Math.sin(phi);
    const tan2 = (1 - FLATTENING) * sinPhi;
    const cosPhi = Math.cos(phi);
    const norm = 1 / Math.sqrt(tan2 * tan2 + cosPhi * cosPhi);
    const sin2 = tan2 * norm;
    const cos2 = cosPhi * norm;
    this.sinLat = sinPhi;
    this.parallel = EQUATOR_RADIUS * cos2;
    const scale2 = Math.sqrt(1 + SECOND_ECCENTRICITY_SQUARED * sin2 * sin2);

    let shift = this.#shift;
    for (let step = 0; step < MOST_STEPS; step++) {
      // the triangle of the two points and the pole on the auxiliary sphere
      const omega = lambda + shift;
      const sinOmega = Math.sin(omega);
      const cosOmega = Math.cos(omega);
      const east = cos1 * sinOmega;
      const north2 = cos1 * sin2 * cosOmega - sin1 * cos2;
      const sinArc = Math.sqrt(east * east + north2 * north2);
      const cosArc = sin1 * sin2 + cos1 * cos2 * cosOmega;
      this.isFar = cosArc < this.#far && cos1 > POLAR && cos2 > POLAR;
      if (this.isFar) {
        return (
          lambda < Math.PI - OPPOSITE && this.#measureFar(coords[2 * row]!, coords[2 * row + 1]!)
        );
      }
      if (sinArc < SAME_PLACE) return false;
      const sinAzimuth = east / sinArc;
      // the azimuth where the great circle crosses the equator
      const sin0 = cos2 * sinAzimuth;
      const square0 = Math.max(0, 1 - sin0 * sin0);
      const inverse0 = square0 > 1e-20 ? 1 / square0 : 0;
      const sines = sin1 * sin2 * inverse0;
      const cosMean = Math.max(-1, Math.min(1, cosArc - 2 * sines));
      series.sum(Math.atan2(sinArc, cosArc), sinArc, cosArc, cosMean, square0);
      const wanted = sin0 * series.longitude;
      const miss = shift - wanted;

      const { j } = series;
      const cosines = cosArc - sines;
      const north1 = cos1 * sin2 - sin1 * cos2 * cosOmega;
      const sinSum = ((sin1 * cos2 * north2 + sin2 * cos1 * north1) / sinArc) * inverse0;
      const reduced = ((scale2 + scale1) * sinArc + (scale2 - scale1) * sinSum) / 2 - cosines * j;
      if (Math.abs(miss) > CLOSE_ENOUGH * sinArc) {
        shift -= (miss * sinArc) / reduced;
        continue;
      }
      this.#shift = wanted;
      this.offset = sign * miss;
      this.distance = POLAR_RADIUS * series.length;
      this.sinAzimuth = sign * sinAzimuth;
      this.cosAzimuth = north2 / sinArc;
      this.reduced = POLAR_RADIUS * reduced;
      const scale = cosines + (scale1 / scale2) * sines + ((sinSum + sinArc) * j) / (2 * scale2);
      this.curvature = scale / this.reduced;
      return true;
    }
    return false;
  }

  #measureFar(lon: Degrees, lat: Degrees): boolean {
    this.solved++;
    const end = Geodesic.WGS84.Inverse(this.lat, this.lon, lat, lon, ASKED);
    this.offset = 0;
    this.distance = end.s12!;
    this.sinAzimuth = Math.sin(end.azi2! * RADIANS);
    this.cosAzimuth = Math.cos(end.azi2! * RADIANS);
    this.reduced = end.m12!;
    this.curvature = end.M21! / this.reduced;
    return this.reduced > 0;
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
