/** A place in degrees. A longitude beyond ±180 lies on the next world of a map. */
export type Place = [lon: number, lat: number];

/** What a filter can be drawn as, by the names of parameters. */
export const SHAPE_NAMES = ['bbox', 'coordinates', 'polygon'] as const;

export type ShapeName = (typeof SHAPE_NAMES)[number];

/** A filled outline on a map: the rings of a polygon, the first one around the others. */
export type Outline = Place[][];

const EARTH_METRES = 6_371_008.8;
/** Corners of a drawn circle. */
const CORNERS = 96;
/** Decimals of a degree that stand in a filter: a metre. */
const DECIMALS = 5;
const RADIANS = Math.PI / 180;

/** What a parameter's text looks like on a map; undefined while it is no shape. */
export function outlineOf(name: ShapeName, text: string): Outline | undefined {
  if (name === 'polygon') return polygonOutline(text);
  const numbers = numbersOf(text);
  if (name === 'bbox') return numbers?.length === 4 ? boxOutline(numbers) : undefined;
  if (numbers?.length !== 3 || numbers[2]! < 0) return undefined;
  return circleOutline([numbers[1]!, numbers[0]!], numbers[2]!);
}

/** The text of a box by two corners, a circle by centre and rim, a polygon by its corners. */
export function textOf(name: ShapeName, places: readonly Place[]): string {
  const [first, second] = places as readonly [Place, Place];
  if (name === 'polygon') {
    const corners = places.flatMap((place, at) => stepsTo(place, places.at(at - 1)!));
    return corners.map(([lon, lat]) => `${degrees(wrap(lon))},${degrees(lat)}`).join(';');
  }
  if (name === 'coordinates') {
    const radius = Math.max(1, Math.round(metresBetween(first, second)));
    return `${degrees(first[1])},${degrees(wrap(first[0]))},${radius}`;
  }
  const [left, right] = [Math.min(first[0], second[0]), Math.max(first[0], second[0])];
  const [bottom, top] = [Math.min(first[1], second[1]), Math.max(first[1], second[1])];
  // a box that crosses the antimeridian has its left edge to the right of its right one; a view of
  // the whole world may fall short of it by rounding
  const [from, to] = degrees(right - left) >= 360 ? [-180, 180] : [wrap(left), wrap(right)];
  return [from, bottom, to, top].map(degrees).join(',');
}

/** Degrees that an edge of a polygon may have: one of 180 would go the other way round. */
const LONGEST_EDGE = 170;

/** The way to a place, with stops where it is long. */
function stepsTo([lon, lat]: Place, [lonBefore, latBefore]: Place): Place[] {
  const steps = Math.max(1, Math.ceil(Math.abs(lon - lonBefore) / LONGEST_EDGE));
  return Array.from({ length: steps }, (_, step): Place => {
    const rest = 1 - (step + 1) / steps;
    return [lon - (lon - lonBefore) * rest, lat - (lat - latBefore) * rest];
  });
}

/** How far apart two places are on a sphere, which is near enough for what a pointer draws. */
function metresBetween([lonA, latA]: Place, [lonB, latB]: Place): number {
  const [a, b] = [latA * RADIANS, latB * RADIANS];
  const [dy, dx] = [Math.sin((b - a) / 2), Math.sin(((lonB - lonA) * RADIANS) / 2)];
  const h = dy * dy + Math.cos(a) * Math.cos(b) * dx * dx;
  return 2 * EARTH_METRES * Math.asin(Math.min(1, Math.sqrt(h)));
}

function numbersOf(text: string): number[] | undefined {
  const parts = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  return parts.every(Number.isFinite) ? parts : undefined;
}

function boxOutline([left, bottom, right, top]: readonly number[]): Outline {
  const end = right! < left! ? right! + 360 * Math.ceil((left! - right!) / 360) : right!;
  return [
    closed([
      [left!, bottom!],
      [end, bottom!],
      [end, top!],
      [left!, top!],
    ]),
  ];
}

function polygonOutline(text: string): Outline | undefined {
  const rings: Place[][] = [];
  for (const part of text.split('|')) {
    let before: number | undefined;
    // what has crossed the antimeridian stays on that world
    let turned = 0;
    const ring: Place[] = [];
    for (const place of part.split(';')) {
      const numbers = numbersOf(place);
      if (numbers?.length !== 2) return undefined;
      const lon = numbers[0]! + turned;
      before = near(lon, before);
      turned += before - lon;
      ring.push([before, numbers[1]!]);
    }
    // a hole lies on the same world as the ring round it
    const turns = Math.ceil((westOf(rings[0] ?? ring) - westOf(ring)) / 360);
    rings.push(closed(ring.map(([lon, lat]): Place => [lon + 360 * turns, lat])));
  }
  return rings;
}

function westOf(ring: readonly Place[]): number {
  return Math.min(...ring.map(([lon]) => lon));
}

function circleOutline([lon, lat]: Place, metres: number): Outline | undefined {
  const angle = metres / EARTH_METRES;
  if (angle >= Math.PI) return [WORLD];
  const phi = lat * RADIANS;
  const ring: Place[] = [];
  for (let corner = 0; corner <= CORNERS; corner++) {
    const bearing = (2 * Math.PI * corner) / CORNERS;
    const sine =
      Math.sin(phi) * Math.cos(angle) + Math.cos(phi) * Math.sin(angle) * Math.cos(bearing);
    const y = Math.sin(bearing) * Math.sin(angle) * Math.cos(phi);
    const x = Math.cos(angle) - Math.sin(phi) * sine;
    // at a pole the rest is noise
    const turned = lon + (Math.abs(lat) === 90 ? bearing : Math.atan2(y, x)) / RADIANS;
    ring.push([near(turned, ring.at(-1)?.[0]), Math.asin(sine) / RADIANS]);
  }
  const reach = angle / RADIANS;
  const [north, south] = [lat + reach >= 90, lat - reach <= -90];
  // round both poles: all of the world but what lies on the other side, where the ring begins
  if (north && south) return [WORLD.map(([x, y]): Place => [x + ring[0]![0], y]), ring];
  if (!north && !south) return [ring];
  // round one pole: the edge of the map closes the ring
  const pole = north ? 90 : -90;
  return [closed([...ring, [ring.at(-1)![0], pole], [ring[0]![0], pole]])];
}

const WORLD: Place[] = boxOutline([-180, -90, 180, 90])[0]!;

function closed(ring: readonly Place[]): Place[] {
  return [...ring, ring[0]!];
}

/** The longitude on the world nearest to `before`; an edge of 180 or 360 degrees stays. */
function near(lon: number, before: number = lon): number {
  const distance = Math.abs(before - lon);
  if (distance <= 180 || distance === 360) return lon;
  return lon + 360 * Math.round((before - lon) / 360);
}

function wrap(lon: number): number {
  return Math.abs(lon) <= 180 ? lon : lon - 360 * Math.round(lon / 360);
}

function degrees(value: number): number {
  return Number(value.toFixed(DECIMALS));
}
