import fc from 'fast-check';
import KDBush from 'kdbush';
import { Random } from '../../src/cli/generate/random.js';
import { TextNumbers } from '../../src/formats/attributes.js';
import { IdSet } from '../../src/formats/id-set.js';
import { isInKdOrder, KD_NODE_SIZE } from '../../src/formats/kd-order.js';
import { coordsOf, isKdSorted, kdSorted, type Place } from '../support/kd-order.js';
import { forAll } from '../support/properties.js';
import { assert, IS_SOAK, rounds, test } from '../support/uvu.js';

function compare(ids: Iterable<number>): void {
  const set = new IdSet();
  const oracle = new Set<number>();
  for (const id of ids) {
    if (set.add(id) === oracle.has(id)) assert.unreachable(`add ${id}`);
    oracle.add(id);
  }
  assert.is(set.size, oracle.size);
  for (const id of oracle) if (set.add(id)) assert.unreachable(`lost ${id}`);
}

test('an IdSet answers as a Set does', () => {
  const id = fc.oneof(
    fc.integer({ min: 1, max: 50 }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.integer({ min: 0, max: 50 }).map((less) => Number.MAX_SAFE_INTEGER - less),
    fc.integer({ min: 1, max: 50 }).map((high) => high * 2 ** 32),
    // either side of the ids that have a bit each
    fc.integer({ min: -50, max: 50 }).map((more) => 2 ** 26 + more),
  );
  forAll(500, [fc.array(id, { maxLength: 400 })], compare);
});

test('ids that are chosen to collide do not, since each set has a secret of its own', () => {
  const spread = Array.from({ length: 40_000 }, (_, index) => (index + 1) * 7 * 2 ** 26);
  const chosen = collisions(spread.length);
  compare(chosen);
  const best = (ids: readonly number[]): number =>
    Math.min(...Array.from({ length: 3 }, () => cost(ids)));
  const [ordinary, hostile] = [best(spread), best(chosen)];
  // it would be 200 times as much if all shared one slot
  assert.ok(hostile < 20 * ordinary, `${hostile} µs beside ${ordinary}`);
});

function cost(ids: readonly number[]): number {
  const before = process.cpuUsage();
  const set = new IdSet();
  for (const id of ids) set.add(id);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Ids with one hash, were there no secret: the low half cancels what the high half adds. */
function collisions(count: number): number[] {
  return Array.from({ length: count }, (_, high) => {
    const low = (Math.imul(high, 0x9e3779b1) ^ 1) >>> 0;
    return high * 2 ** 32 + low;
  });
}

test('an IdSet grows, whatever pattern the ids have', () => {
  const patterns: ((index: number) => number)[] = [
    (index) => index + 1,
    (index) => Number.MAX_SAFE_INTEGER - index,
    (index) => (index + 1) * 1024,
    (index) => (index + 1) * 2 ** 32,
    (index) => (index + 1) * 65_537 * 4096,
    (index) => ((index * 48_271) % 100_000) + 1,
    (index) => 2 ** 26 - 30_000 + ((index * 48_271) % 100_000),
  ];
  for (const pattern of patterns) {
    compare(Array.from({ length: 60_000 }, (_, index) => pattern(index)));
  }
  // a million in a row take no long chains
  const set = new IdSet();
  for (let id = 1; id <= 1_000_000; id++) if (!set.add(id)) assert.unreachable(`lost ${id}`);
  assert.is(set.size, 1_000_000);
});

test('equal texts have one number, in the order in which they are met, and different ones never share any', () => {
  const numbers = new TextNumbers();
  const met: string[] = [];
  for (let i = 0; i < 50_000; i++) {
    // texts of many lengths, at many offsets, some frequent, more than the cache holds
    const text = i % 97 === 0 ? '' : 'tag '.repeat(i % 7) + String((i * i) % 5_000);
    const source = Buffer.from(`${'#'.repeat(i % 5)}${text}#`);
    const number = numbers.add(source, i % 5, source.length - 1);
    if (number === met.length) met.push(text);
    assert.is(met[number], text);
  }
  assert.is(new Set(met).size, met.length);
  assert.ok(met.length > 2_000);
  assert.equal(numbers.keys(), met);
  assert.is(numbers.addText(met[1_000]!), 1_000);
});

const SEED = 17;
const ROUNDS = rounds(20);

/** Small sizes, and those around which a range begins to be split, once and once more. */
const SIZES = [
  ...Array(IS_SOAK ? 201 : 75).keys(),
  ...[143, 144, 145, 287, 288, 289, 575, 576, 577, 1023, 1024, 5000],
];

/** Places with `values` different values along each axis: the fewer, the more are alike. */
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

test('points are found to be in tree order exactly where a naive check finds it', () => {
  const found = { came: [0, 0], changed: [0, 0] };
  const compare = (points: readonly Place[], counts: number[], label: string): void => {
    const expected = isKdSorted(points);
    assert.is(isInKdOrder(coordsOf(points)), expected, label);
    counts[+expected]!++;
  };
  for (const [unsorted, random, label] of cases()) {
    const tree = new KDBush(unsorted.length, KD_NODE_SIZE);
    for (const { lon, lat } of unsorted) tree.add(lon, lat);
    assert.ok(isInKdOrder(tree.finish().coords as Float64Array), `${label}, as KDBush sorted them`);
    const sorted = kdSorted(unsorted);
    assert.ok(isInKdOrder(coordsOf(sorted)), `${label}, as anyone else sorted them`);
    compare(unsorted, found.came, `${label}, as they came`);
    // one point moved, or two exchanged
    for (let round = 0; round < (unsorted.length === 0 ? 0 : ROUNDS); round++) {
      const changed = [...sorted];
      const [a, b] = [random.int(sorted.length), random.int(sorted.length)];
      if (round % 2 === 0) {
        [changed[a], changed[b]] = [changed[b]!, changed[a]!];
      } else {
        const { lon, lat } = changed[a]!;
        const step = random.pick([-1e-9, 1e-9, -1, 1, -100, 100]);
        changed[a] = random.chance(0.5) ? { lon: lon + step, lat } : { lon, lat: lat + step };
      }
      compare(changed, found.changed, `${label}, round ${round}: ${a}, ${b}`);
    }
  }
  const [[apart, ordered], [broken, kept]] = [found.came, found.changed];
  const least = SIZES.length;
  assert.ok(ordered! > least && apart! > (IS_SOAK ? 500 : 2 * least), String(found.came));
  assert.ok(kept! > least * ROUNDS && broken! > least * ROUNDS, String(found.changed));
});

test('zeros of either sign are one value', () => {
  const zeros = Array.from({ length: 100 }, (_, i) => {
    return { lon: i % 3 ? 0 : -0, lat: i % 2 ? 0 : -0 };
  });
  assert.ok(isInKdOrder(coordsOf(zeros)));
});

test.run();
