import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/generate/random.js';
import { sortNumbers } from '../../../src/query/common/sort.js';
import { Meter } from '../../support/engine.js';

const random = new Random(5, 'point');

/** Sorts; returns how many comparisons that took, and what it cost. */
function sort(numbers: Int32Array, keys: readonly number[]): [comparisons: number, cost: number] {
  let comparisons = 0;
  const compare = (a: number, b: number): number => {
    comparisons++;
    return keys[a]! - keys[b]! || a - b;
  };
  const meter = new Meter(50_000);
  sortNumbers(numbers, compare, meter);
  return [comparisons, meter.cost];
}

test('numbers of any order and number are sorted, and the many charged for', () => {
  for (const length of [0, 1, 2, 16, 256, 257, 300, 1_000, 4_096, 10_001]) {
    for (const different of [length, 5]) {
      const keys = Array.from({ length }, () => random.int(different + 1));
      const numbers = Int32Array.from({ length }, (_, i) => i);
      const expected = [...numbers].sort((a, b) => keys[a]! - keys[b]! || a - b);
      const [, cost] = sort(numbers, keys);
      assert.equal([...numbers], expected, `${length} numbers`);
      assert.ok(length <= 256 || cost > 100 * length, `${length} numbers: ${cost}`);
    }
  }
});

test('what is sorted already takes hardly more comparisons than numbers', () => {
  const length = 10_000;
  const numbers = Int32Array.from({ length }, (_, i) => i);
  const keys = Array.from(numbers);
  const [comparisons] = sort(numbers, keys);
  assert.ok(comparisons < 1.2 * length, `${comparisons}`);
});

test.run();
