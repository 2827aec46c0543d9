import type { Random } from '../../src/cli/generate/random.js';
import type { Degrees } from '../../src/model/units.js';

export type Rectangle = readonly [west: Degrees, south: Degrees, east: Degrees, north: Degrees];
type Place = readonly [lon: Degrees, lat: Degrees];

/** Rectangles at the rim of the map, without width, as large as can be, and round a centre. */
export function edgeRectangles([lon, lat]: Place): Rectangle[] {
  return [
    [-180, -90, 180, 90],
    [-180, -90, 0, 0],
    [0, 0, 180, 90],
    [-180, 90, 180, 90],
    [-180, -90, 180, -90],
    [-180, -90, -180, 90],
    [180, -90, 180, 90],
    [-180, 0, -180, 0],
    [180, 0, 180, 0],
    [-180, 89, 180, 90],
    [170, -10, 180, 10],
    [-180, -10, -170, 10],
    [-90, -10, 90, 10],
    [90, -90, 180, 90],
    [lon, lat, lon, lat],
    [-lon, -lat, -lon, -lat],
    [lon, -90, lon, 90],
    [-180, lat, 180, lat],
    [lon, lat, 180, 90],
    [-180, -90, lon, lat],
    [Math.max(-180, lon - 1), Math.max(-90, lat - 1), lon, lat],
    [Math.max(-180, lon - 1e-8), lat, Math.min(180, lon + 1e-8), lat],
  ];
}

/** A random rectangle of at most twice the size: anywhere, or near a place or its antipode. */
export function rectangle(
  random: Random,
  [lon, lat]: Place,
  size: Degrees = 10 ** random.between(-8, 2.3),
): Rectangle {
  const [midLon, midLat] = random.pick([
    [lon, lat],
    [lon > 0 ? lon - 180 : lon + 180, -lat],
    [random.pick([-180, 180]), lat],
    [lon, random.pick([-90, 90])],
    [random.between(-180, 180), random.between(-90, 90)],
  ] as const);
  const west = clip(midLon - size * random.next(), 180);
  const south = clip(midLat - size * random.next(), 90);
  const east = Math.max(west, clip(midLon + size * random.next(), 180));
  const north = Math.max(south, clip(midLat + size * random.next(), 90));
  return [west, random.chance(0.1) ? north : south, random.chance(0.1) ? west : east, north];
}

/** Corners, a grid over the rectangle, and random points of its edges and inside. */
export function* pointsOf(
  [west, south, east, north]: Rectangle,
  random: Random,
  count: number,
): Generator<Place> {
  for (let i = 0; i <= 4; i++) {
    const lon = i === 4 ? east : west + ((east - west) * i) / 4;
    for (let j = 0; j <= 4; j++) yield [lon, j === 4 ? north : south + ((north - south) * j) / 4];
  }
  for (let i = 0; i < count; i++) {
    const lon = clip(random.between(west, east), 180);
    const lat = clip(random.between(south, north), 90);
    yield [lon, lat];
    yield [random.pick([west, east]), lat];
    yield [lon, random.pick([south, north])];
  }
}

function clip(value: Degrees, limit: number): Degrees {
  return Math.max(-limit, Math.min(limit, value));
}

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
