import { permutation, Random } from '../../src/cli/generate/random.js';
import {
  type BlockGroup,
  type Blocks,
  BoxIndex,
  type BoxNode,
  cutBlocks,
} from '../../src/index/blocks.js';
import { buildOrder, rankOf, rankRange } from '../../src/index/order.js';
import { assertSame } from '../support/compare.js';
import { treeCoords } from '../support/kd-order.js';
import { assert, test } from '../support/uvu.js';

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
  const ordered = rows.map((row) => keys[row]!);
  assertSame(order.keys, ordered, `${label}: keys`);
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
    const at = permutation(SEED, 3_000);
    const start = Uint32Array.from({ length: 3_000 }, (_, index) => at(index));
    const keys = Array.from(start, () => draw(random));
    assertOrder(keys, start, `seed ${SEED + 1}, ${name}`);
  }
  assert.equal([...buildOrder(new Float64Array(4), Uint32Array.of(2, 0, 3, 1)).rows], [2, 0, 3, 1]);
});

test('zero is one key, nothing and one row are orders, and given keys are left alone', () => {
  assert.equal([...buildOrder(Float64Array.of(0, -0, 0, -1, -0)).rows], [3, 0, 1, 2, 4]);
  const none = buildOrder(new Float64Array(0));
  assert.equal([none.keys.length, none.rows.length, none.ranks.length], [0, 0, 0]);
  assert.equal(rankRange(none, -Infinity, Infinity), { from: 0, to: 0 });
  assert.is(rankOf(none, 1), -1);
  assertOrder([-5], undefined, 'one row');
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
      for (const most of ends) {
        const { from, to } = rankRange(order, least, most);
        const inside = [...order.keys].filter((key) => key >= least && key <= most);
        assert.equal([...order.keys.subarray(from, to)], inside, `${label} to ${most}`);
        assert.ok(from >= 0 && from <= to && to <= keys.length, `${label}: ${from} to ${to}`);
      }
    }
  }
});

const BOX_SEED = 52;

/** Asserts what a node promises, down to its groups; returns these. */
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
  const boxes = [...blocks.boxes.subarray(4 * firstBlock, 4 * lastBlock)];
  const tight = [Math.min, Math.min, Math.max, Math.max].map((most, edge) =>
    most(...boxes.filter((_, i) => i % 4 === edge)),
  );
  assert.equal([group.minX, group.minY, group.maxX, group.maxY], tight, `${label}: box`);
  const box = [...index.boxes.subarray(group.box, group.box + 4)];
  assert.equal(box, tight, `${label}: the box in numbers`);
}

// blocks of two rows make tall trees of few rows
const TREES = [0, 1, 2, 5, 100, 200, 1_000, 4_096, 9_001, 70_000].map((count) => {
  const nodeSize = count > 10_000 ? 16 : 2;
  const blocks = cutBlocks(treeCoords(count, nodeSize, BOX_SEED + count), nodeSize);
  return { count, blocks, index: new BoxIndex(blocks) };
});

test('nodes are stretches of blocks with tight boxes, and leaves stand at one height', () => {
  for (const { count, blocks, index } of TREES) {
    const label = `seed ${BOX_SEED}, ${count} rows`;
    assert.is(index.root.from, 0, label);
    assert.is(index.root.to, count, label);
    const groups = assertNode(index.root, index, blocks, label);
    const all = index.all().toSorted((a, b) => a.from - b.from);
    assert.equal(all, groups, `${label}: all()`);
  }
  assert.ok(TREES.some(({ index }) => index.root.height === 2));
});

test('a search finds the groups whose boxes meet the area', () => {
  const random = new Random(BOX_SEED, 'point');
  for (const { count, index } of TREES) {
    for (let round = 0; round < 50; round++) {
      const [minX, minY] = [random.between(-200, 180), random.between(-100, 90)];
      const [maxX, maxY] = [minX + random.between(0, 100), minY + random.between(0, 50)];
      const found = new Set(index.search({ minX, minY, maxX, maxY }));
      for (const group of index.all()) {
        const isApart =
          group.minX > maxX || group.maxX < minX || group.minY > maxY || group.maxY < minY;
        const label = `seed ${BOX_SEED}, ${count} rows, round ${round}, group from ${group.from}`;
        assert.is(found.has(group), !isApart, label);
      }
    }
  }
});

test.run();
