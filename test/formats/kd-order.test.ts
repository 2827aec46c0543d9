import KDBush from 'kdbush';
import { Random } from '../../src/cli/generate/random.js';
import { isInKdOrder, KD_NODE_SIZE } from '../../src/formats/kd-order.js';
import { coordsOf, isKdSorted, kdSorted, type Place } from '../support/kd-order.js';
import { assert, test } from '../support/uvu.js';

const SEED = 17;

/** Small sizes, and those around which a range begins to be split, once and once more. */
const SIZES = [...Array(201).keys(), 287, 288, 289, 575, 576, 577, 1023, 1024, 5000];

/** Places of which few are alike, many, or all: that many values an axis has. */
function places(random: Random, count: number, values: number): Place[] {
  const value = (limit: number): number => (random.int(values) / values - 0.5) * 2 * limit;
  return Array.from({ length: count }, () => ({ lon: value(180), lat: value(90) }));
}

function* cases(): Generator<[places: Place[], random: Random, label: string]> {
  const random = new Random(SEED, 'point');
  let stream = 0;
  for (const count of SIZES) {
    for (const values of [1, 2, 5, 50, 1e9]) {
      random.restart(++stream);
      yield [places(random, count, values), random, `seed ${SEED}, ${count} of ${values} values`];
    }
  }
}

test('what KDBush sorted is in order', () => {
  for (const [unsorted, , label] of cases()) {
    const tree = new KDBush(unsorted.length, KD_NODE_SIZE);
    for (const { lon, lat } of unsorted) tree.add(lon, lat);
    tree.finish();
    assert.ok(isInKdOrder(tree.coords as Float64Array), label);
  }
});

test('what anyone else put in this order is, too', () => {
  for (const [unsorted, , label] of cases()) {
    assert.ok(isInKdOrder(coordsOf(kdSorted(unsorted))), label);
  }
});

test('points as they came are in order only when a naive look says so', () => {
  const found = { ordered: 0, unordered: 0 };
  for (const [unsorted, , label] of cases()) {
    const expected = isKdSorted(unsorted);
    assert.is(isInKdOrder(coordsOf(unsorted)), expected, label);
    found[expected ? 'ordered' : 'unordered']++;
  }
  assert.ok(found.ordered > 200 && found.unordered > 500, JSON.stringify(found));
});

test('one point moved, or two exchanged, is noticed exactly when it matters', () => {
  const found = { ordered: 0, unordered: 0 };
  for (const [unsorted, random, label] of cases()) {
    if (unsorted.length === 0) continue;
    const sorted = kdSorted(unsorted);
    for (let round = 0; round < 20; round++) {
      const changed = [...sorted];
      const [a, b] = [random.int(sorted.length), random.int(sorted.length)];
      if (round % 2 === 0) {
        [changed[a], changed[b]] = [changed[b]!, changed[a]!];
      } else {
        const { lon, lat } = changed[a]!;
        const step = random.pick([-1e-9, 1e-9, -1, 1, -100, 100]);
        changed[a] = random.chance(0.5) ? { lon: lon + step, lat } : { lon, lat: lat + step };
      }
      const expected = isKdSorted(changed);
      assert.is(isInKdOrder(coordsOf(changed)), expected, `${label}, round ${round}: ${a}, ${b}`);
      found[expected ? 'ordered' : 'unordered']++;
    }
  }
  assert.ok(found.ordered > 5_000 && found.unordered > 5_000, JSON.stringify(found));
});

test('zeros of either sign are one value', () => {
  const zeros = Array.from({ length: 100 }, (_, i) => ({
    lon: i % 3 ? 0 : -0,
    lat: i % 2 ? 0 : -0,
  }));
  assert.ok(isInKdOrder(coordsOf(zeros)));
});

test.run();
