import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { greatCircle } from '../../../bench/support/great-circle.js';
import { Random } from '../../../src/cli/generate/random.js';
import { haversineOf } from '../../../src/model/geo.js';
import type { Degrees } from '../../../src/model/units.js';
import { Centre } from '../../../src/query/region/centre.js';
import {
  at,
  edgeRectangles,
  pointsOf,
  type Rectangle,
  rectangle,
  rectangleOf,
} from '../../support/rectangles.js';

const SEED = 21;

const EDGE_CENTRES: readonly (readonly [lon: Degrees, lat: Degrees])[] = [
  [0, 0],
  [180, 0],
  [-180, 0],
  [180, 45],
  [-180, -45],
  [0, 90],
  [0, -90],
  [180, 90],
  [24.94, 60.17],
  [-24.94, -89.99999999],
  [179.99999999, 0.00000001],
  [90, 1e-8],
];

function assertBound(centre: Centre, area: Rectangle, random: Random, label: string): void {
  centre.bound(...rectangleOf(area));
  const { least, most } = centre;
  let [nearest, farthest] = [2, -1];
  for (const [lon, lat] of pointsOf(area, random, 12)) {
    const haversine = centre.to(...at(lon, lat));
    nearest = Math.min(nearest, haversine);
    farthest = Math.max(farthest, haversine);
  }
  const place = `${label}: centre ${centre.lon} ${centre.lat}, rectangle ${area}`;
  assert.ok(least <= nearest, `${place}: ${nearest} is nearer than ${least}`);
  assert.ok(most >= farthest, `${place}: ${farthest} is farther than ${most}`);
  assert.ok(least >= 0 && most < 1 + 1e-14 && least <= most, `${place}: ${least} to ${most}`);
}

test('near the centre a series stands for the sine, to the last digits', () => {
  const random = new Random(SEED, 'point');
  const radians = Math.PI / 180;
  for (let i = 0; i < 20_000; i++) {
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
    const label = `seed ${SEED}, ${i}: ${lon} ${lat} to ${pointLon} ${pointLat}`;
    assert.ok(Math.abs(got - expected) <= 1e-14 * expected, `${label}: ${got} and ${expected}`);
  }
});

test('no point of a rectangle is nearer or farther than its bounds: edge cases', () => {
  const random = new Random(SEED, 'point');
  for (const [lon, lat] of EDGE_CENTRES) {
    const centre = new Centre(lon, lat);
    for (const area of edgeRectangles([lon, lat])) assertBound(centre, area, random, 'edge');
  }
});

test('no point of a rectangle is nearer or farther than its bounds: 20,000 random ones', () => {
  const random = new Random(SEED, 'point');
  for (let i = 0; i < 20_000; i++) {
    random.restart(i + 1);
    const [lon, lat] = random.pick([
      random.pick(EDGE_CENTRES),
      [random.between(-180, 180), random.between(-90, 90)],
      [random.between(-180, 180), random.between(-90, 90)],
    ] as const);
    assertBound(new Centre(lon, lat), rectangle(random, [lon, lat]), random, `seed ${SEED}, ${i}`);
  }
});

test('the bounds are no wider than the rectangle, but for rounding', () => {
  const centre = new Centre(20, 50);
  const bounds = (...area: Rectangle): [number, number] => {
    centre.bound(...rectangleOf(area));
    return [centre.least, centre.most];
  };
  const check = (
    area: Rectangle,
    nearest: [lon: Degrees, lat: Degrees],
    farthest: [lon: Degrees, lat: Degrees],
  ): void => {
    const [least, most] = bounds(...area);
    assert.ok(Math.abs(least - centre.to(...at(...nearest))) < 1e-12, `${area}: least ${least}`);
    assert.ok(Math.abs(most - centre.to(...at(...farthest))) < 1e-12, `${area}: most ${most}`);
  };
  check([10, 40, 30, 60], [20, 50], [10, 40]); // the centre inside
  check([25, 20, 30, 30], [25, 30], [30, 20]); // corner to corner
  check([15, 10, 30, 20], [20, 20], [30, 10]); // due south
  check([-180, -90, 180, 90], [20, 50], [-160, -50]); // the whole world
  check([-170, -60, -150, -40], [-150, -40], [-160, -50]); // the antipode inside
  // far in the east the nearest point of a meridian bends north: tan φ = tan 50° / cos 60°
  const vertex = (Math.atan(Math.tan((50 * Math.PI) / 180) / 0.5) * 180) / Math.PI;
  check([80, 0, 90, 80], [80, vertex], [90, 0]);
});

test('the same meridian is near by either name', () => {
  const areas: Rectangle[] = [
    [-180, 0, -170, 20],
    [170, 0, 180, 20],
    [-180, 10, -180, 10],
    [180, 10, 180, 10],
  ];
  for (const lon of [180, -180]) {
    const centre = new Centre(lon, 10);
    for (const area of areas) {
      centre.bound(...rectangleOf(area));
      assert.is(centre.least, 0, `${lon}, ${area}`);
    }
  }
});

test('a centre measures the great circle', () => {
  const random = new Random(SEED + 1, 'point');
  for (let i = 0; i < 2_000; i++) {
    const [lon, lat] = [random.between(-180, 180), random.between(-90, 90)];
    const [otherLon, otherLat] = [random.between(-180, 180), random.between(-90, 90)];
    const haversine = new Centre(lon, lat).to(...at(otherLon, otherLat));
    const expected = haversineOf(greatCircle(lon, lat, otherLon, otherLat));
    assert.ok(Math.abs(haversine - expected) < 1e-14, `${lon} ${lat} to ${otherLon} ${otherLat}`);
  }
});

test.run();
