import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { EARTH_RADIUS, geodesic } from '../../../src/model/geo.js';
import { GeodesicFrom } from '../../../src/model/geodesic-from.js';
import { Patch } from '../../../src/query/region/patch.js';
import { rectangleOf } from '../../support/rectangles.js';

const SEED = 51;
const PATCHES = 30_000;

type Box = readonly [west: number, south: number, east: number, north: number];

/** Boxes of a metre to a thousand kilometres, many near the centre, its antipode and the poles. */
function boxOf(random: Random, lon: number, lat: number): Box {
  const size = 10 ** random.between(-5, 1);
  const gap = 10 ** random.between(-2, 2);
  const [x, y] = random.pick([
    [random.between(-180, 180), random.between(-90, 90)],
    [lon + random.between(-gap, gap), lat + random.between(-gap, gap)],
    [lon + 180 + random.between(-15, 15), -lat + random.between(-15, 15)],
    [lon + 180 + random.between(-gap, gap) / 30, -lat + random.between(-gap, gap) / 30],
    [random.between(-180, 180), random.pick([-1, 1]) * (90 - gap / 10)],
  ] as const);
  const west = Math.max(-180, Math.min(180, x > 180 ? x - 360 : x < -180 ? x + 360 : x));
  const south = Math.max(-90, Math.min(90, y));
  const east = Math.min(180, west + size * random.next());
  return [west, south, east, Math.min(90, south + size * random.next())];
}

test('no distance in a box is further from its patch than the error that the patch admits', () => {
  const random = new Random(SEED, 'point');
  let valid = 0;
  let worst = 0;
  for (let i = 0; i < PATCHES; i++) {
    random.restart(i + 1);
    const [lon, lat] = [
      random.pick([random.between(-180, 180), 180, -180]),
      random.pick([random.between(-90, 90), 0, 90, -90, 60.17]),
    ];
    const box = boxOf(random, lon, lat);
    const patch = new Patch();
    patch.fit(new GeodesicFrom(lon, lat), 1_000, ...rectangleOf(box));
    if (!patch.isValid) continue;
    valid++;
    const [west, south, east, north] = box;
    const middle = patch.atMiddle(...rectangleOf(box));
    const reach = patch.reachOf(...rectangleOf(box));
    for (const [x, y] of [
      [west, south],
      [east, south],
      [west, north],
      [east, north],
      [random.between(west, east), random.between(south, north)],
    ] as const) {
      const distance = geodesic(lon, lat, x, y) - 1_000;
      const error = Math.abs(patch.atMiddle(...rectangleOf([x, y, x, y])) - distance);
      const label = `seed ${SEED}, ${i}: ${lon} ${lat}, box ${box}, at ${x} ${y}`;
      if (error > patch.error) assert.unreachable(`${label}: ${error} m, not ${patch.error}`);
      // rounding is a good part of the smallest errors
      if (patch.error > 1e-5 && !patch.isFlat) worst = Math.max(worst, error / patch.error);
      if (Math.abs(distance - middle) > reach + patch.error) {
        assert.unreachable(`${label}: beyond the reach of ${reach} m`);
      }
    }
  }
  assert.ok(valid > PATCHES / 2, `${valid} of ${PATCHES} are valid`);
  assert.ok(worst > 0.05 && worst < 0.6, `the error is up to ${worst} of what is admitted`);
});

test('a patch of two kilometres is good to some micrometres a thousand kilometres away', () => {
  const patch = new Patch();
  patch.fit(new GeodesicFrom(24.94, 60.17), 1e6, ...rectangleOf([10, 55, 10.02, 55.01]));
  assert.ok(patch.isValid);
  assert.ok(patch.error < 1e-5, String(patch.error));
});

test('around the centre and its antipode a distance changes by no more than one moves', () => {
  const from = new GeodesicFrom(10, 20);
  const boxes: Box[] = [
    [9.99, 19.99, 10.01, 20.01],
    [10, 20, 10, 20],
    [-170.1, -20.1, -169.9, -19.9],
  ];
  const patch = new Patch();
  for (const box of boxes) {
    patch.fit(from, 1e6, ...rectangleOf(box));
    assert.ok(patch.isValid && patch.isFlat, String(box));
    assert.not.ok(patch.holds(...rectangleOf(box)), String(box));
    assert.ok(Math.abs(patch.error - patch.reachOf(...rectangleOf(box))) < 1e-3, String(box));
    for (const value of [patch.c10, patch.c01, patch.c20]) assert.is(value, 0);
  }
});

test('a box as large as a continent, or larger than the circle, has no patch', () => {
  const from = new GeodesicFrom(10, 20);
  const patch = new Patch();
  patch.fit(from, 1e6, ...rectangleOf([30, 0, 60, 30]));
  assert.not.ok(patch.isValid);
  patch.fit(from, 1e3, ...rectangleOf([10, 20, 10.1, 20.1]), 1e3 / EARTH_RADIUS);
  assert.not.ok(patch.isValid);
  assert.not.ok(patch.holds(...rectangleOf([10, 20, 10.1, 20.1])));
});

test('a patch holds the boxes within its own', () => {
  const patch = new Patch();
  assert.not.ok(patch.holds(...rectangleOf([0, 0, 0, 0])));
  patch.fit(new GeodesicFrom(10, 20), 1e6, ...rectangleOf([20, 30, 21, 31]));
  for (const box of [
    [20, 30, 21, 31],
    [20.5, 30.5, 20.5, 30.5],
  ] as const) {
    assert.ok(patch.holds(...rectangleOf(box)), String(box));
  }
  for (const box of [
    [19.9, 30, 21, 31],
    [20, 30, 21, 31.1],
    [22, 30, 23, 31],
  ] as const) {
    assert.not.ok(patch.holds(...rectangleOf(box)), String(box));
  }
  assert.ok(patch.isAround(...rectangleOf([20, 30, 21, 31])));
  assert.not.ok(patch.isAround(...rectangleOf([20, 30, 21, 30.9])));
});

test.run();
