import geographiclib from 'geographiclib-geodesic';
import type { Degrees, Metres } from './units.js';

const RADIANS = Math.PI / 180;

/** The sphere whose great circles order points by distance: the mean radius of WGS84. */
export const EARTH_RADIUS: Metres = 6_371_008.771_415_059;

/**
 * A WGS84 geodesic is between these multiples of the great-circle distance on {@link EARTH_RADIUS}: the
 * ellipsoid's radii of curvature run from b²/a = 6,335.4 km to a²/b = 6,399.6 km.
 */
export const LEAST_STRETCH = 0.99441;
export const MOST_STRETCH = 1.0045;

/** No two points are further apart: half a meridian ellipse. */
export const FARTHEST: Metres = 20_003_931.4587;

const EQUATOR_RADIUS: Metres = 6_378_137;
const FLATTENING = 1 / 298.257223563;

/** Squared sine of half the angle between two points: grows with distance, 0 to 1. */
export function haversine(lon1: Degrees, lat1: Degrees, lon2: Degrees, lat2: Degrees): number {
  const dLat = Math.sin(((lat2 - lat1) * RADIANS) / 2);
  const dLon = Math.sin(((lon2 - lon1) * RADIANS) / 2);
  return dLat * dLat + Math.cos(lat1 * RADIANS) * Math.cos(lat2 * RADIANS) * dLon * dLon;
}

/** The haversine of a great-circle distance; 1 for half the Earth's circumference and beyond. */
export function haversineOf(distance: Metres): number {
  const half = Math.min(distance / EARTH_RADIUS, Math.PI) / 2;
  return Math.sin(half) ** 2;
}

/** Great-circle distance. */
export function greatCircle(lon1: Degrees, lat1: Degrees, lon2: Degrees, lat2: Degrees): Metres {
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(haversine(lon1, lat1, lon2, lat2))));
}

/** Length of the shortest path on the WGS84 ellipsoid, exact to nanometres; costs microseconds. */
export function geodesic(lon1: Degrees, lat1: Degrees, lon2: Degrees, lat2: Degrees): Metres {
  const { Geodesic } = geographiclib;
  return Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2, Geodesic.DISTANCE).s12!;
}

/**
 * The same by Lambert's formula, within {@link LAMBERT_ERROR} of it as a share of the distance, at a
 * twentieth of the cost. NaN or nonsense near the antipode: only for points up to {@link LAMBERT_REACH} apart.
 */
export function lambert(lon1: Degrees, lat1: Degrees, lon2: Degrees, lat2: Degrees): Metres {
  // the formula works on reduced latitudes
  const beta1 = Math.atan((1 - FLATTENING) * Math.tan(lat1 * RADIANS));
  const beta2 = Math.atan((1 - FLATTENING) * Math.tan(lat2 * RADIANS));
  const sinHalfLat = Math.sin((beta2 - beta1) / 2);
  const sinHalfLon = Math.sin(((lon2 - lon1) * RADIANS) / 2);
  const h = sinHalfLat * sinHalfLat + Math.cos(beta1) * Math.cos(beta2) * sinHalfLon * sinHalfLon;
  if (h === 0) return 0;
  const angle = 2 * Math.asin(Math.min(1, Math.sqrt(h)));
  const sinMean = Math.sin((beta1 + beta2) / 2);
  const p = sinMean * sinMean;
  const q = sinHalfLat * sinHalfLat;
  const x = ((angle - Math.sin(angle)) * p * (1 - q)) / (1 - h);
  const y = ((angle + Math.sin(angle)) * (1 - p) * q) / h;
  return EQUATOR_RADIUS * (angle - (FLATTENING / 2) * (x + y));
}

/** Bound of Lambert's error as a share of the distance; test/geo.test.ts checks it. */
export const LAMBERT_ERROR = 3e-5;

/** How far Lambert's formula is trusted: 160° of the great circle. */
export const LAMBERT_REACH: Metres = (EARTH_RADIUS * Math.PI * 160) / 180;
