import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../src/cli/generate/random.js';
import {
  type BlockGroup,
  type Blocks,
  BoxIndex,
  type BoxNode,
  cutBlocks,
} from '../../src/index/blocks.js';
import { treeCoords } from '../support/kd-order.js';

const SEED = 52;

/** Asserts all a node promises, down to its groups; returns these. */
function assertNode(node: BoxNode, index: BoxIndex, blocks: Blocks, label: string): BlockGroup[] {
  assert.is(node.leaf, node.height === 1, `${label}: leaf`);
  assert.ok(node.children.length <= 16, `${label}: ${node.children.length} children`);
  let block = node.firstBlock;
  const groups: BlockGroup[] = [];
  for (const child of node.children) {
    assert.is(child.firstBlock, block, `${label}: children in a row`);
    assertGroup(child, index, blocks, label);
    block = child.lastBlock;
    if (node.leaf) groups.push(child);
    else groups.push(...assertNode(child as BoxNode, index, blocks, label));
    if (!node.leaf) assert.is((child as BoxNode).height, node.height - 1, `${label}: height`);
  }
  assert.is(block, node.lastBlock, `${label}: no block is left out`);
  return groups;
}

function assertGroup(group: BlockGroup, index: BoxIndex, blocks: Blocks, label: string): void {
  const { firstBlock, lastBlock } = group;
  assert.is(group.from, blocks.starts[firstBlock], `${label}: from`);
  assert.is(group.to, blocks.starts[lastBlock], `${label}: to`);
  const edges = (edge: number): number[] =>
    [...blocks.boxes.subarray(4 * firstBlock, 4 * lastBlock)].filter((_, i) => i % 4 === edge);
  const tight = [
    Math.min(...edges(0)),
    Math.min(...edges(1)),
    Math.max(...edges(2)),
    Math.max(...edges(3)),
  ];
  assert.equal([group.minX, group.minY, group.maxX, group.maxY], tight, `${label}: box`);
  const box = [...index.boxes.subarray(group.box, group.box + 4)];
  assert.equal(box, tight, `${label}: the box in numbers`);
}

// blocks of two rows make tall trees of few rows
const TREES = [0, 1, 2, 5, 100, 200, 1_000, 4_096, 9_001, 70_000].map((count) => {
  const nodeSize = count > 10_000 ? 16 : 2;
  const blocks = cutBlocks(treeCoords(count, nodeSize, SEED + count), nodeSize);
  return { count, blocks, index: new BoxIndex(blocks) };
});

test('nodes are stretches of blocks with tight boxes, and leaves stand at one height', () => {
  for (const { count, blocks, index } of TREES) {
    const label = `seed ${SEED}, ${count} rows`;
    assert.is(index.root.from, 0, label);
    assert.is(index.root.to, count, label);
    const groups = assertNode(index.root, index, blocks, label);
    const all = index.all().toSorted((a, b) => a.from - b.from);
    assert.equal(all, groups, `${label}: all()`);
  }
  assert.ok(TREES.some(({ index }) => index.root.height === 2));
});

test('a search finds the groups whose boxes meet the area', () => {
  const random = new Random(SEED, 'point');
  for (const { count, index } of TREES) {
    for (let round = 0; round < 50; round++) {
      const [minX, minY] = [random.between(-200, 180), random.between(-100, 90)];
      const [maxX, maxY] = [minX + random.between(0, 100), minY + random.between(0, 50)];
      const found = new Set(index.search({ minX, minY, maxX, maxY }));
      for (const group of index.all()) {
        const isApart =
          group.minX > maxX || group.maxX < minX || group.minY > maxY || group.maxY < minY;
        const label = `seed ${SEED}, ${count} rows, round ${round}, group from ${group.from}`;
        assert.is(found.has(group), !isApart, label);
      }
    }
  }
});

test('a packed tree takes inserts and removals like any other', () => {
  const { index } = TREES.at(-1)!;
  const groups = index.all().length;
  const own = { ...index.all()[0]!, minX: 170, maxX: 171, minY: -1, maxY: 1, from: 70_000 };
  const area = { minX: 170.5, maxX: 170.6, minY: 0, maxY: 0 };
  index.insert(own);
  assert.ok(index.search(area).includes(own));
  assert.is(index.all().length, groups + 1);
  index.remove(own);
  assert.not.ok(index.search(area).includes(own));
  assert.is(index.all().length, groups);
});

test.run();
