import { KD_NODE_SIZE } from '../formats/kd-order.js';
import type { LoadReport } from '../formats/snapshot.js';
import { type Blocks, BoxIndex } from './blocks.js';
import type { Row } from './order.js';
import type { Orders } from './orders.js';
import type { Attributes } from './postings.js';
import type { Records } from './records.js';

/** What a build makes: plain objects, and arrays in shared memory, which all threads serve. */
export interface DatasetParts extends Orders {
  readonly count: number;
  /** Longitude and latitude of each row in turn. */
  readonly coords: Float64Array;
  /** The rows themselves, which geokdbush expects of a KDBush. */
  readonly ids: Uint16Array | Uint32Array;
  /** The end of each kd-tree: first the snapshot's, then those of merged points. */
  readonly treeEnds: readonly Row[];
  readonly blocks: Blocks;
  readonly records: Records;
  readonly attributes: Attributes;
  /** The upper half of the `hashId` of each row's id. */
  readonly thinning: Uint16Array;
  readonly report: LoadReport;
}

/** The rows of one kd-tree, as geokdbush asks a KDBush for them. */
interface Tree extends Pick<DatasetParts, 'coords' | 'ids'> {
  readonly nodeSize: number;
}

/** One generation of points in memory, which never changes. */
export interface Dataset extends DatasetParts {
  readonly trees: readonly Tree[];
  readonly boxIndex: BoxIndex;
}

/** Adds what is not shared between threads; takes a few milliseconds. */
export function assembleDataset(parts: DatasetParts): Dataset {
  const { ids, coords, treeEnds } = parts;
  const trees = treeEnds.map((end, tree) => {
    const start = treeEnds[tree - 1] ?? 0;
    const own = { ids: ids.subarray(start, end), coords: coords.subarray(2 * start, 2 * end) };
    return { ...own, nodeSize: KD_NODE_SIZE };
  });
  return { ...parts, trees, boxIndex: new BoxIndex(parts.blocks) };
}
