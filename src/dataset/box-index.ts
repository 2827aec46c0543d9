import RBush from 'rbush';
import type { Row } from './row.js';

/** A node of the packed tree: an RBush node that also knows its rows. */
export interface BoxNode {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
  /** 1 for a leaf. */
  height: number;
  leaf: boolean;
  children: BoxNode[] | Row[];
  /** The node's rows are `from` to `to - 1`. */
  from: Row;
  to: Row;
}

/** Binary levels of the kd-tree that make one level of the RBush: sixteen children a node. */
const LEVELS_PER_NODE = 4;
/** Of the order of a millisecond. */
const NODES_PER_SLICE = 250;

/** An RBush whose items are row numbers; boxes come from the coordinates. */
export class BoxIndex extends RBush<Row> {
  readonly root: BoxNode;

  /** `coords` holds lon, lat of each row; `root` comes from {@link packBoxes}. */
  constructor(coords: Float64Array, root: BoxNode) {
    super();
    this.root = root;
    // RBush calls these detached from the tree, so they are closures rather than methods
    this.toBBox = (row) => {
      const lon = coords[2 * row]!;
      const lat = coords[2 * row + 1]!;
      return { minX: lon, minY: lat, maxX: lon, maxY: lat };
    };
    this.compareMinX = (a, b) => coords[2 * a]! - coords[2 * b]!;
    this.compareMinY = (a, b) => coords[2 * a + 1]! - coords[2 * b + 1]!;
    this.fromJSON(root);
  }
}

/**
 * Packs the tree from rows that already stand in kd-tree order: every subtree of that tree is a range of
 * rows, so no sorting is left to do. Yields between slices of a millisecond, for the caller to let
 * other work in; returns the root. `nodeSize` is the one the kd-tree was built with.
 */
export function* packBoxes(coords: Float64Array, nodeSize: number): Generator<undefined, BoxNode> {
  const count = coords.length / 2;
  const depth = commonDepth(count, nodeSize);
  let packed = 0;

  // [left, right] is the range that the kd-tree splits; `to` may reach one row further: the median of an
  // ancestor, which belongs to no half and is counted with the left one
  function* pack(
    left: number,
    right: number,
    to: number,
    levels: number,
  ): Generator<undefined, BoxNode> {
    if (++packed % NODES_PER_SLICE === 0) yield;
    if (levels === 0) return leafOf(coords, left, to);
    const node: BoxNode = emptyNode(left, to, Math.ceil(levels / LEVELS_PER_NODE) + 1);
    const children = node.children as BoxNode[];
    const below = (Math.ceil(levels / LEVELS_PER_NODE) - 1) * LEVELS_PER_NODE;
    const ranges = splitRange(left, right, to, levels - below);
    for (const [childLeft, childRight, childTo] of ranges) {
      const child = yield* pack(childLeft, childRight, childTo, below);
      children.push(child);
      if (child.minX < node.minX) node.minX = child.minX;
      if (child.minY < node.minY) node.minY = child.minY;
      if (child.maxX > node.maxX) node.maxX = child.maxX;
      if (child.maxY > node.maxY) node.maxY = child.maxY;
    }
    return node;
  }
  return yield* pack(0, count - 1, count, depth);
}

/** Levels that every branch of the kd-tree has: RBush wants all leaves at one height. */
function commonDepth(count: number, nodeSize: number): number {
  let depth = 0;
  for (let size = count; size - 1 > nodeSize; size = (size - 1) >> 1) depth++;
  return depth;
}

/** Follows the kd-tree's halving `levels` deep; ranges come in row order. */
function splitRange(
  left: number,
  right: number,
  to: number,
  levels: number,
): [left: number, right: number, to: number][] {
  if (levels === 0) return [[left, right, to]];
  const middle = (left + right) >> 1;
  return [
    ...splitRange(left, middle - 1, middle + 1, levels - 1),
    ...splitRange(middle + 1, right, to, levels - 1),
  ];
}

function leafOf(coords: Float64Array, from: Row, to: Row): BoxNode {
  const leaf = emptyNode(from, to, 1);
  for (let row = from; row < to; row++) {
    const lon = coords[2 * row]!;
    const lat = coords[2 * row + 1]!;
    (leaf.children as Row[]).push(row);
    if (lon < leaf.minX) leaf.minX = lon;
    if (lon > leaf.maxX) leaf.maxX = lon;
    if (lat < leaf.minY) leaf.minY = lat;
    if (lat > leaf.maxY) leaf.maxY = lat;
  }
  return leaf;
}

function emptyNode(from: Row, to: Row, height: number): BoxNode {
  const [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  return { minX, minY, maxX, maxY, height, leaf: height === 1, children: [], from, to };
}
