import { FLATTENING, SECOND_ECCENTRICITY_SQUARED } from './geo.js';

// coefficients of Karney's A3 and C3 series in the third flattening, summed up for WGS84
const N = FLATTENING / (2 - FLATTENING);
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

/**
 * The integrals along a geodesic, from its great circle on the auxiliary sphere: the series of
 * Karney's "Algorithms for geodesics" (2013), equations 15 to 25 and 42 to 44, as far as they count
 * for nanometres.
 */
export class GeodesicSeries {
  /**
   * Longitude on the auxiliary sphere less that on the ellipsoid, for each unit of the sine of the
   * equatorial azimuth.
   */
  longitude = 0;
  /** Length, in polar radii. */
  length = 0;
  /** Karney's J, which reduced length and scale are made of. */
  j = 0;

  /**
   * `arc` is the great circle's length, `sinArc` and `cosArc` belong to it; `cosMean` is the cosine
   * of the sum of the arcs from the equator to its ends, and `square0` the square of the cosine of
   * the azimuth at the equator.
   */
  sum(arc: number, sinArc: number, cosArc: number, cosMean: number, square0: number): void {
    const k2 = SECOND_ECCENTRICITY_SQUARED * square0;
    const e = k2 / (2 * (1 + Math.sqrt(1 + k2)) + k2);
    const e2 = e * e;

    // sin 2lσ2 - sin 2lσ1 for l from 1 to 4
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

    const a3 = 1 + e * (A31 + e * (A32 + e * (A33 + e * A34)));
    const b3 =
      e * (C311 + e * (C312 + e * (C313 + e * C314))) * s1 +
      e2 * (C322 + e * (C323 + e * C324)) * s2 +
      e2 * e * (C333 + e * C334) * s3 +
      e2 * e2 * C344 * s4;
    this.longitude = FLATTENING * a3 * (arc + b3);

    const a1 = (1 + e2 * (1 / 4 + e2 / 64)) / (1 - e);
    const b1 =
      e * (-1 / 2 + e2 * (3 / 16 - e2 / 32)) * s1 +
      e2 * (-1 / 16 + e2 / 32) * s2 +
      e2 * e * (-1 / 48) * s3 +
      e2 * e2 * (-5 / 512) * s4;
    this.length = a1 * (arc + b1);

    const a2 = (1 - e2 * (3 / 4 + (7 / 64) * e2)) / (1 + e);
    const b2 = e * (1 / 2 + e2 / 16) * s1 + e2 * (3 / 16) * s2 + e2 * e * (5 / 48) * s3;
    this.j = (a1 - a2) * arc + a1 * b1 - a2 * b2;
  }
}
