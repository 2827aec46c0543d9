import RBush from 'rbush';
import type { Degrees } from '../model/units.js';
import { type Blocks, putUnion } from './blocks.js';
import type { Row } from './order.js';

/** A stretch of blocks, `firstBlock` to `lastBlock - 1`, with the box around their points. */
export interface BlockGroup {
  /** Longitudes and latitudes, under the names that RBush wants. */
  readonly minX: Degrees;
  readonly minY: Degrees;
  readonly maxX: Degrees;
  readonly maxY: Degrees;
  /** Where {@link BoxIndex.boxes} has the same four numbers. */
  readonly box: number;
  readonly firstBlock: number;
  readonly lastBlock: number;
  /** The group's rows are `from` to `to - 1`. */
  readonly from: Row;
  readonly to: Row;
}

/** A node of the packed tree: an RBush node that also knows its rows. */
export interface BoxNode extends BlockGroup {
  /** 1 for a leaf. */
  readonly height: number;
  readonly leaf: boolean;
  /** In row order; those of a leaf are the tree's items. */
  readonly children: readonly BoxNode[] | readonly BlockGroup[];
}

/** Blocks of an item: testing 64 boxes in a row takes less time than a look into a node. */
const GROUP_BLOCKS = 64;
const NODE_CHILDREN = 16;

/**
 * An RBush of groups of blocks, packed from rows that already stand in kd-tree order: every subtree
 * of that tree is a range of rows, so no sorting is left to do. 1M points make 256 items.
 */
export class BoxIndex extends RBush<BlockGroup> {
  readonly root: BoxNode;
  /**
   * West, south, east and north of each node and item: a walk that read their objects would touch
   * more memory.
   */
  readonly boxes: Float64Array;

  constructor({ starts, boxes }: Blocks) {
    super();
    const blocks = starts.length - 1;
    // blocks are a power of two, so all nodes of a height are full
    let height = 1;
    while (blocks > GROUP_BLOCKS * NODE_CHILDREN ** height) height++;
    const nodeBoxes: number[] = [];
    const union = new Float64Array(4);

    const groupOf = (firstBlock: number, lastBlock: number): BlockGroup => {
      putUnion(union, 0, boxes, firstBlock, lastBlock);
      const [minX, minY, maxX, maxY] = union as unknown as [number, number, number, number];
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
