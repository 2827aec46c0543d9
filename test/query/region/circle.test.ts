import { haversine } from '../../../bench/support/great-circle.js';
import { Random } from '../../../src/cli/generate/random.js';
import { FARTHEST, geodesic } from '../../../src/model/geo.js';
import type { Circle } from '../../../src/model/query.js';
import { Centre } from '../../../src/query/region/centre.js';
import { circleRegion } from '../../../src/query/region/circle.js';
import { ACROSS, INSIDE, OUTSIDE } from '../../../src/query/region/overlap.js';
import { Rim } from '../../../src/query/region/rim.js';
import { assert, IS_SOAK, rounds, table, test } from '../../support/uvu.js';

const SEED = 31;

type Place = readonly [lon: number, lat: number];
type Rectangle = readonly [west: number, south: number, east: number, north: number];

const RADII = [0, 1e-9, 1e-3, 1, 1000, 1e5, 5e6, 1e7, 1.78e7, 2e7, FARTHEST - 1e-3, 4e7];

function randomCircle(random: Random): Circle {
  const [lon, lat] = random.pick([
    [random.between(-180, 180), random.between(-90, 90)],
    [random.pick([-180, 180, 179.99999999, 0]), random.between(-90, 90)],
    [random.between(-180, 180), random.pick([-90, 90, 89.99999999, 0])],
    [random.pick([-180, 180]), random.pick([-90, 90])],
  ] as const);
  const radius = random.chance(0.2) ? random.pick(RADII) : 10 ** random.between(-4, 7.31);
  return { lon, lat, radius };
}

/** Rectangles at the rim of the map, without width, as large as can be, and round a centre. */
function edgeRectangles([lon, lat]: Place): Rectangle[] {
  const edges = table(`
    -180 -90 180 90 | -180 -90 0 0 | 0 0 180 90 | -180 90 180 90 | -180 -90 180 -90
    -180 -90 -180 90 | 180 -90 180 90 | -180 0 -180 0 | 180 0 180 0 | -180 89 180 90`);
  return [
    ...edges.map((edge) => edge.map(Number) as unknown as Rectangle),
    [lon, lat, lon, lat],
    [-lon, -lat, -lon, -lat],
    [lon, -90, lon, 90],
    [-180, lat, 180, lat],
    [lon, lat, 180, 90],
    [-180, -90, lon, lat],
  ];
}

/** A random rectangle of at most twice the size: anywhere, or near a place or its antipode. */
function rectangle(
  random: Random,
  [lon, lat]: Place,
  size: number = 10 ** random.between(-8, 2.3),
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
function* pointsOf(
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

function clip(value: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, value));
}

/** A point or a box as the kernel takes it: coordinates, and their place. */
function at(...numbers: Place | Rectangle): [Float64Array, 0] {
  return [Float64Array.from(numbers), 0];
}

/** Asserts what the circle says of a rectangle by asking the geodesic about points of it. */
function assertOverlap(circle: Circle, area: Rectangle, random: Random, label: string): number {
  const { lon, lat, radius } = circle;
  const region = circleRegion(circle);
  const overlap = region.overlap(...at(...area));
  for (const point of pointsOf(area, random, 3)) {
    const inside = geodesic(lon, lat, ...point) <= radius;
    const held = region.contains(...at(...point));
    const { west, south, east, north } = region.frame;
    const [x, y] = point;
    const framed = x >= west && x <= east && y >= south && y <= north;
    if (held === inside && (framed || !inside) && overlap !== (inside ? OUTSIDE : INSIDE)) continue;
    const found = JSON.stringify({ circle, point, area, overlap, inside, held, framed });
    assert.unreachable(`${label}: ${found}`);
  }
  return overlap;
}

