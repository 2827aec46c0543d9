import fc from 'fast-check';
import { IdSet } from '../../src/formats/id-set.js';
import { assert, test } from '../support/uvu.js';

/** Adds to both sets and compares what they say. */
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

test('it says what a Set says', () => {
  const id = fc.oneof(
    fc.integer({ min: 1, max: 50 }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.integer({ min: 0, max: 50 }).map((less) => Number.MAX_SAFE_INTEGER - less),
    fc.integer({ min: 1, max: 50 }).map((high) => high * 2 ** 32),
  );
  fc.assert(fc.property(fc.array(id, { maxLength: 400 }), compare), { numRuns: 300 });
});

test('ids that are made to share a slot do not, as no two sets are alike', () => {
  const spread = Array.from({ length: 40_000 }, (_, index) => index * 7 + 1);
  const chosen = collisions(spread.length);
  compare(chosen);
  const best = (ids: readonly number[]): number =>
    Math.min(...Array.from({ length: 3 }, () => cost(ids)));
  const [ordinary, hostile] = [best(spread), best(chosen)];
  // 200 times as much where all share one slot
  assert.ok(hostile < 20 * ordinary, `${hostile} µs beside ${ordinary}`);
});

/** Microseconds of processor time that a set of these takes. */
function cost(ids: readonly number[]): number {
  const before = process.cpuUsage();
  const set = new IdSet();
  for (const id of ids) set.add(id);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * Ids that a hash without a secret maps to one number: the low half makes up for what the high half
 * adds.
 */
function collisions(count: number): number[] {
  return Array.from({ length: count }, (_, high) => {
    const low = (Math.imul(high, 0x9e3779b1) ^ 1) >>> 0;
    return high * 2 ** 32 + low;
  });
}

test('it grows, whatever pattern the ids have', () => {
  const patterns: ((index: number) => number)[] = [
    (index) => index + 1,
    (index) => Number.MAX_SAFE_INTEGER - index,
    (index) => (index + 1) * 1024,
    (index) => (index + 1) * 2 ** 32,
    (index) => (index + 1) * 65_537 * 4096,
    (index) => ((index * 48_271) % 100_000) + 1,
  ];
  for (const pattern of patterns) {
    compare(Array.from({ length: 150_000 }, (_, index) => pattern(index)));
  }
});

test('a million ids in a row take no long chains', () => {
  const set = new IdSet();
  for (let id = 1; id <= 1_000_000; id++) assert.ok(set.add(id));
  for (let id = 1; id <= 1_000_000; id++) if (set.add(id)) assert.unreachable(`added ${id} twice`);
  assert.is(set.size, 1_000_000);
});

test.run();
