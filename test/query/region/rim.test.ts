import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { geodesic } from '../../../src/model/geo.js';
import type { Circle } from '../../../src/model/query.js';
import { Rim } from '../../../src/query/region/rim.js';
import { at } from '../../support/rectangles.js';
import { IS_SOAK } from '../../support/soak.js';

const SEED = 61;
const PAIRS = IS_SOAK ? 10_000_000 : 100_000;
const ROWS = 64;

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
