/** One point as the kernel takes it: coordinates, and its row in them. */
export function at(lon: number, lat: number): [Float64Array, 0] {
  return [Float64Array.of(lon, lat), 0];
}

/** A box as the kernel takes it: west, south, east and north, and their place. */
export function rectangleOf(
  area: readonly [west: number, south: number, east: number, north: number],
): [Float64Array, 0] {
  return [Float64Array.from(area), 0];
}
