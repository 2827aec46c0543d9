import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Permutation, Random } from '../src/generate/random.js';
import { BITS_PER_SPAN, createScratch, type Scratch } from '../src/query/scratch.js';
import { selectRanks } from '../src/query/select.js';
import { assertSame } from './support/same.js';

const SEED = 71;

/** Selects from these ranks and asserts that the window is that of the sorted list. */
function assertSelect(
  scratch: Scratch,
  domain: number,
  ranks: readonly number[],
  from: number,
  to: number,
  label: string,
): void {
  scratch.matches.set(ranks);
  const out = new Uint32Array(to - from + 2).fill(99);
  selectRanks(scratch, ranks.length, domain, from, to, out);
  const expected = ranks.toSorted((a, b) => a - b).slice(from, to);
  assertSame(out, [...expected, 99, 99], label);
  assert.ok(
    scratch.bits.every((word) => word === 0),
    `${label}: bits are left`,
  );
  assert.ok(
    scratch.spans.every((span) => span === 0),
    `${label}: spans are left`,
  );
}

/** Distinct ranks below `domain` in random order. */
function draw(domain: number, count: number, seed: number): number[] {
  const permutation = new Permutation(seed, domain);
  return Array.from({ length: count }, (_, index) => permutation.at(index));
}

test('windows of few ranks and of many are those of the sorted list', () => {
  const random = new Random(SEED, 'point');
  // with few ranks of a large domain it sorts, with many it marks them in the bitmap
  for (const domain of [1, 31, 32, 33, 64, 1000, BITS_PER_SPAN, BITS_PER_SPAN + 1, 50_000]) {
    const scratch = createScratch(domain);
    for (let round = 0; round < 60; round++) {
      random.restart(round + 1);
      const count = 1 + random.int(random.pick([Math.min(domain, 63), domain, domain]));
      const from = random.pick([0, random.int(count), count - 1]);
      const to = random.pick([from + 1, Math.min(count, from + 1 + random.int(1000)), count]);
      const label = `seed ${SEED}, domain ${domain}, round ${round}: ${count}, ${from} to ${to}`;
      assertSelect(scratch, domain, draw(domain, count, round), from, to, label);
    }
  }
});

test('every domain size around a word of the bitmap, all ranks taken', () => {
  for (let domain = 64; domain <= 130; domain++) {
    const ranks = draw(domain, domain, domain);
    for (let from = 0; from < domain; from += 7) {
      const to = Math.min(domain, from + 13);
      assertSelect(createScratch(domain), domain, ranks, from, to, `domain ${domain}, ${from}`);
    }
  }
});

test('ranks that crowd at the ends of the domain, with empty spans between', () => {
  const domain = 20 * BITS_PER_SPAN + 5;
  const scratch = createScratch(domain);
  const low = Array.from({ length: 3_000 }, (_, i) => i);
  const high = Array.from({ length: 3_000 }, (_, i) => domain - 1 - i);
  for (const ranks of [low, high, [...high, ...low]]) {
    for (const from of [0, 1, 2_998, 2_999, 3_000, 5_999]) {
      if (from >= ranks.length) continue;
      const to = Math.min(ranks.length, from + 3);
      assertSelect(scratch, domain, ranks, from, to, `${ranks[0]} of ${ranks.length}, ${from}`);
    }
  }
});

test('words whose highest bit is set, alone and with others', () => {
  const scratch = createScratch(4096);
  const highest = Array.from({ length: 128 }, (_, word) => 32 * word + 31);
  assertSelect(scratch, 4096, highest, 0, 128, 'bit 31 of each word');
  const ends = highest.flatMap((rank) => [rank, rank - 31]);
  assertSelect(scratch, 4096, ends, 0, 256, 'bits 0 and 31');
});

test.run();
