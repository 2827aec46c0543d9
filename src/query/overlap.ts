import type { Degrees } from '../model/units.js';

/** How a rectangle of the map lies to a region. */
export type Overlap = typeof OUTSIDE | typeof INSIDE | typeof ACROSS;
export const OUTSIDE = 0;
export const INSIDE = 1;
/** Some points of the rectangle may be in the region and some not. */
export const ACROSS = 2;

/** A part of the map that index nodes and points can be tested against. */
export interface Region {
  /** May say ACROSS where INSIDE or OUTSIDE is true, never the other way round. */
  overlap(west: Degrees, south: Degrees, east: Degrees, north: Degrees): Overlap;
  contains(lon: Degrees, lat: Degrees): boolean;
}
