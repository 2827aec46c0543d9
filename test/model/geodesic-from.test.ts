import geographiclib from 'geographiclib-geodesic';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../src/cli/generate/random.js';
import { geodesic } from '../../src/model/geo.js';
import { GeodesicFrom } from '../../src/model/geodesic-from.js';
import { at } from '../support/rectangles.js';

const SEED = 41;
const PAIRS = 40_000;
const RADIANS = Math.PI / 180;

/** A third of what the rim of a circle allows for. */
const AGREEMENT = 2e-8;

type Place = readonly [lon: number, lat: number];

function* pairs(): Generator<readonly [Place, Place]> {
  const random = new Random(SEED, 'point');
  for (let i = 0; i < PAIRS; i++) {
    random.restart(i + 1);
    const lon = random.pick([random.between(-180, 180), 180, -180, 0]);
    const lat = random.pick([random.between(-90, 90), 90, -90, 0, 1e-9]);
    const step = 10 ** random.between(-3, 2);
    const [east, north] = [random.between(-1, 1) * step, random.between(-1, 1) * step];
    const end = random.pick([
      [random.between(-180, 180), random.between(-90, 90)],
      [lon + east, lat + north],
      [lon + 180 + east, north - lat],
      [lon + 180 + east / 30, north / 30 - lat],
      [lon, lat + north],
      [lon + 180, random.between(-90, 90)],
      [lon + east, 0],
    ] as const);
    yield [
      [lon, lat],
      [wrap(end[0]), Math.max(-90, Math.min(90, end[1]))],
    ];
  }
}

function wrap(lon: number): number {
  return lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon;
}

test('a geodesic from a place is the geodesic, to nanometres', () => {
  let worst = 0;
  let measured = 0;
  for (const [[lon, lat], end] of pairs()) {
    const from = new GeodesicFrom(lon, lat);
    if (!from.measure(...at(...end))) continue;
    measured++;
    const error = Math.abs(from.exactDistance - geodesic(lon, lat, ...end));
    if (error > AGREEMENT) assert.unreachable(`seed ${SEED}: ${lon} ${lat} to ${end}: ${error} m`);
    worst = Math.max(worst, error);
  }
  assert.ok(measured > PAIRS * 0.8, `${measured} of ${PAIRS}`);
  assert.ok(worst > 1e-9, `the distances are compared, not copied: ${worst}`);
});

test('a geodesic does not depend on the one that was measured before', () => {
  const random = new Random(SEED + 1, 'point');
  const from = new GeodesicFrom(24.94, 60.17);
  for (let i = 0; i < 20_000; i++) {
    const end = [random.between(-180, 180), random.between(-90, 90)] as const;
    if (!from.measure(...at(...end))) continue;
    const error = Math.abs(from.exactDistance - geodesic(24.94, 60.17, ...end));
    if (error > AGREEMENT) assert.unreachable(`seed ${SEED + 1}, ${i}: ${end}: ${error} m`);
  }
});

test('azimuth, reduced length and curvature are those at the end of the geodesic', () => {
  const { Geodesic } = geographiclib;
  for (const [[lon, lat], [endLon, endLat]] of pairs()) {
    if (Math.abs(lat) > 89.9 || Math.abs(endLat) > 89.9) continue;
    const from = new GeodesicFrom(lon, lat);
    if (!from.measure(...at(endLon, endLat))) continue;
    const shifted = endLon + from.offset / RADIANS;
    const solved = Geodesic.WGS84.Inverse(lat, lon, endLat, shifted, Geodesic.ALL);
    const label = `seed ${SEED}: ${lon} ${lat} to ${endLon} ${endLat}`;
    const near = (got: number, expected: number, tolerance: number, what: string): void => {
      if (!(Math.abs(got - expected) <= tolerance)) {
        assert.unreachable(`${label}: ${what} ${got}, expected ${expected}`);
      }
    };
    const azimuth = solved.azi2! * RADIANS;
    const reduced = solved.m12!;
    // rounding turns the azimuth at the end of a short geodesic
    const turn = 1e-13 + 1e-7 / Math.abs(reduced);
    near(from.sinAzimuth, Math.sin(azimuth), turn, 'sine of the azimuth');
    near(from.cosAzimuth, Math.cos(azimuth), turn, 'cosine of the azimuth');
    near(from.reduced, reduced, 1e-4, 'reduced length');
    near(from.curvature * from.reduced, solved.M21!, 1e-9, 'scale');
  }
});

test('next to the centre, and where two geodesics may be the shortest, nothing is measured', () => {
  const from = new GeodesicFrom(10, 20);
  assert.not.ok(from.measure(...at(10, 20)));
  assert.not.ok(from.measure(...at(10.0001, 20)));
  assert.not.ok(from.measure(...at(-170, -20)));
  assert.not.ok(from.measure(...at(-170, -20.1)));
  assert.ok(from.measure(...at(10.01, 20)));
  assert.not.ok(from.isFar);
  assert.ok(from.measure(...at(-169.99, -20)));
  assert.ok(from.isFar);
});

test('seen from a pole, and at a pole, all longitudes are one to the geodesic', () => {
  const random = new Random(SEED + 2, 'point');
  for (let i = 0; i < 2_000; i++) {
    const [lon, lat] = [random.between(-180, 180), random.between(-90, 90)];
    for (const pole of [90, -90]) {
      const expected = geodesic(lon, lat, 0, pole);
      assert.is(geodesic(lon, lat, random.between(-180, 180), pole), expected);
      assert.is(geodesic(random.between(-180, 180), pole, lon, lat), geodesic(0, pole, 0, lat));
    }
  }
});

test.run();
