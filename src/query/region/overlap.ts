import type { Row } from '../../index/order.js';
import type { Box } from '../../model/query.js';

export type Overlap = typeof OUTSIDE | typeof INSIDE | typeof ACROSS;
export const OUTSIDE = 0;
export const INSIDE = 1;
/** Some points of the rectangle may be in the region and some not. */
export const ACROSS = 2;

/**
 * A part of the map that boxes and points can be tested against. Its functions take an array and the
 * place of a box or a point in it, not coordinates: a double that is passed to a function which is
 * not inlined is put on the heap.
 */
export interface Region {
  /** Holds the whole region; from -180 to 180 where that crosses the antimeridian. */
  readonly frame: Box;
  /**
   * How a box lies to the region; its west, south, east and north are at `at` and the places after.
   * May say ACROSS where INSIDE or OUTSIDE is true, never the other way round.
   */
  overlap(boxes: Float64Array, at: number): Overlap;
  /** Whether the region holds the point whose coordinates are at `2 * row` and the place after. */
  contains(coords: Float64Array, row: Row): boolean;
  /**
   * Tests rows `from` to `to - 1` together. Writes `row, row + 1` to `bounds`, from `at` on, for
   * each row that the region holds, and returns where these end. `bounds` must have room for all of
   * the rows. All of them lie in the box at `box` of `boxes`, which was found to be ACROSS.
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
  /** Nanoseconds that geodesics and edges have taken so far, beyond the usual cost of a test. */
  work(): number;
}

/** Does what {@link Region.collect} does by single tests, for regions whose test is dear. */
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
