import type { Row } from '../dataset/row.js';
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
  overlap(rectangle: Rectangle): Overlap;
  /** Whether it holds the point whose longitude and latitude are at `2 * row` and the place after. */
  contains(coords: Float64Array, row: Row): boolean;
}

/**
 * The extent of an index node. Regions take it whole, and a point by its place, because numbers with a
 * fraction cost an allocation each when they are passed to a function that is not inlined.
 */
export interface Rectangle {
  /** Longitudes. */
  readonly minX: Degrees;
  readonly maxX: Degrees;
  /** Latitudes. */
  readonly minY: Degrees;
  readonly maxY: Degrees;
}
