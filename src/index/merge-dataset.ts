import KDBush from 'kdbush';
import { attributesOf } from '../formats/attributes.js';
import { KD_NODE_SIZE } from '../formats/kd-order.js';
import { joinedArray, sharedArray } from '../model/memory.js';
import { AttributeCollector } from './attribute-collector.js';
import { appendBlocks, cutBlocks } from './blocks.js';
import type { DatasetParts } from './dataset.js';
import { type Delta, type DeltaRow, deltaRecord } from './delta.js';
import { keysByRow, type Row } from './order.js';
import { mergeOrders, refuseRepeatedIds } from './orders.js';
import type { Attributes } from './postings.js';
import {
  allocateRecords,
  CHUNK_ROWS,
  type Records,
  recordAt,
  recordLength,
  stretchOf,
  thinningOf,
} from './records.js';

/**
 * A tree with less than `GROWTH` times the points of the new tree becomes part of it. So each tree
 * has several times the points of the next one, and there are few trees.
 */
const GROWTH = 4;

/** Sources of points are the rows of the generation from `kept` on, then those of the delta. */
interface NewTree {
  /** Rows below this one stay. */
  readonly kept: Row;
  /** How many sources are rows of the generation. */
  readonly moved: number;
  readonly coords: Float64Array;
  /** The source of row `kept + i`. */
  readonly sourceOf: Uint32Array;
  /** The row of each source. */
  readonly rowOf: Uint32Array;
}

/**
 * Merges the rows below `length` of a delta into a dataset. With the last trees, where these are
 * not much larger, they make a new kd-tree behind the rows that stay, whose columns are copied and
 * whose records are shared. Throws an InputError where two points have the same id.
 */
export function mergeDataset(parts: DatasetParts, delta: Delta, length: DeltaRow): DatasetParts {
  const tree = plantTree(parts, delta, length);
  const { kept, coords, rowOf } = tree;
  const count = parts.count + length;
  const added = {
    id: delta.id.subarray(0, length),
    createdAt: delta.createdAt.subarray(0, length),
    modifiedAt: delta.modifiedAt.subarray(0, length),
  };
  const orders = mergeOrders(parts, added, kept, rowOf);
  refuseRepeatedIds(orders.byId);
  const keys = keysByRow(orders.byId, kept);
  const records = mergeRecords(parts, delta, tree);
  const ids = sharedArray(Uint32Array, count);
  ids.set(parts.ids);
  for (let row = parts.count; row < count; row++) ids[row] = row;
  return {
    count,
    ids,
    coords: joinedArray(Float64Array, parts.coords.subarray(0, 2 * kept), coords),
    treeEnds: [...parts.treeEnds.filter((end) => end <= kept), ...(count > kept ? [count] : [])],
    blocks: appendBlocks(parts.blocks, kept, cutBlocks(coords)),
    ...orders,
    records,
    attributes: mergeAttributes(parts.attributes, kept, records),
    thinning: joinedArray(Uint16Array, parts.thinning.subarray(0, kept), thinningOf(keys)),
    report: parts.report,
  };
}

function plantTree(parts: DatasetParts, delta: Delta, length: DeltaRow): NewTree {
  const kept = keptRows(parts.treeEnds, length);
  const moved = parts.count - kept;
  const kdbush = new KDBush(moved + length, KD_NODE_SIZE);
  addPoints(kdbush, parts.coords, kept, parts.count);
  addPoints(kdbush, delta.coords, 0, length);
  kdbush.finish();
  const sourceOf = new Uint32Array(kdbush.ids);
  const rowOf = new Uint32Array(sourceOf.length);
  for (let i = 0; i < sourceOf.length; i++) rowOf[sourceOf[i]!] = kept + i;
  return { kept, moved, coords: kdbush.coords as Float64Array, sourceOf, rowOf };
}

/** The rows of the trees that stay when `added` points are merged. */
function keptRows(treeEnds: readonly Row[], added: number): Row {
  let kept = treeEnds.at(-1) ?? 0;
  let points = added;
  for (let tree = treeEnds.length - 1; tree >= 0; tree--) {
    const start = treeEnds[tree - 1] ?? 0;
    if (kept - start >= GROWTH * points) break;
    points += kept - start;
    kept = start;
  }
  return kept;
}

function addPoints(kdbush: KDBush, coords: Float64Array, from: number, to: number): void {
  for (let i = from; i < to; i++) kdbush.add(coords[2 * i]!, coords[2 * i + 1]!);
}

function mergeRecords({ records }: DatasetParts, delta: Delta, tree: NewTree): Records {
  const { kept, moved, sourceOf } = tree;
  // the last rows that stay may share a chunk with the first rows of the new tree
  const first = kept - (kept % CHUNK_ROWS);
  const recordOf = (row: Row): Uint8Array => {
    const source = row < kept ? row - kept : sourceOf[row - kept]!;
    return source < moved ? recordAt(records, kept + source) : deltaRecord(delta, source - moved);
  };
  const lengths = new Uint32Array(kept - first + sourceOf.length);
  for (let i = 0; i < lengths.length; i++) lengths[i] = recordOf(first + i).length;
  const merged = allocateRecords(lengths, records, first);
  for (let row = first; row < first + lengths.length; row++) {
    recordAt(merged, row).set(recordOf(row));
  }
  return merged;
}

/** Continues the postings of the rows that stay, and reads the records of the new tree. */
function mergeAttributes(former: Attributes, kept: Row, records: Records): Attributes {
  const count = records.ends.length;
  const collector = new AttributeCollector(count - kept, { attributes: former, kept });
  for (let from = kept; from < count; ) {
    // a chunk lies in one memory
    const to = Math.min(from - (from % CHUNK_ROWS) + CHUNK_ROWS, count);
    const lengths = new Uint32Array(to - from);
    for (let row = from; row < to; row++) lengths[row - from] = recordLength(records, row);
    const [bytes] = stretchOf(records, from, to);
    collector.addColumns(attributesOf(bytes!, lengths), from - kept);
    from = to;
  }
  return collector.finish();
}
