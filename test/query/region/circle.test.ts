import { greatCircle, haversineOf } from '../../../bench/support/great-circle.js';
import { Random } from '../../../src/cli/generate/random.js';
import { FARTHEST, geodesic } from '../../../src/model/geo.js';
import type { Box, Circle } from '../../../src/model/query.js';
import { Centre } from '../../../src/query/region/centre.js';
import { circleRegion } from '../../../src/query/region/circle.js';
import { ACROSS, INSIDE, OUTSIDE } from '../../../src/query/region/overlap.js';
import { Rim } from '../../../src/query/region/rim.js';
import {
  at,
  edgeRectangles,
  pointsOf,
  type Rectangle,
  rectangle,
  rectangleOf,
} from '../../support/rectangles.js';
import { assert, IS_SOAK, rounds, test } from '../../support/uvu.js';

const CENTRE_SEED = 21;
const SEED = 31;

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

function isWithin({ west, south, east, north }: Box, lon: number, lat: number): boolean {
  return lon >= west && lon <= east && lat >= south && lat <= north;
}

/** Asserts what the circle says of a rectangle by asking the geodesic about points of it. */
function assertOverlap(circle: Circle, area: Rectangle, random: Random, label: string): number {
  const { lon, lat, radius } = circle;
  const region = circleRegion(circle);
  const overlap = region.overlap(...rectangleOf(area));
  for (const point of pointsOf(area, random, 3)) {
    const inside = geodesic(lon, lat, ...point) <= radius;
    const about = `${label}: ${JSON.stringify(circle)}, point ${point}`;
    if (region.contains(...at(...point)) !== inside)
      assert.unreachable(`${about} should be ${inside}`);
    if (inside && !isWithin(region.frame, ...point)) assert.unreachable(`${about}: out of frame`);
    if (overlap === (inside ? OUTSIDE : INSIDE)) {
      assert.unreachable(`${about} of ${area}: overlap ${overlap}, but contained: ${inside}`);
    }
  }
  return overlap;
}

test('contains is the geodesic, and overlap never wrong: random circles and rectangles', () => {
  const random = new Random(SEED, 'point');
  const seen = [0, 0, 0];
  for (let i = 0; i < rounds(6_000); i++) {
    random.restart(i + 1);
    const circle = randomCircle(random);
    const area = rectangle(random, [circle.lon, circle.lat]);
    seen[assertOverlap(circle, area, random, `seed ${SEED}, ${i}`)]!++;
  }
  // each of the three answers comes up, so none is given for want of a better
  for (const times of seen) assert.ok(times > rounds(500), String(seen));
});

test('contains is the geodesic, and overlap never wrong: edge rectangles', () => {
  const random = new Random(SEED, 'point');
  for (let i = 0; i < rounds(300); i++) {
    random.restart(i + 1);
    const circle = randomCircle(random);
    for (const area of edgeRectangles([circle.lon, circle.lat])) {
      assertOverlap(circle, area, random, `seed ${SEED}, edges, ${i}`);
    }
  }
});

test('a rim exactly on a point holds it, and a hair less does not', () => {
  const random = new Random(SEED + 1, 'point');
  for (let i = 0; i < rounds(5_000); i++) {
    const { lon, lat } = randomCircle(random);
    const step = 10 ** random.between(-8, 2);
    const point = [
      Math.max(-180, Math.min(180, lon + random.between(-step, step))),
      Math.max(-90, Math.min(90, lat + random.between(-step, step))),
    ] as const;
    const radius = geodesic(lon, lat, ...point);
    const label = `seed ${SEED + 1}: ${lon} ${lat} to ${point}, ${radius} m`;
    assert.ok(circleRegion({ lon, lat, radius }).contains(...at(...point)), label);
    const less = radius * (1 - 2 ** -52);
    if (less === radius) continue;
    assert.not.ok(circleRegion({ lon, lat, radius: less }).contains(...at(...point)), label);
  }
});

test('contains is the geodesic, and overlap never wrong: rectangles the size of the circle', () => {
  const random = new Random(SEED + 3, 'point');
  for (let i = 0; i < rounds(6_000); i++) {
    random.restart(i + 1);
    const { lon, lat } = randomCircle(random);
    const circle = { lon, lat: lat * 0.95, radius: 10 ** random.between(-0.5, 5) };
    const size = (circle.radius / 111_000) * random.between(0, 2);
    const area = rectangle(random, [lon, circle.lat], size);
    assertOverlap(circle, area, random, `seed ${SEED + 3}, ${i}`);
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
      Math.max(-180, Math.min(180, lon + (east * degrees) / Math.cos((lat * Math.PI) / 180))),
      lat + north * degrees,
    ] as const;
    const distance = geodesic(lon, lat, ...point);
    const radius = distance * (1 + random.pick([-1, 1]) * 10 ** random.between(-14, -2));
    const region = circleRegion({ lon, lat, radius });
    const label = `seed ${SEED + 2}, ${i}: ${lon} ${lat} to ${point}, ${distance} of ${radius} m`;
    assert.is(region.contains(...at(...point)), distance <= radius, label);
    const overlap = region.overlap(...rectangleOf([...point, ...point]));
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
    if (region.overlap(...rectangleOf(area)) !== ACROSS) continue;
    boxes++;
    const coords = Float64Array.from(places.flat());
    const bounds = new Int32Array(2 * places.length);
    const end = region.collect(coords, 0, places.length, ...rectangleOf(area), bounds, 0);
    const found = Array.from(bounds.subarray(0, end)).filter((_, at) => at % 2 === 0);
    const expected = [...places.keys()].filter(
      (row) => geodesic(lon, lat, ...places[row]!) <= radius,
    );
    assert.equal(found, expected, `seed ${SEED + 4}, ${i}: ${lon} ${lat} ${radius}, ${area}`);
  }
  assert.ok(boxes > rounds(1_000), String(boxes));
});

