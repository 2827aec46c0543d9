import type { Rectangle } from '../../src/query/overlap.js';

/** One point as the kernel takes it: coordinates, and its row in them. */
export function at(lon: number, lat: number): [Float64Array, 0] {
  return [Float64Array.of(lon, lat), 0];
}

/** West, south, east and north as the extent of an index node. */
export function rectangleOf(
  area: readonly [west: number, south: number, east: number, north: number],
): Rectangle {
  const [minX, minY, maxX, maxY] = area;
  return { minX, minY, maxX, maxY };
}
