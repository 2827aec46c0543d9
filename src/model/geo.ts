import geographiclib from 'geographiclib-geodesic';
import type { Degrees, Metres } from './units.js';

/** The sphere whose great circles order points by distance: the mean radius of WGS84. */
export const EARTH_RADIUS: Metres = 6_371_008.771_415_059;

/**
 * A WGS84 geodesic is no shorter than this multiple of the great-circle distance on
 * {@link EARTH_RADIUS}: the ellipsoid's least radius of curvature is b²/a = 6,335.4 km.
 */
export const LEAST_STRETCH = 0.99441;

/** The longest geodesic: half a meridian ellipse. */
export const FARTHEST: Metres = 20_003_931.4587;

export const EQUATOR_RADIUS: Metres = 6_378_137;
export const FLATTENING: number = 1 / 298.257223563;
export const ECCENTRICITY_SQUARED: number = FLATTENING * (2 - FLATTENING);

/** The largest radius of curvature: that of a meridian at the poles. */
export const LARGEST_RADIUS: Metres = EQUATOR_RADIUS / (1 - FLATTENING);

/** The shortest path on the WGS84 ellipsoid, exact to nanometres; takes microseconds. */
export function geodesic(lon1: Degrees, lat1: Degrees, lon2: Degrees, lat2: Degrees): Metres {
  const { Geodesic } = geographiclib;
  return Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2, Geodesic.DISTANCE).s12!;
}