test('radius 0 holds the centre by every name it has, and nothing else', () => {
  const holds = (lon: number, lat: number, point: readonly [number, number]): void => {
    const region = circleRegion({ lon, lat, radius: 0 });
    const label = `${lon} ${lat}, ${point}`;
    assert.ok(region.contains(...at(...point)), label);
    assert.is.not(region.overlap(...rectangleOf([...point, ...point])), OUTSIDE, label);
  };
  holds(24.94, 60.17, [24.94, 60.17]);
  holds(180, 60, [-180, 60]);
  holds(-180, -16.8, [180, -16.8]);
  holds(10, 90, [50, 90]);
  holds(-179.94387689, 90, [0, 90]);
  holds(180, -90, [-17, -90]);
  const region = circleRegion({ lon: 180, lat: 60, radius: 0 });
  assert.not.ok(region.contains(...at(-179.99999999, 60)));
  assert.not.ok(region.contains(...at(180, 60.00000001)));
});

test('as far as the antipode, a circle is the whole Earth', () => {
  for (const radius of [FARTHEST, 20_037_508.34, 1e300, Number.MAX_VALUE]) {
    const region = circleRegion({ lon: 24.94, lat: 60.17, radius });
    assert.is(region.overlap(...rectangleOf([-180, -90, 180, 90])), INSIDE);
    assert.ok(region.contains(...at(-155.06, -60.17)));
  }
});

test('near the centre a series stands for the sine, to the last digits', () => {
  const random = new Random(CENTRE_SEED, 'point');
  const radians = Math.PI / 180;
  for (let i = 0; i < rounds(20_000); i++) {
    random.restart(i + 1);
    const [lon, lat] = [random.between(-180, 180), random.between(-89, 89)];
    // the series ends at a hundredth of a radian
    const reach = 10 ** random.between(-8, 0);
    const [pointLon, pointLat] = [lon, lat].map((at) => at + random.between(-reach, reach));
    const sinLat = Math.sin(((pointLat! - lat) * radians) / 2);
    const sinLon = Math.sin(((pointLon! - lon) * radians) / 2);
    const cosines = Math.cos(lat * radians) * Math.cos(pointLat! * radians);
    const expected = sinLat * sinLat + cosines * sinLon * sinLon;
    const got = new Centre(lon, lat).to(...at(pointLon!, pointLat!));
    const label = `seed ${CENTRE_SEED}, ${i}: ${lon} ${lat} to ${pointLon} ${pointLat}`;
    assert.ok(Math.abs(got - expected) <= 1e-14 * expected, `${label}: ${got} and ${expected}`);
  }
});

test('a centre measures the great circle', () => {
  const random = new Random(CENTRE_SEED + 1, 'point');
  for (let i = 0; i < 2_000; i++) {
    const [lon, lat] = [random.between(-180, 180), random.between(-90, 90)];
    const [otherLon, otherLat] = [random.between(-180, 180), random.between(-90, 90)];
    const haversine = new Centre(lon, lat).to(...at(otherLon, otherLat));
    const expected = haversineOf(greatCircle(lon, lat, otherLon, otherLat));
    assert.ok(Math.abs(haversine - expected) < 1e-14, `${lon} ${lat} to ${otherLon} ${otherLat}`);
  }
});

const RIM_SEED = 61;
const PAIRS = IS_SOAK ? 10_000_000 : 100_000;
const ROWS = 64;

test('an estimate is off by half of its error at most, also for rounding', () => {
  const random = new Random(RIM_SEED, 'point');
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
    const point = [((x + 540) % 360) - 180, Math.max(-90, Math.min(90, y))] as const;
    const rim = new Rim({ lon, lat, radius: 0 });
    const off = Math.abs(rim.beyond(...at(...point)) - geodesic(lon, lat, ...point));
    if (off === 0) continue;
    most = Math.max(most, off / rim.error);
    if (off > rim.error * 0.6)
      assert.unreachable(`${lon} ${lat} to ${point}: ${off} of ${rim.error}`);
  }
  assert.ok(most > 0.3, `the largest share of an error is ${most}`);
});

test('beyond what estimates are good for, the geodesic is taken', () => {
  const rim = new Rim({ lon: 24.94, lat: 60.17, radius: 0 });
  assert.is(rim.beyond(...at(-155, -60)), geodesic(24.94, 60.17, -155, -60));
  assert.is(rim.error, 0);
});

test('a place is measured once, and so is a pole', () => {
  const times = (circle: Circle, place: (row: number) => number[]): number => {
    const rim = new Rim(circle);
    const coords = Float64Array.from(Array.from({ length: ROWS }, (_, row) => place(row)).flat());
    for (let row = 0; row < ROWS; row++) rim.holds(coords, row);
    return rim.estimated;
  };
  const circle = { lon: 10, lat: 20, radius: 1e6 };
  assert.is(
    times(circle, () => [12, 30]),
    1,
  );
  assert.is(
    times(circle, (row) => [row, 90]),
    1,
  );
  assert.is(
    times(circle, (row) => [row, 30]),
    ROWS,
  );
});

test.run();
