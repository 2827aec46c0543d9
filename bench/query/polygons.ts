import type { Dataset } from '../../src/dataset/dataset.js';
import type { Random } from '../../src/generate/random.js';
import type { Polygon } from '../../src/model/query.js';
import { type Degrees, UNITS_PER_DEGREE } from '../../src/model/units.js';

type Place = readonly [lon: Degrees, lat: Degrees];

/** Places of a polygon, at most. */
const MOST_PLACES = 1_000;

/**
 * A polygon of any size and number of places around a point, made to have many edges near points.
 */
export function randomPolygon(dataset: Dataset, random: Random): Polygon {
  const [lon, lat] = pointOf(dataset, random.int(dataset.count));
  const size = random.chance(0.5) ? random.between(0.1, 60) : 10 ** random.between(-3, 2);
  const places = random.pick([3, 8, 100, MOST_PLACES, MOST_PLACES]);
  switch (random.int(6)) {
    case 0:
      return polygonOf([points(dataset, random, places)]);
    case 1:
      return polygonOf([comb(lon, lat, size, places, random.chance(0.5))]);
    case 2:
      return polygonOf([
        star(lon, lat, size, places / 2, 0.2, random),
        ...Array.from({ length: Math.floor(places / 8) }, () => {
          const [x, y] = [lon + random.gaussian() * size, lat + random.gaussian() * size];
          return star(x, y, size * random.next(), 4, 0, random);
        }),
      ]);
    default:
      return polygonOf([star(lon, lat, size, places, random.pick([0, 0.1, 0.9]), random)]);
  }
}

/** Points of the data in any order: edges across everything, with corners on points. */
function points(dataset: Dataset, random: Random, count: number): Place[] {
  return Array.from({ length: count }, () => pointOf(dataset, random.int(dataset.count)));
}

/** Teeth side by side, each as long as the whole is high or wide. */
function comb(
  lon: Degrees,
  lat: Degrees,
  size: Degrees,
  count: number,
  upright: boolean,
): readonly Place[] {
  return Array.from({ length: count }, (_, i) => {
    const along = size * ((2 * i) / count - 1);
    const across = i % 2 === 0 ? size : -size;
    return upright ? [lon + along, lat + across] : [lon + across, lat + along];
  });
}

function star(
  lon: Degrees,
  lat: Degrees,
  size: Degrees,
  count: number,
  shape: number,
  random: Random,
): readonly Place[] {
  return Array.from({ length: Math.max(3, count) }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    const far = size * (1 - shape * random.next());
    return [lon + far * Math.cos(angle), lat + (far / 2) * Math.sin(angle)];
  });
}

function pointOf({ coords }: Dataset, row: number): Place {
  return [coords[2 * row]!, coords[2 * row + 1]!];
}

function polygonOf(rings: readonly (readonly Place[])[]): Polygon {
  const units = rings.map((ring) =>
    Float64Array.from(
      ring.flatMap(([lon, lat]) => [clamp(lon, 180), clamp(lat, 90)]),
      (at) => Math.round(at * UNITS_PER_DEGREE),
    ),
  );
  return { rings: units, crosses: false };
}

function clamp(degrees: Degrees, most: Degrees): Degrees {
  return Math.max(-most, Math.min(most, degrees));
}
