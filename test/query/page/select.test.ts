import { permutation, Random } from '../../../src/cli/generate/random.js';
import { FEW } from '../../../src/query/common/plan.js';
import { BITS_PER_SPAN, createScratch, type Scratch } from '../../../src/query/common/scratch.js';
import { selectFew, selectRanked } from '../../../src/query/page/select.js';
import { assertSame } from '../../support/compare.js';
import { assert, rounds, test } from '../../support/uvu.js';

const SEED = 71;
const ROUNDS = rounds(2_000);

/** Selects from these ranks and asserts that the window is that of the sorted list. */
function assertSelect(
  scratch: Scratch,
  domain: number,
  ranks: readonly number[],
  from: number,
  to: number,
  label: string,
): void {
  // rows whose ranks are their numbers, in whatever order they come
  const rows = Uint32Array.from({ length: domain }, (_, rank) => rank);
  const order = { keys: new Float64Array(0), rows, ranks: new Int32Array(rows) };
  const out = new Uint32Array(to - from + 2).fill(99);
  selectRanked(scratch, Int32Array.from(ranks), order, from, to, out);
  const expected = ranks.toSorted((a, b) => a - b).slice(from, to);
  assertSame(out, [...expected, 99, 99], label);
  const { bits, spans } = scratch.selection;
  assert.is(bits.findIndex(Boolean), -1, `${label}: bits are left`);
  assert.is(spans.findIndex(Boolean), -1, `${label}: spans are left`);
}

/** Distinct ranks below `domain` in random order. */
function draw(domain: number, count: number, seed: number): number[] {
  const at = permutation(seed, domain);
  return Array.from({ length: count }, (_, index) => at(index));
}

test('windows of few ranks and of many are those of the sorted list', () => {
  const random = new Random(SEED, 'point');
  // with few ranks of a large domain it sorts, with many it marks them in the bitmap
  for (const domain of [1, 31, 32, 33, 64, 1000, BITS_PER_SPAN, BITS_PER_SPAN + 1, 50_000]) {
    const scratch = createScratch(domain);
    for (let round = 0; round < rounds(60); round++) {
      random.restart(round + 1);
      const count = 1 + random.int(random.pick([Math.min(domain, 63), domain, domain]));
      const from = random.pick([0, random.int(count), count - 1]);
      const to = random.pick([from + 1, Math.min(count, from + 1 + random.int(1000)), count]);
      const label = `seed ${SEED}, domain ${domain}, round ${round}: ${count}, ${from} to ${to}`;
      assertSelect(scratch, domain, draw(domain, count, round), from, to, label);
    }
  }
  // every size around a word of the bitmap, all ranks taken
  for (let domain = 64; domain <= 130; domain++) {
    const ranks = draw(domain, domain, domain);
    for (let from = 0; from < domain; from += 7) {
      const to = Math.min(domain, from + 13);
      assertSelect(createScratch(domain), domain, ranks, from, to, `domain ${domain}, ${from}`);
    }
  }
});

test('ranks that crowd at the ends of the domain, and highest bits of words', () => {
  const domain = 20 * BITS_PER_SPAN + 5;
  const scratch = createScratch(domain);
  const low = Array.from({ length: 3_000 }, (_, i) => i);
  const high = Array.from({ length: 3_000 }, (_, i) => domain - 1 - i);
  const highest = Array.from({ length: 128 }, (_, word) => 32 * word + 31);
  const ends = highest.flatMap((rank) => [rank, rank - 31]);
  for (const ranks of [low, high, [...high, ...low], highest, ends]) {
    for (const from of [0, 1, 2_998, 2_999, 3_000, 5_999]) {
      if (from >= ranks.length) continue;
      const to = Math.min(ranks.length, from + (ranks.length < 1_000 ? 256 : 3));
      assertSelect(scratch, domain, ranks, from, to, `${ranks[0]} of ${ranks.length}, ${from}`);
    }
  }
});

/** Selects by key and id, and asserts the window of the sorted list; says whether it was done. */
function assertFew(keys: readonly number[], from: number, to: number, label: string): boolean {
  const rows = draw(10_000, keys.length, 7);
  // ids run against the rows
  const idRanks = Int32Array.from({ length: 10_000 }, (_, row) => 9_999 - row);
  const list = Int32Array.from(rows);
  const { selection } = createScratch(1);
  selection.keys.set(keys);
  const out = new Uint32Array(to - from + 2).fill(99);
  const isDone = selectFew(selection, list, Math.max(...keys), idRanks, from, to, out);
  const sorted = rows
    .map((row, i) => ({ row, key: keys[i]! }))
    .sort((a, b) => a.key - b.key || b.row - a.row)
    .map(({ row }) => row);
  if (isDone) assertSame(out, [...sorted.slice(from, to), 99, 99], label);
  else assert.equal([...list], rows, `${label}: changed`);
  return isDone;
}

test('windows of a few, by key and then by id', () => {
  const random = new Random(SEED, 'point');
  let done = 0;
  for (let round = 0; round < ROUNDS; round++) {
    random.restart(round + 1);
    const count = 1 + random.int(random.pick([8, 100, FEW]));
    const scale = random.pick([1e-18, 1, 1e6]);
    // a few values that many share, or all different
    const steps = random.pick([3, 50, 1e9]);
    const keys = Array.from({ length: count }, () => random.int(steps) * scale);
    const from = random.pick([0, random.int(count), count - 1]);
    const to = random.pick([from + 1, Math.min(count, from + 1 + random.int(100)), count]);
    const label = `seed ${SEED}, round ${round}: ${count} keys, ${from} to ${to}`;
    if (assertFew(keys, from, to, label)) done++;
  }
  assert.ok(done > ROUNDS / 2 && done < ROUNDS, `${done} were done`);
});

test('a few keys that are all the same, or zero, or crowd far from a single one', () => {
  assert.ok(assertFew(Array(60).fill(0), 3, 20, 'nought'));
  assert.ok(assertFew(Array(60).fill(5), 3, 20, 'five'));
  assert.ok(assertFew([0.25], 0, 1, 'one'));
  assert.ok(assertFew([1e-318, 3e-318, 0, 2e-318], 1, 3, 'smaller than a scale can tell'));
  const crowd = Array.from({ length: 200 }, (_, i) => i / 1e9);
  assert.not(assertFew([...crowd, 1], 3, 20, 'a crowd'));
});

test.run();
