/** The most points of a leaf of the kd-tree, less one. */
export const KD_NODE_SIZE = 16;

type Bounds = readonly [west: number, south: number, east: number, north: number];

/**
 * Whether points, lon and lat in turn, stand in the order of KDBush: the middle of a range, at
 * `(left + right) >> 1`, is its median by longitude, the middle of each half is that half's median
 * by latitude, and so on down to leaves; equal points may stand on either side. Ends at the first
 * point out of place.
 */
export function isInKdOrder(coords: Float64Array): boolean {
  function isSubtree(left: number, right: number, axis: 0 | 1, bounds: Bounds): boolean {
    if (right - left <= KD_NODE_SIZE) return areWithin(left, right, bounds);
    const middle = (left + right) >> 1;
    if (!areWithin(middle, middle, bounds)) return false;
    const median = coords[2 * middle + axis]!;
    const [west, south, east, north] = bounds;
    const other = axis === 0 ? 1 : 0;
    const before: Bounds = axis === 0 ? [west, south, median, north] : [west, south, east, median];
    const behind: Bounds = axis === 0 ? [median, south, east, north] : [west, median, east, north];
    return (
      isSubtree(left, middle - 1, other, before) && isSubtree(middle + 1, right, other, behind)
    );
  }

  function areWithin(first: number, last: number, [west, south, east, north]: Bounds): boolean {
    for (let i = first; i <= last; i++) {
      const lon = coords[2 * i]!;
      const lat = coords[2 * i + 1]!;
      if (lon < west || lon > east || lat < south || lat > north) return false;
    }
    return true;
  }

  return isSubtree(0, coords.length / 2 - 1, 0, [-Infinity, -Infinity, Infinity, Infinity]);
}
