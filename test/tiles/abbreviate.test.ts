import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { abbreviate } from '../../src/tiles/tile.js';

test('counts are written in four characters at most', () => {
  const texts = new Map([
    [2, '2'],
    [999, '999'],
    [1_000, '1k'],
    [1_249, '1.2k'],
    [1_951, '2k'],
    [9_949, '9.9k'],
    [9_950, '10k'],
    [99_499, '99k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [1_150_001, '1.2M'],
    [12_345_678, '12M'],
    [4_200_000_000, '4.2G'],
  ]);
  for (const [count, text] of texts) assert.is(abbreviate(count), text);
});

test.run();
