import { KD_NODE_SIZE } from '../formats/kd-order.js';
import type { LoadReport } from '../formats/snapshot.js';
import { type Blocks, BoxIndex } from './blocks.js';
import type { Row } from './order.js';
import type { Orders } from './orders.js';
import type { Attributes } from './postings.js';
import type { Records } from './records.js';

/**
 * What a build hands over: plain objects, and arrays over shared memory, so that every thread it is
 * posted to serves the same copy.
 */
export interface DatasetParts extends Orders {
  readonly count: number;
  /** Longitude and latitude of each row, in turn. */
  readonly coords: Float64Array;
  /** The number of each row itself, for what wants a KDBush. */
  readonly ids: Uint16Array | Uint32Array;
  /**
   * Rows stand in the order of kd-trees, one behind the other: the row behind each tree. The first
   * tree is the snapshot's, and each further one has points that were merged.
   */
  readonly treeEnds: readonly Row[];
  readonly blocks: Blocks;
  readonly records: Records;
  readonly attributes: Attributes;
  /** The upper half of the {@link hashId} of each row. */
  readonly thinning: Uint16Array;
  readonly report: LoadReport;
}

/** The rows of one kd-tree, with what geokdbush asks of a KDBush. */
export interface Tree extends Pick<DatasetParts, 'coords' | 'ids'> {
  readonly nodeSize: number;
}

/** One generation of points in memory, frozen: nothing in it changes once it is made. */
export interface Dataset extends DatasetParts {
  readonly trees: readonly Tree[];
  readonly boxIndex: BoxIndex;
}

/** Makes the dataset that queries run on, in a few milliseconds. */
export function assembleDataset(parts: DatasetParts): Dataset {
  const { ids, coords, treeEnds } = parts;
  const trees = treeEnds.map((end, tree) => {
    const start = treeEnds[tree - 1] ?? 0;
    const own = { ids: ids.subarray(start, end), coords: coords.subarray(2 * start, 2 * end) };
    return { ...own, nodeSize: KD_NODE_SIZE };
  });
  return { ...parts, trees, boxIndex: new BoxIndex(parts.blocks) };
}
