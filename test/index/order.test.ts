import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Permutation, Random } from '../../src/cli/generate/random.js';
import { buildOrder, rankOf, rankRange } from '../../src/index/order.js';
import { assertSame } from '../support/compare.js';

const SEED = 41;
const MOST = Number.MAX_SAFE_INTEGER;

/** Row numbers sorted by key with a comparator; equal keys keep the order of `start`. */
function sorted(keyOf: ArrayLike<number>, start?: ArrayLike<number>): number[] {
  const rows = start === undefined ? [...Array(keyOf.length).keys()] : Array.from(start);
  return rows.sort((a, b) => keyOf[a]! - keyOf[b]!);
}

function assertOrder(keys: readonly number[], start: Uint32Array | undefined, label: string): void {
  const order = buildOrder(Float64Array.from(keys), start);
  const rows = sorted(keys, start);
  const ranks = Array<number>(rows.length);
  for (const [rank, row] of rows.entries()) ranks[row] = rank;
  assertSame(order.rows, rows, `${label}: rows`);
  assertSame(
    order.keys,
    rows.map((row) => keys[row]!),
    `${label}: keys`,
  );
  assertSame(order.ranks, ranks, `${label}: ranks`);
}

/** Ways to draw keys that need all digits, few of them, or only high ones; both signs. */
const DRAWS: Readonly<Record<string, (random: Random) => number>> = {
  'any whole number': (random) => Math.trunc(random.between(-1, 1) * MOST),
  'few keys': (random) => random.int(5) - 2,
  'around a power of 2^32': (random) => (random.int(5) - 2) * 2 ** 32 + random.int(3) - 1,
  'multiples of 2^32': (random) => (random.int(4000) - 2000) * 2 ** 32,
  'the digits of radix sort': (random) => (random.chance(0.5) ? -1 : 1) * 2 ** random.int(53),
  'the ends': (random) => random.pick([MOST, -MOST, MOST - 1, 1 - MOST, 2 ** 53, -(2 ** 53), 0]),
  'negative only': (random) => -1 - random.int(2 ** 31),
  'microseconds of years': (random) => 1.6e15 + Math.floor(random.next() * 1e14),
};

test('rows stand as a comparator sorts them, with any keys', () => {
  for (const [name, draw] of Object.entries(DRAWS)) {
    for (const count of [1, 2, 3, 10, 500, 5_000]) {
      const random = new Random(SEED, 'point');
      const keys = Array.from({ length: count }, () => draw(random));
      assertOrder(keys, undefined, `seed ${SEED}, ${name}, ${count}`);
    }
  }
});

test('equal keys keep the order they start in', () => {
  for (const [name, draw] of Object.entries(DRAWS)) {
    const random = new Random(SEED + 1, 'point');
    const permutation = new Permutation(SEED, 3_000);
    const start = Uint32Array.from({ length: 3_000 }, (_, index) => permutation.at(index));
    const keys = Array.from(start, () => draw(random));
    assertOrder(keys, start, `seed ${SEED + 1}, ${name}`);
  }
  assert.equal([...buildOrder(new Float64Array(4), Uint32Array.of(2, 0, 3, 1)).rows], [2, 0, 3, 1]);
});

test('zero is one key, whatever its sign', () => {
  assert.equal([...buildOrder(Float64Array.of(0, -0, 0, -1, -0)).rows], [3, 0, 1, 2, 4]);
});

test('nothing and one row are orders too', () => {
  const none = buildOrder(new Float64Array(0));
  assert.equal([none.keys.length, none.rows.length, none.ranks.length], [0, 0, 0]);
  assert.equal(rankRange(none, -Infinity, Infinity), { from: 0, to: 0 });
  assert.is(rankOf(none, 1), -1);
  assertOrder([-5], undefined, 'one row');
});

test('the keys that were given are left alone', () => {
  const keys = Float64Array.of(3, -1, 2);
  buildOrder(keys);
  assert.equal([...keys], [3, -1, 2]);
});

test('ranges and ranks are what a look at every key finds', () => {
  const random = new Random(SEED + 2, 'point');
  for (let round = 0; round < 300; round++) {
    random.restart(round + 1);
    const spread = random.pick([3, 50, 1e15]);
    const draw = (): number => Math.trunc(random.between(-1, 1) * spread);
    const keys = Array.from({ length: random.int(60) }, draw);
    const order = buildOrder(Float64Array.from(keys));
    const ends = [draw(), draw(), draw() + 0.5, -Infinity, Infinity, ...keys.slice(0, 3)];
    for (const least of ends) {
      const label = `seed ${SEED + 2}, round ${round}, from ${least}`;
      assert.is(rankOf(order, least), [...order.keys].indexOf(least + 0), `${label}: rank`);
      for (const most of ends) assertRange(order, least, most, `${label} to ${most}`);
    }
  }
});

function assertRange(
  order: ReturnType<typeof buildOrder>,
  least: number,
  most: number,
  label: string,
): void {
  const { from, to } = rankRange(order, least, most);
  const inside = [...order.keys].filter((key) => key >= least && key <= most);
  assert.equal([...order.keys.subarray(from, to)], inside, label);
  assert.ok(from >= 0 && from <= to && to <= order.keys.length, `${label}: ${from} to ${to}`);
}

test.run();