test('contains is the geodesic, and overlap never wrong', () => {
  const random = new Random(SEED, 'point');
  const seen = [0, 0, 0];
  for (let i = 0; i < rounds(6_000); i++) {
    random.restart(i + 1);
    const circle = randomCircle(random);
    const place = [circle.lon, circle.lat] as const;
    const label = `seed ${SEED}, ${i}`;
    seen[assertOverlap(circle, rectangle(random, place), random, label)]!++;
    // a rectangle the size of the circle
    const [lat, radius] = [circle.lat * 0.95, 10 ** random.between(-0.5, 5)];
    const size = (radius / 111_000) * random.between(0, 2);
    const area = rectangle(random, [circle.lon, lat], size);
    assertOverlap({ lon: circle.lon, lat, radius }, area, random, label);
    const edges = i % 20 === 0 ? edgeRectangles(place) : [];
    for (const edge of edges) assertOverlap(circle, edge, random, label);
  }
  // each of the three answers comes up, so none is given for want of a better
  for (const times of seen) assert.ok(times > rounds(500), String(seen));
});

test('a rim exactly on a point holds it, and a hair less does not', () => {
  const random = new Random(SEED + 1, 'point');
  for (let i = 0; i < rounds(5_000); i++) {
    const { lon, lat } = randomCircle(random);
    const step = 10 ** random.between(-8, 2);
    const [x, y] = [lon + random.between(-step, step), lat + random.between(-step, step)];
    const point = [clip(x, 180), clip(y, 90)] as const;
    const most = geodesic(lon, lat, ...point);
    for (const radius of [most, most * (1 - 2 ** -52)]) {
      const isHeld = circleRegion({ lon, lat, radius }).contains(...at(...point));
      assert.is(
        isHeld,
        radius === most,
        `seed ${SEED + 1}: ${lon} ${lat} to ${point}, ${radius} m`,
      );
    }
  }
});

test('small circles hold what the geodesic says, right up to the rim', () => {
  const random = new Random(SEED + 2, 'point');
  for (let i = 0; i < rounds(60_000); i++) {
    random.restart(i + 1);
    const lat = random.pick([random.between(-85, 85), 84, -84, 83.99, 60.17, 0, 1e-5]);
    const lon = random.pick([random.between(-180, 180), 179.9, -179.8, 24.94]);
    const reach = 10 ** random.between(-0.5, 5.1);
    const [north, east] = random.pick([
      [random.between(-1, 1), random.between(-1, 1)],
      [0, random.between(-1, 1)],
      [random.between(-1, 1), 0],
    ] as const);
    const degrees = reach / 111_000;
    const point = [
      clip(lon + (east * degrees) / Math.cos((lat * Math.PI) / 180), 180),
      lat + north * degrees,
    ] as const;
    const distance = geodesic(lon, lat, ...point);
    const radius = distance * (1 + random.pick([-1, 1]) * 10 ** random.between(-14, -2));
    const region = circleRegion({ lon, lat, radius });
    const label = `seed ${SEED + 2}, ${i}: ${lon} ${lat} to ${point}, ${distance} of ${radius} m`;
    assert.is(region.contains(...at(...point)), distance <= radius, label);
    const overlap = region.overlap(...at(...point, ...point));
    assert.is.not(overlap, distance <= radius ? OUTSIDE : INSIDE, label);
  }
});

test('what is collected from a box is what the geodesic says, right up to the rim', () => {
  const random = new Random(SEED + 4, 'point');
  let boxes = 0;
  for (let i = 0; i < rounds(1_500); i++) {
    random.restart(i + 1);
    const { lon, lat } = randomCircle(random);
    const size = 10 ** random.between(-6, 1);
    const area = rectangle(random, [lon, lat], size);
    const places = [...pointsOf(area, random, 12)];
    // the rim goes through one of them, or just by it
    const radius =
      geodesic(lon, lat, ...random.pick(places)) * random.pick([1, 1 - 2 ** -52, 1 + 1e-9]);
    const region = circleRegion({ lon, lat, radius });
    if (region.overlap(...at(...area)) !== ACROSS) continue;
    boxes++;
    const coords = Float64Array.from(places.flat());
    const bounds = new Int32Array(2 * places.length);
    const end = region.collect(coords, 0, places.length, ...at(...area), bounds, 0);
    const found = Array.from(bounds.subarray(0, end)).filter((_, at) => at % 2 === 0);
    const expected = [...places.keys()].filter((i) => geodesic(lon, lat, ...places[i]!) <= radius);
    assert.equal(found, expected, `seed ${SEED + 4}, ${i}: ${lon} ${lat} ${radius}, ${area}`);
  }
  assert.ok(boxes > rounds(1_000), String(boxes));
});

