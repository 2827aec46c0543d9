import { greatCircle, haversine, haversineOf } from '../../bench/support/great-circle.js';
import { Random } from '../../src/cli/generate/random.js';
import { EARTH_RADIUS, FARTHEST, geodesic, LEAST_STRETCH } from '../../src/model/geo.js';
import type { Degrees, Metres } from '../../src/model/units.js';
import { assert, rounds, test } from '../support/uvu.js';

const SEED = 11;
const PAIRS = rounds(60_000);

/** Rounded coordinates are known to a few 1e-16 of a turn: this far on the ground, twice over. */
const NOISE: Metres = 1e-8;

type Pair = readonly [lon1: Degrees, lat1: Degrees, lon2: Degrees, lat2: Degrees];

/** Pairs from a nanometre to half the Earth apart, many at poles, antimeridian and antipodes. */
function* pairs(): Generator<Pair> {
  const random = new Random(SEED, 'point');
  for (let i = 0; i < PAIRS; i++) {
    const lon1 = random.pick([random.between(-180, 180), 180, -180, 179.9999999, 0]);
    const lat1 = random.pick([random.between(-90, 90), 90, -90, 89.9999999, 0, -0.001]);
    const step = 10 ** random.between(-10, 2);
    const [east, north] = [random.between(-1, 1) * step, random.between(-1, 1) * step];
    const [lon2, lat2] = random.pick([
      [lon1 + east, lat1 + north],
      [lon1 + east, lat1 + north],
      [lon1, lat1 + north], // along a meridian, where the stretch has its extremes
      [lon1 + east, lat1],
      [lon1 + 180 + east, -lat1 + north],
      [random.between(-180, 180), random.between(-90, 90)],
    ] as const);
    yield [lon1, lat1, wrap(lon2), Math.max(-90, Math.min(90, lat2))];
  }
}

function wrap(lon: Degrees): Degrees {
  return lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon;
}

function assertWithin(value: number, least: number, most: number, pair: Pair): void {
  if (value >= least && value <= most) return;
  assert.unreachable(`seed ${SEED}: ${value} is not within ${least} … ${most} for ${pair}`);
}

test('the geodesic takes longitude first and agrees with published distances', () => {
  // JFK to London Heathrow, as in the manual of GeographicLib's GeodSolve
  assert.ok(Math.abs(geodesic(-73.8, 40.6, -0.5, 51.6) - 5_551_759.4) < 0.001);
  assert.ok(Math.abs(geodesic(10, 0, 11, 0) - (6_378_137 * Math.PI) / 180) < 1e-6);
  assert.is(geodesic(180, 60, -180, 60), 0);
  assert.is(geodesic(10, 90, -50, 90), 0);
});

test('distances of all pairs keep to the sphere, its chords, and the bounds of the ellipsoid', () => {
  let least = Infinity;
  for (const pair of pairs()) {
    const [lon1, lat1, lon2, lat2] = pair;
    const chord = Math.hypot(...vector(lon1, lat1).map((x, i) => x - vector(lon2, lat2)[i]!));
    const expected = 2 * EARTH_RADIUS * Math.asin(Math.min(1, chord / 2));
    const circle = greatCircle(...pair);
    // near the antipode the arc sine turns rounding into decimetres
    const tolerance = NOISE + expected * 1e-9 + (chord > 1.99 ? 1 : 0);
    assertWithin(circle, expected - tolerance, expected + tolerance, pair);
    const share = haversine(...pair);
    const doubt = share * 1e-12 + Number.MIN_VALUE;
    // beyond that the arc sine has lost what the haversine knew
    if (share <= 0.99) assertWithin(haversineOf(circle), share - doubt, share + doubt, pair);
    const distance = geodesic(...pair);
    assertWithin(distance, circle * LEAST_STRETCH - NOISE, FARTHEST, pair);
    if (circle >= 1) least = Math.min(least, distance / circle);
  }
  assert.ok(least < LEAST_STRETCH + 2e-5, `seed ${SEED}: least ${least}`);
  for (const farthest of [geodesic(0, 90, 33, -90), geodesic(0, 0, 180, 0)]) {
    assertWithin(farthest, FARTHEST - 0.001, FARTHEST, [0, 90, 0, -90]);
  }
  for (const distance of [EARTH_RADIUS * Math.PI, 2.1e7, 1e300, Infinity]) {
    assert.is(haversineOf(distance), 1);
  }
});

test('known great circles', () => {
  const half = EARTH_RADIUS * Math.PI;
  const cases: [Pair, distance: Metres, haversine: number][] = [
    [[0, 0, 90, 0], half / 2, 0.5],
    [[0, 0, 0, 90], half / 2, 0.5],
    [[-180, 0, 77, -90], half / 2, 0.5],
    [[135, 0, -135, 0], half / 2, 0.5],
    [[24.94, 60.17, 24.94, 60.17], 0, 0],
    [[0, 90, 0, -90], half, 1],
  ];
  for (const [pair, distance, share] of cases) {
    assertWithin(greatCircle(...pair), distance - NOISE, distance + NOISE, pair);
    assertWithin(haversine(...pair), share - 1e-15, share + 1e-15, pair);
  }
});

function vector(lon: Degrees, lat: Degrees): number[] {
  const [x, y] = [(lon * Math.PI) / 180, (lat * Math.PI) / 180];
  return [Math.cos(y) * Math.cos(x), Math.cos(y) * Math.sin(x), Math.sin(y)];
}

test.run();
