import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { greatCircle, haversineOf } from '../../../bench/support/great-circle.js';
import { Random } from '../../../src/cli/generate/random.js';
import { Centre } from '../../../src/query/region/centre.js';
import { at } from '../../support/rectangles.js';
import { rounds } from '../../support/soak.js';

const SEED = 21;

test('near the centre a series stands for the sine, to the last digits', () => {
  const random = new Random(SEED, 'point');
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
    const label = `seed ${SEED}, ${i}: ${lon} ${lat} to ${pointLon} ${pointLat}`;
    assert.ok(Math.abs(got - expected) <= 1e-14 * expected, `${label}: ${got} and ${expected}`);
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
