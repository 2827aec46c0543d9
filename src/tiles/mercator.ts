import type { Degrees } from '../model/units.js';

/** The deepest zoom that there are tiles of. */
export const MAX_ZOOM = 22;
/** Units along the edge of a tile. */
export const EXTENT = 4096;
/** Web Mercator maps the latitudes within ±`MAX_LATITUDE` to a square. */
export const MAX_LATITUDE: Degrees = latitudeOf(0, 1);

/**
 * Longitude of line `index` where `count` lines, a power of two up to 2^29, part the world from
 * west to east. No digit is rounded, so that a line of one zoom is the same number in all deeper
 * zooms.
 */
export function longitudeOf(index: number, count: number): Degrees {
  return (index / count) * 360 - 180;
}

/** Latitude of line `index` where `count` lines part Web Mercator's square from north to south. */
export function latitudeOf(index: number, count: number): Degrees {
  return (Math.atan(Math.sinh(Math.PI * (1 - (2 * index) / count))) * 180) / Math.PI;
}

/** How far south a latitude lies in the square: 0 at its northern edge, 1 at its southern one. */
export function southwards(lat: Degrees): number {
  return 0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI);
}