test('as far as the antipode and beyond, a circle has the whole Earth', () => {
  for (const radius of [FARTHEST, 20_037_508.34, 1e300, Number.MAX_VALUE]) {
    const region = circleRegion({ lon: 24.94, lat: 60.17, radius });
    assert.is(region.overlap(...at(-180, -90, 180, 90)), radius > 1e9 ? INSIDE : ACROSS);
    assert.ok(region.contains(...at(-155.06, -60.17)));
  }
});

test('a centre measures the great circle, near it by a series to the last digits', () => {
  const random = new Random(SEED, 'point');
  for (let i = 0; i < rounds(20_000); i++) {
    random.restart(i + 1);
    // the series ends at a hundredth of a radian
    const reach = i % 10 === 0 ? 180 : 10 ** random.between(-8, 0);
    const [lon, lat] = [random.between(-180, 180), random.between(-89, 89)];
    const [x, y] = [lon + random.between(-reach, reach), lat + random.between(-reach, reach)];
    const point = [x, clip(y, 90)] as const;
    const expected = haversine(lon, lat, ...point);
    const got = new Centre(lon, lat).to(...at(...point));
    const label = `seed ${SEED}, ${i}: ${lon} ${lat} to ${point}: ${got} and ${expected}`;
    assert.ok(Math.abs(got - expected) <= 1e-14 * (reach > 1 ? 1 : expected), label);
  }
});

const PAIRS = IS_SOAK ? 10_000_000 : 50_000;

test('an estimate is off by half of its error at most, also for rounding', () => {
  const random = new Random(SEED, 'point');
  let most = 0;
  for (let i = 0; i < PAIRS; i++) {
    random.restart(i + 1);
    const lon = random.pick([random.between(-180, 180), 180, -180, 24.94]);
    const lat = random.pick([random.between(-90, 90), 90, 89.9999, 0, -45]);
    const reach = 10 ** random.between(-9, 2.3);
    const [x, y] = random.pick([
      [lon + random.between(-reach, reach), lat + random.between(-reach, reach)],
      [lon, lat + random.between(-reach, reach)],
      [lon + random.between(-reach, reach), lat],
      [random.between(-180, 180), random.between(-90, 90)],
      [lon + 180 + random.between(-20, 20), -lat + random.between(-20, 20)],
    ] as const);
    const point = [((x + 540) % 360) - 180, clip(y, 90)] as const;
    const rim = new Rim({ lon, lat, radius: 0 });
    const off = Math.abs(rim.beyond(...at(...point)) - geodesic(lon, lat, ...point));
    if (off === 0) continue;
    most = Math.max(most, off / rim.error);
    if (off > rim.error * 0.6)
      assert.unreachable(`${lon} ${lat} to ${point}: ${off} of ${rim.error}`);
  }
  assert.ok(most > 0.3, `the largest share of an error is ${most}`);
  // beyond what estimates are good for, the geodesic is taken
  const rim = new Rim({ lon: 24.94, lat: 60.17, radius: 0 });
  assert.is(rim.beyond(...at(-155, -60)), geodesic(24.94, 60.17, -155, -60));
  assert.is(rim.error, 0);
});

test('a place is measured once, and so is a pole', () => {
  const cases: [lonOf: (row: number) => number, lat: number, estimated: number][] = [
    [() => 12, 30, 1],
    [(row) => row, 90, 1],
    [(row) => row, 30, 64],
  ];
  for (const [lonOf, lat, estimated] of cases) {
    const rim = new Rim({ lon: 10, lat: 20, radius: 1e6 });
    for (let row = 0; row < 64; row++) rim.holds(...at(lonOf(row), lat));
    assert.is(rim.estimated, estimated);
  }
});

test.run();
