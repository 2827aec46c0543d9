import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BLOCK_ROWS, cutBlocks, putUnion } from '../../src/index/blocks.js';
import { treeCoords } from '../support/kd-order.js';

const SEED = 51;
const COUNTS = [...Array(201).keys(), 255, 289, 577, 1000, 2047, 4096, 9001, 70_000];

test('blocks follow each other, are a power of two, and all about as large', () => {
  for (const count of COUNTS) {
    for (const blockRows of count <= 1000 ? [2, 3, 16, 64] : [16, 64]) {
      const label = `seed ${SEED}, ${count} rows, blocks of ${blockRows}`;
      const { starts } = cutBlocks(treeCoords(count, 2, SEED + count), blockRows);
      const blocks = starts.length - 1;
      assert.is(starts[0], 0, label);
      assert.is(starts[blocks], count, label);
      if (count === 0) assert.is(blocks, 0, label);
      else assert.ok(Number.isInteger(Math.log2(blocks)), `${label}: ${blocks}`);
      for (let block = 0; block < blocks; block++) {
        const rows = starts[block + 1]! - starts[block]!;
        // a branch one larger than the smallest, and the median of an ancestor
        assert.ok(rows >= 1 && rows <= blockRows + 3, `${label}: block ${block} has ${rows}`);
        assert.ok(blocks === 1 || rows >= (blockRows - 1) / 2, `${label}: block ${block}: ${rows}`);
      }
    }
  }
});

test('boxes are tight around the points of their blocks', () => {
  for (const count of COUNTS) {
    const coords = treeCoords(count, 16, SEED + count);
    const { starts, boxes } = cutBlocks(coords);
    assert.is(boxes.length, 4 * (starts.length - 1));
    for (let block = 0; block < starts.length - 1; block++) {
      const points = coords.subarray(2 * starts[block]!, 2 * starts[block + 1]!);
      const lons = points.filter((_, i) => i % 2 === 0);
      const lats = points.filter((_, i) => i % 2 === 1);
      const tight = [Math.min(...lons), Math.min(...lats), Math.max(...lons), Math.max(...lats)];
      const label = `seed ${SEED}, ${count} rows, block ${block}`;
      assert.equal([...boxes.subarray(4 * block, 4 * block + 4)], tight, label);
    }
  }
});

test('blocks are neighbours on the map: together they cover not much more than it has', () => {
  const { starts, boxes } = cutBlocks(treeCoords(70_000, 16, 2));
  const blocks = starts.length - 1;
  let area = 0;
  for (let at = 0; at < boxes.length; at += 4) {
    area += (boxes[at + 2]! - boxes[at]!) * (boxes[at + 3]! - boxes[at + 1]!);
  }
  // the median of an ancestor may lie far from the block that counts it
  assert.ok(area < 1.5 * 360 * 180, `${blocks} blocks of ${BLOCK_ROWS} rows cover ${area}`);
});

test('the union of boxes holds them all', () => {
  const boxes = Float64Array.of(0, 0, 1, 1, -5, 2, -4, 3, 7, -8, 9, 8);
  const target = new Float64Array(6).fill(99);
  putUnion(target, 1, boxes, 0, 2);
  assert.equal([...target], [99, -5, 0, 1, 3, 99]);
  putUnion(target, 1, boxes, 1, 3);
  assert.equal([...target], [99, -5, -8, 9, 8, 99]);
});

test.run();
