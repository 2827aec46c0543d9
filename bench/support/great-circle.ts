import { EARTH_RADIUS } from '../../src/model/geo.js';
import type { Degrees, Metres } from '../../src/model/units.js';

const RADIANS = Math.PI / 180;

/** Squared sine of half the angle between two points: grows with distance, 0 to 1. */
export function haversine(lon1: Degrees, lat1: Degrees, lon2: Degrees, lat2: Degrees): number {
  const dLat = Math.sin(((lat2 - lat1) * RADIANS) / 2);
  const dLon = Math.sin(((lon2 - lon1) * RADIANS) / 2);
  return dLat * dLat + Math.cos(lat1 * RADIANS) * Math.cos(lat2 * RADIANS) * dLon * dLon;
}

/** Great-circle distance. */
export function greatCircle(lon1: Degrees, lat1: Degrees, lon2: Degrees, lat2: Degrees): Metres {
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(haversine(lon1, lat1, lon2, lat2))));
}

/**
 * The haversine of a great-circle distance: the squared sine of half its angle; 1 for half the
 * Earth's circumference and beyond.
 */
export function haversineOf(distance: Metres): number {
  const half = Math.min(distance / EARTH_RADIUS, Math.PI) / 2;
  return Math.sin(half) ** 2;
}
