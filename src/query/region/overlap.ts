import type { Row } from '../../index/order.js';
import type { Box } from '../../model/query.js';

export type Overlap = typeof OUTSIDE | typeof INSIDE | typeof ACROSS;
export const OUTSIDE = 0;
export const INSIDE = 1;
/** Some points of the rectangle may be in the region and some not. */
export const ACROSS = 2;

/**
 * A part of the map. Functions take an array and a place in it, not coordinates: V8 puts a double
 * on the heap to pass it to a function that is not inlined. Literals have the members in this order:
 * then they are of one shape to V8, which searches for the members of objects of many shapes.
 */
export interface Region {
  /** A box around the region; from -180 to 180 where that crosses the antimeridian. */
  readonly frame: Box;
  /**
   * How the box whose west, south, east and north begin at `at` lies to the region. May say ACROSS
   * where INSIDE or OUTSIDE is true, never the other way round.
   */
  overlap(boxes: Float64Array, at: number): Overlap;
  /** Whether the region holds the point whose coordinates begin at `2 * row`. */
  contains(coords: Float64Array, row: Row): boolean;
  /**
   * Tests rows `from` to `to - 1`, which lie in the box at `box` of `boxes`, found to be ACROSS.
   * Writes `row, row + 1` to `bounds` from `at` on for each row that the region holds; returns
   * where these end. `bounds` must have room for all rows.
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
  /** Nanoseconds of geodesics and edges so far, beyond the usual cost of a test. */
  work(): number;
}

/** Collects by single tests, for regions whose test is dear. */
export function collectEach(contains: Region['contains']): Region['collect'] {
  return (coords, from, to, _boxes, _box, bounds, at) => {
    let end = at;
    for (let row = from; row < to; row++) {
      if (!contains(coords, row)) continue;
      bounds[end++] = row;
      bounds[end++] = row + 1;
    }
    return end;
  };
}
