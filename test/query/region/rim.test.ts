import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { geodesic } from '../../../src/model/geo.js';
import { Rim } from '../../../src/query/region/rim.js';

const SEED = 61;
const ROWS = 64;

/** Points of a square around a place. */
function square(random: Random, lon: number, lat: number, size: number): Float64Array {
  const coords = new Float64Array(2 * ROWS);
  for (let row = 0; row < ROWS; row++) {
    coords[2 * row] = Math.max(-180, Math.min(180, lon + random.between(-size, size)));
    coords[2 * row + 1] = Math.max(-90, Math.min(90, lat + random.between(-size, size)));
  }
  return coords;
}

function collectEach(rim: Rim, coords: Float64Array): number[] {
  const bounds = new Int32Array(2 * ROWS);
  const end = rim.collectEach((all, row) => rim.holds(all, row), coords, 0, ROWS, bounds, 0);
  return [...bounds.subarray(0, end)].filter((_, i) => i % 2 === 0);
}

test('neighbours of a measured point are told by it, and told rightly', () => {
  const random = new Random(SEED, 'point');
  let measured = 0;
  for (let i = 0; i < 1_500; i++) {
    random.restart(i + 1);
    const lon = random.pick([random.between(-180, 180), 180, -180]);
    const lat = random.pick([random.between(-90, 90), 89.999, -90, 0]);
    const [x, y] = random.pick([
      [lon > 0 ? lon - 180 : lon + 180, -lat],
      [random.between(-180, 180), random.between(-90, 90)],
      [random.pick([-180, 180]), lat],
    ] as const);
    const size = 10 ** random.between(-6, 0.5);
    const coords = square(random, x, y, size);
    const some = random.int(ROWS);
    // the rim goes through one of them, or not far from all
    const near = geodesic(lon, lat, coords[2 * some]!, coords[2 * some + 1]!);
    const radius = Math.max(0, near + random.pick([0, 0, size * 1e5 * random.between(-2, 2)]));
    const rim = new Rim({ lon, lat, radius });
    const expected = [...Array(ROWS).keys()].filter(
      (row) => geodesic(lon, lat, coords[2 * row]!, coords[2 * row + 1]!) <= radius,
    );
    assert.equal(collectEach(rim, coords), expected, `seed ${SEED}, ${i}: ${lon} ${lat} ${radius}`);
    measured += rim.measured;
  }
  assert.ok(measured < 1_500 * ROWS * 0.8, String(measured));
});

test('where the rim is far, one point of a block is measured', () => {
  const coords = square(new Random(SEED, 'point'), 24.94, 60.17, 0.001);
  const rim = new Rim({ lon: -155.06, lat: -60.17, radius: 19_990_000 });
  collectEach(rim, coords);
  assert.is(rim.measured, 1);
});

test('a place is measured once, and so are a pole and a parallel seen from it', () => {
  const times = (
    circle: ConstructorParameters<typeof Rim>[0],
    place: (row: number) => number[],
  ) => {
    const rim = new Rim(circle);
    const coords = Float64Array.from(Array.from({ length: ROWS }, (_, row) => place(row)).flat());
    for (let row = 0; row < ROWS; row++) rim.holds(coords, row);
    return rim.measured;
  };
  assert.is(
    times({ lon: 10, lat: 20, radius: 1e6 }, () => [12, 30]),
    1,
  );
  assert.is(
    times({ lon: 10, lat: 20, radius: 1e6 }, (row) => [row, 90]),
    1,
  );
  assert.is(
    times({ lon: 10, lat: -90, radius: 1e6 }, (row) => [row, -30]),
    1,
  );
  assert.is(
    times({ lon: 10, lat: 20, radius: 1e6 }, (row) => [row, 30]),
    ROWS,
  );
});

test.run();
