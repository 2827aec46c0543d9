import KDBush from 'kdbush';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BoxIndex, type BoxNode, packBoxes } from '../src/dataset/box-index.js';
import { Random } from '../src/generate/random.js';
import { assertSame } from './support/same.js';

const SEED = 51;

/** Coordinates in the order of their kd-tree: scattered, or on a coarse grid where many coincide. */
function coordsOf(count: number, nodeSize: number, seed: number): Float64Array {
  const random = new Random(seed, 'point');
  const grid = seed % 2 === 0 ? 0 : 10;
  const snap = (value: number): number => (grid === 0 ? value : Math.round(value / grid) * grid);
  const tree = new KDBush(count, nodeSize);
  for (let i = 0; i < count; i++) {
    tree.add(snap(random.between(-180, 180)), snap(random.between(-90, 90)));
  }
  return tree.finish().coords as Float64Array;
}

/** Packs to the end; returns the root and how often the packing paused. */
function pack(coords: Float64Array, nodeSize: number): { root: BoxNode; pauses: number } {
  const packing = packBoxes(coords, nodeSize);
  for (let pauses = 0; ; pauses++) {
    const step = packing.next();
    if (step.done === true) return { root: step.value, pauses };
  }
}

/** Asserts all a node promises, down to its rows; returns the rows below it. */
function assertNode(
  node: BoxNode,
  coords: Float64Array,
  nodeSize: number,
  label: string,
): number[] {
  const rows: number[] = [];
  if (node.leaf) rows.push(...(node.children as number[]));
  for (const child of node.leaf ? [] : (node.children as BoxNode[])) {
    assert.is(child.height, node.height - 1, `${label}: height`);
    rows.push(...assertNode(child, coords, nodeSize, label));
  }
  assert.is(node.leaf, node.height === 1, `${label}: leaf`);
  // a leaf of the kd-tree, a branch one larger than the smallest, a median of an ancestor
  const most = node.leaf ? nodeSize + 3 : 16;
  assert.ok(node.children.length <= most, `${label}: ${node.children.length} children`);
  const range = Array.from({ length: node.to - node.from }, (_, i) => node.from + i);
  assertSame(rows, range, `${label}: rows ${node.from} to ${node.to}`);
  const lons = rows.map((row) => coords[2 * row]!);
  const lats = rows.map((row) => coords[2 * row + 1]!);
  const box = [node.minX, node.minY, node.maxX, node.maxY];
  const tight = [Math.min(...lons), Math.min(...lats), Math.max(...lons), Math.max(...lats)];
  assert.equal(box, tight, `${label}: box`);
  return rows;
}

const COUNTS = [...Array(201).keys(), 255, 289, 577, 1000, 2047, 4096, 9001, 70_000];

test('nodes are ranges of rows with tight boxes, and leaves stand at one height', () => {
  for (const count of COUNTS) {
    for (const nodeSize of count <= 1000 ? [2, 3, 16, 64] : [16]) {
      const label = `seed ${SEED}, ${count} rows, node size ${nodeSize}`;
      const coords = coordsOf(count, nodeSize, SEED + (count % 2));
      const { root } = pack(coords, nodeSize);
      assert.is(assertNode(root, coords, nodeSize, label).length, count, label);
    }
  }
});

test('a search finds what a look at every row finds, and all() finds all', () => {
  for (const count of COUNTS) {
    const coords = coordsOf(count, 16, SEED + 2 + (count % 2));
    const index = new BoxIndex(coords, pack(coords, 16).root);
    const everyRow = [...Array(count).keys()];
    assertSame(ascending(index.all()), everyRow, `${count} rows: all`);
    const random = new Random(SEED, 'point');
    for (let round = 0; round < 20; round++) {
      const [minX, minY] = [random.between(-200, 180), random.between(-100, 90)];
      const [maxX, maxY] = random.pick([
        [minX + random.between(0, 50), minY + random.between(0, 50)],
        [minX + 400, minY + 200],
        [minX, minY],
      ] as const);
      const found = ascending(index.search({ minX, minY, maxX, maxY }));
      const expected = everyRow.filter((row) => {
        const [lon, lat] = [coords[2 * row]!, coords[2 * row + 1]!];
        return lon >= minX && lon <= maxX && lat >= minY && lat <= maxY;
      });
      assertSame(found, expected, `seed ${SEED}, ${count} rows: ${[minX, minY, maxX, maxY]}`);
    }
    for (const row of everyRow.slice(0, 5)) {
      const [lon, lat] = [coords[2 * row]!, coords[2 * row + 1]!];
      const found = index.search({ minX: lon, minY: lat, maxX: lon, maxY: lat });
      assert.ok(found.includes(row), `${count} rows: box without size on row ${row}`);
    }
  }
});

test('a packed tree takes inserts and removals like any other', () => {
  const packed = coordsOf(500, 16, SEED);
  const coords = new Float64Array(2 * 700);
  coords.set(packed);
  for (let row = 500; row < 700; row++) coords.set([row - 600, (row % 90) - 45], 2 * row);
  const index = new BoxIndex(coords, pack(packed, 16).root);
  for (let row = 500; row < 700; row++) index.insert(row);
  assertSame(ascending(index.all()), [...Array(700).keys()], 'after inserts');
  for (let row = 500; row < 700; row++) index.remove(row);
  assertSame(ascending(index.all()), [...Array(500).keys()], 'after removals');
});

test('a large tree is packed in slices, a small one in one go', () => {
  const large = coordsOf(70_000, 16, SEED);
  assert.ok(pack(large, 16).pauses >= 2);
  const small = coordsOf(1_000, 16, SEED);
  assert.is(pack(small, 16).pauses, 0);
});

function ascending(rows: number[]): number[] {
  return rows.sort((a, b) => a - b);
}

test.run();
