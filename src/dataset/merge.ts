import KDBush from 'kdbush';
import { KD_NODE_SIZE } from '../snapshot/kd-order.js';
import { AttributeCollector } from './attribute-collector.js';
import type { Attributes } from './attributes.js';
import { cutBlocks } from './blocks.js';
import { rowHashesOf } from './content-hash.js';
import type { DatasetParts } from './dataset.js';
import type { Order } from './order.js';
import { mergeOrders, refuseRepeatedIds } from './orders.js';
import { allocateRecords, type Records, recordLength, recordStart } from './records.js';
import { type Tail, type TailRow, tailRecord } from './tail.js';
import { thinningOf } from './thinning.js';

/**
 * Where the points of a merge come from. Sources are the rows of the generation, then those of the
 * tail; their numbers begin with 0.
 */
interface MergeRows {
  readonly kdbush: KDBush;
  /** The source of each row. */
  readonly sourceOf: Uint32Array;
  /** The row of each source. */
  readonly rowOf: Uint32Array;
}

/**
 * Makes a dataset of another one and the rows below `length` of its tail, out of the memory that
 * they are in: sorted orders are merged, and nothing is parsed. Throws where an id would be there
 * twice.
 */
export function mergeDataset(parts: DatasetParts, tail: Tail, length: TailRow): DatasetParts {
  const rows = placeRows(parts, tail, length);
  const count = rows.sourceOf.length;
  const added = {
    id: tail.id.subarray(0, length),
    createdAt: tail.createdAt.subarray(0, length),
    modifiedAt: tail.modifiedAt.subarray(0, length),
  };
  const orders = mergeOrders(parts, added, rows.rowOf);
  refuseRepeatedIds(orders.byId);
  const ids = keysOf(orders.byId);
  return {
    count,
    kdbush: rows.kdbush.data,
    blocks: cutBlocks(rows.kdbush.coords as Float64Array),
    ...orders,
    records: mergeRecords(parts, tail, rows),
    attributes: mergeAttributes(parts, tail, rows),
    thinning: thinningOf(ids),
    rowHashes: rowHashesOf(ids, keysOf(orders.byCreatedAt)),
    report: { ...parts.report, points: count },
  };
}

/** The keys of an order by row. */
function keysOf({ keys, ranks }: Order): Float64Array {
  const byRow = new Float64Array(ranks.length);
  for (let row = 0; row < byRow.length; row++) byRow[row] = keys[ranks[row]!]!;
  return byRow;
}

/** Finds the rows; from there on the ids of the tree are the rows themselves. */
function placeRows(parts: DatasetParts, tail: Tail, length: TailRow): MergeRows {
  const coords = KDBush.from(parts.kdbush).coords as Float64Array;
  const count = parts.count + length;
  const kdbush = new KDBush(count, KD_NODE_SIZE, Float64Array, SharedArrayBuffer);
  for (let row = 0; row < parts.count; row++) kdbush.add(coords[2 * row]!, coords[2 * row + 1]!);
  for (let row = 0; row < length; row++) {
    kdbush.add(tail.coords[2 * row]!, tail.coords[2 * row + 1]!);
  }
  kdbush.finish();
  const sourceOf = new Uint32Array(kdbush.ids);
  const rowOf = new Uint32Array(count);
  for (let row = 0; row < count; row++) {
    rowOf[sourceOf[row]!] = row;
    kdbush.ids[row] = row;
  }
  return { kdbush, sourceOf, rowOf };
}

function mergeRecords({ count, records }: DatasetParts, tail: Tail, rows: MergeRows): Records {
  const { sourceOf } = rows;
  const merged = allocateRecords(
    sourceOf.map((source) =>
      source < count ? recordLength(records, source) : tailRecord(tail, source - count).length,
    ),
  );
  // made from the memory itself: views of views are slower to make
  const [from, to] = [records.chunks, merged.chunks];
  for (let row = 0; row < sourceOf.length; row++) {
    const source = sourceOf[row]!;
    const isAccepted = source >= count;
    const { buffer } = isAccepted ? tail.bytes : from[source >>> records.chunkBits]!;
    const end = isAccepted ? tail.ends[source - count]! : records.ends[source]!;
    const start = recordStart(merged, row);
    const length = merged.ends[row]! - start;
    to[row >>> merged.chunkBits]!.set(new Uint8Array(buffer, end - length, length), start);
  }
  return merged;
}

function mergeAttributes(
  { count, attributes }: DatasetParts,
  tail: Tail,
  { rowOf }: MergeRows,
): Attributes {
  const collector = new AttributeCollector(rowOf.length);
  collector.addAttributes(attributes, rowOf);
  for (let source = count; source < rowOf.length; source++) {
    collector.addTailRow(tail.attributes, source - count, rowOf[source]!);
  }
  return collector.finish();
}
