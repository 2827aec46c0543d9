import type { Row } from '../../dataset/row.js';
import type { Box } from '../../model/query.js';

/** How a rectangle of the map lies to a region. */
export type Overlap = typeof OUTSIDE | typeof INSIDE | typeof ACROSS;
export const OUTSIDE = 0;
export const INSIDE = 1;
/** Some points of the rectangle may be in the region and some not. */
export const ACROSS = 2;

/**
 * A part of the map that boxes and points can be tested against. It takes both by their place,
 * because numbers with a fraction cost an allocation each when they are passed to a function that
 * is not inlined.
 */
export interface Region {
  /** A rectangle that holds all of it; from -180 to 180 where it crosses the antimeridian. */
  readonly frame: Box;
  /**
   * How the box whose west, south, east and north are at `at` and the places after lies to it. May
   * say ACROSS where INSIDE or OUTSIDE is true, never the other way round.
   */
  overlap(boxes: Float64Array, at: number): Overlap;
  /**
   * Whether it holds the point whose longitude and latitude are at `2 * row` and the place after.
   */
  contains(coords: Float64Array, row: Row): boolean;
  /**
   * The same for rows `from` to `to - 1`, many at a time: writes row, row + 1 for each that it
   * holds to `bounds` at `at`, and returns where they end. Room for all of them is wanted. All of
   * the rows lie in the box at `box` of `boxes`, which was found to be ACROSS.
   */
  collect(
    coords: Float64Array,
    from: Row,
    to: Row,
    boxes: Float64Array,
    box: number,
    bounds: Int32Array,
    at: number,
  ): number;
  /** Nanoseconds that geodesics have taken so far, besides the usual costs of a test. */
  work(): number;
}

/**
 * Collects by a test of single rows, where that costs so much that a loop of its own would save
 * nothing.
 */
export function collectEach(
  contains: Region['contains'],
  coords: Float64Array,
  from: Row,
  to: Row,
  _boxes: Float64Array,
  _box: number,
  bounds: Int32Array,
  at: number,
): number {
  let end = at;
  for (let row = from; row < to; row++) {
    if (!contains(coords, row)) continue;
    bounds[end++] = row;
    bounds[end++] = row + 1;
  }
  return end;
}

/** Whether a box is a single place: the block of a pile, of a pole, or one point. */
export function isPlace(boxes: Float64Array, at: number): boolean {
  const south = boxes[at + 1]!;
  if (south !== boxes[at + 3]) return false;
  return boxes[at] === boxes[at + 2] || south === 90 || south === -90;
}
