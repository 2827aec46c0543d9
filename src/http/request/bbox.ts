import type { Box } from '../../model/query.js';
import type { Degrees } from '../../model/units.js';
import { parseDecimals } from './numbers.js';

/** Ten decimals of a degree are a hundredth of a millimetre. */
const WRAPPED_UNITS = 1e10;
/** What rounding two wrapped edges can add to a span. */
const ROUNDING: Degrees = 2 / WRAPPED_UNITS;

/**
 * Reads `left,bottom,right,top` as one box, or as two that meet at the antimeridian without
 * overlapping. Returns the reason as text when it is none.
 */
export function parseBbox(text: string): readonly Box[] | string {
  const numbers = parseDecimals(text, 4);
  if (typeof numbers === 'string') return numbers;
  const [left, south, right, north] = numbers;
  if (left === undefined || south === undefined || right === undefined || north === undefined) {
    const place = [left, south, right, north].indexOf(undefined);
    return `${EDGES[place]} is no finite decimal number`;
  }
  if (south > north) return 'bottom is greater than top';
  return wrapBox(left, south, right, north);
}

const EDGES = ['left', 'bottom', 'right', 'top'];

/**
 * The part of the map from `left` eastwards to `right`, whose longitudes may lie anywhere: `left`
 * greater than `right` crosses the antimeridian, a span of 360 degrees is the whole world.
 */
export function wrapBox(left: Degrees, south: Degrees, right: Degrees, north: Degrees): Box[] {
  const wraps = Math.abs(left) > 180 || Math.abs(right) > 180;
  if (wraps && right - left >= 360 - ROUNDING) return [{ west: -180, south, east: 180, north }];
  const west = wrapLongitude(left, 180);
  const east = wrapLongitude(right, -180);
  if (west <= east) return [{ west, south, east, north }];
  return [
    { west, south, east: 180, north },
    { west: -180, south, east, north },
  ];
}

/**
 * The same meridian within ±180. The antimeridian itself, which has two numbers, becomes the one
 * that makes the box cross it, so that points of either number lie inside; an edge that was within
 * ±180 to begin with is taken at its word.
 */
function wrapLongitude(degrees: Degrees, antimeridian: Degrees): Degrees {
  if (degrees >= -180 && degrees <= 180) return degrees;
  const turned = degrees % 360;
  const wrapped = turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned;
  // 190.1 - 360 is -169.9 and a rest that would miss a point on the edge
  const rounded = Math.round(wrapped * WRAPPED_UNITS) / WRAPPED_UNITS + 0;
  return Math.abs(rounded) === 180 ? antimeridian : rounded;
}
