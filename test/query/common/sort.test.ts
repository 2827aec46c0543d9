import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/generate/random.js';
import { sortNumbers } from '../../../src/query/common/sort.js';
import { createMeter, isWork, refill } from '../../../src/query/common/work.js';

const PIECE = 50_000;
const random = new Random(5, 'point');

/** Sorts in pieces; returns how many these were, and how many comparisons they took. */
function sort(numbers: Int32Array, keys: readonly number[]): [pieces: number, comparisons: number] {
  const meter = createMeter(PIECE);
  let comparisons = 0;
  const compare = (a: number, b: number): number => {
    comparisons++;
    return keys[a]! - keys[b]! || a - b;
  };
  const sorting = sortNumbers(numbers, compare, meter);
  if (!isWork(sorting)) return [1, comparisons];
  let pieces = 1;
  for (; !sorting.next().done; pieces++) refill(meter);
  return [pieces, comparisons];
}

test('numbers of any order and number are sorted, the many in pieces', () => {
  for (const length of [0, 1, 2, 16, 256, 257, 300, 1_000, 4_096, 10_001]) {
    for (const different of [length, 5]) {
      const keys = Array.from({ length }, () => random.int(different + 1));
      const numbers = Int32Array.from({ length }, (_, i) => i);
      const expected = [...numbers].sort((a, b) => keys[a]! - keys[b]! || a - b);
      const [pieces] = sort(numbers, keys);
      assert.equal([...numbers], expected, `${length} numbers`);
      if (length <= 256) assert.is(pieces, 1);
      if (length >= 4_096) assert.ok(pieces > 1, `${length} numbers`);
    }
  }
});

test('what is sorted already takes hardly more comparisons than numbers', () => {
  const length = 10_000;
  const numbers = Int32Array.from({ length }, (_, i) => i);
  const keys = Array.from(numbers);
  const [, comparisons] = sort(numbers, keys);
  assert.ok(comparisons < 1.2 * length, `${comparisons}`);
});

test.run();
