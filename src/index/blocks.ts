import RBush from 'rbush';
import { joinedArray, sharedArray } from '../model/memory.js';
import type { Degrees } from '../model/units.js';
import type { Row } from './order.js';

/** The most rows of a block; the smallest block has half as many. */
export const BLOCK_ROWS = 64;

/**
 * The rows cut into blocks of neighbours: the subtrees of a kd-tree at one depth, so a tree has a
 * power of two of them. Typed arrays, since objects would take six times the cache lines.
 */
export interface Blocks {
  /** The first row of each block, then the number of rows. */
  readonly starts: Int32Array;
  /** West, south, east and north of each block's points in turn. */
  readonly boxes: Float64Array;
  /** The sum of longitudes and the sum of latitudes of each block in turn. */
  readonly sums: Float64Array;
}

/**
 * Cuts rows that stand in kd-tree order. `coords` has longitude and latitude of each row in turn;
 * `blockRows` is at least the node size of the tree.
 */
export function cutBlocks(coords: Float64Array, blockRows: number = BLOCK_ROWS): Blocks {
  const count = coords.length / 2;
  const starts: Row[] = [];
  if (count > 0) cut(0, count - 1, 0, commonDepth(count, blockRows));
  starts.push(count);
  const boxes = sharedArray(Float64Array, 4 * (starts.length - 1));
  const sums = sharedArray(Float64Array, 2 * (starts.length - 1));
  for (let block = 0; block < starts.length - 1; block++) {
    boxes.set(boxAround(coords, 2, starts[block]!, starts[block + 1]!), 4 * block);
    putSums(sums, 2 * block, coords, starts[block]!, starts[block + 1]!);
  }
  const shared = sharedArray(Int32Array, starts.length);
  shared.set(starts);
  return { starts: shared, boxes, sums };

  // the kd-tree splits [left, right]; `from` may be the row before `left`: the median of an
  // ancestor, which belongs to neither half and is counted with the right one
  function cut(left: number, right: number, from: Row, levels: number): void {
    if (levels === 0) {
      starts.push(from);
      return;
    }
    const middle = (left + right) >> 1;
    cut(left, middle - 1, from, levels - 1);
    cut(middle + 1, right, middle, levels - 1);
  }
}

/** The blocks of the first `rows` rows, where a tree ends, then those of another tree. */
export function appendBlocks({ starts, boxes, sums }: Blocks, rows: Row, added: Blocks): Blocks {
  const kept = starts.indexOf(rows);
  return {
    starts: joinedArray(
      Int32Array,
      starts.subarray(0, kept),
      added.starts.map((start) => start + rows),
    ),
    boxes: joinedArray(Float64Array, boxes.subarray(0, 4 * kept), added.boxes),
    sums: joinedArray(Float64Array, sums.subarray(0, 2 * kept), added.sums),
  };
}

/** The levels of the kd-tree above blocks of at most `blockRows` rows. */
function commonDepth(count: number, blockRows: number): number {
  let depth = 0;
  for (let size = count; size - 1 > blockRows; size = (size - 1) >> 1) depth++;
  return depth;
}

/** The box around `first` to `last - 1` of points (`width` 2) or boxes (`width` 4). */
export function boxAround(
  corners: Float64Array,
  width: 2 | 4,
  first: number,
  last: number,
): [west: number, south: number, east: number, north: number] {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = width * first; i < width * last; i += width) {
    west = Math.min(west, corners[i]!);
    south = Math.min(south, corners[i + 1]!);
    east = Math.max(east, corners[i + width - 2]!);
    north = Math.max(north, corners[i + width - 1]!);
  }
  return [west, south, east, north];
}

function putSums(sums: Float64Array, at: number, coords: Float64Array, from: Row, to: Row): void {
  let lon = 0;
  let lat = 0;
  for (let row = from; row < to; row++) {
    lon += coords[2 * row]!;
    lat += coords[2 * row + 1]!;
  }
  sums[at] = lon;
  sums[at + 1] = lat;
}

/** Blocks `firstBlock` to `lastBlock - 1`, rows `from` to `to - 1`, with the box around them. */
export interface BlockGroup {
  /** Longitudes and latitudes, as RBush names them. */
  readonly minX: Degrees;
  readonly minY: Degrees;
  readonly maxX: Degrees;
  readonly maxY: Degrees;
  /** The place of the same four numbers in {@link BoxIndex.boxes}. */
  readonly box: number;
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly from: Row;
  readonly to: Row;
}

export interface BoxNode extends BlockGroup {
  /** 1 for a leaf. */
  readonly height: number;
  readonly leaf: boolean;
  /** In row order; the children of a leaf are the tree's items. */
  readonly children: readonly BoxNode[] | readonly BlockGroup[];
}

/** Blocks of an item: testing 64 boxes in a row is quicker than one more level of nodes. */
const GROUP_BLOCKS = 64;
const NODE_CHILDREN = 16;

/**
 * An RBush of groups of blocks, packed without sorting: rows stand in kd-tree order, where every
 * subtree is a range of rows. 1M points make 256 items.
 */
export class BoxIndex extends RBush<BlockGroup> {
  readonly root: BoxNode;
  /** West, south, east and north of each node and item; objects would touch more memory. */
  readonly boxes: Float64Array;

  constructor({ starts, boxes }: Blocks) {
    super();
    const blocks = starts.length - 1;
    let height = 1;
    while (blocks > GROUP_BLOCKS * NODE_CHILDREN ** height) height++;
    const nodeBoxes: number[] = [];

    const groupOf = (firstBlock: number, lastBlock: number): BlockGroup => {
      const [minX, minY, maxX, maxY] = boxAround(boxes, 4, firstBlock, lastBlock);
      const box = nodeBoxes.length;
      nodeBoxes.push(minX, minY, maxX, maxY);
      const [from, to] = [starts[firstBlock]!, starts[lastBlock]!];
      return { minX, minY, maxX, maxY, box, firstBlock, lastBlock, from, to };
    };
    const nodeOf = (firstBlock: number, lastBlock: number, height: number): BoxNode => {
      const blocksOfChild = GROUP_BLOCKS * NODE_CHILDREN ** (height - 1);
      const children: BlockGroup[] = [];
      for (let first = firstBlock; first < lastBlock; first += blocksOfChild) {
        const last = Math.min(first + blocksOfChild, lastBlock);
        children.push(height === 1 ? groupOf(first, last) : nodeOf(first, last, height - 1));
      }
      return { ...groupOf(firstBlock, lastBlock), height, leaf: height === 1, children };
    };
    this.root = nodeOf(0, blocks, height);
    this.boxes = Float64Array.from(nodeBoxes);
    this.fromJSON(this.root);
  }
}
