import { setImmediate as turn } from 'node:timers/promises';
import KDBush from 'kdbush';
import { attributesOf } from '../formats/attributes.js';
import type { AttributeColumns, ColumnBlock, PointBlock } from '../formats/block.js';
import { isInKdOrder, KD_NODE_SIZE } from '../formats/kd-order.js';
import type { SnapshotReader, TwoPassReader } from '../formats/snapshot.js';
import { startThread } from '../model/calls.js';
import { InputError } from '../model/quote.js';
import { AttributeCollector } from './attribute-collector.js';
import { cutBlocks } from './blocks.js';
import type { DatasetParts } from './dataset.js';
import { buildOrders, type OfSorter, type OrderKeys, refuseRepeatedIds } from './orders.js';
import {
  allocateRecords,
  putRecords,
  type Records,
  rowHashesOf,
  stretchOf,
  thinningOf,
} from './records.js';

/** Fewer points are sorted sooner than a thread has started, which takes about 40 ms of CPU. */
const MIN_PARALLEL_POINTS = 16_384;

interface Layout {
  readonly kdbush: KDBush;
  readonly keys: OrderKeys;
  /** Complete once the records are read. */
  readonly attributes: AttributeCollector;
  readRecords(): Records;
}

/**
 * Reads a snapshot to its end and lays it out for queries: rows in the order of the kd-tree,
 * columns and record bytes each in shared memory. Runs for seconds on large files, so it belongs in
 * a worker thread. Throws an InputError when the file is broken. The reader is left open.
 * `inParallel` takes a second core for part of the work.
 */
export async function buildDataset(
  reader: SnapshotReader,
  { inParallel = false }: { readonly inParallel?: boolean } = {},
): Promise<DatasetParts> {
  const packed = isTwoPass(reader) ? reader : undefined;
  const rows = packed === undefined ? await blocksOf(reader) : [];
  const count = packed?.count ?? rows.reduce((sum, block) => sum + block.count, 0);
  // starts while the keys are read
  const sorter =
    inParallel && count >= MIN_PARALLEL_POINTS
      ? startThread<OfSorter>('sort', ORDERS, undefined, memoryOfKeys)
      : undefined;
  try {
    const placed = packed && placeInOrder(packed);
    const layout = placed ?? sortRows(packed === undefined ? rows : await blocksOf(packed), count);
    const { kdbush, keys, readRecords } = layout;
    // the sorter takes the keys with it
    const thinning = thinningOf(keys.id);
    const rowHashes = rowHashesOf(keys.id, keys.createdAt);
    const sorting = sorter?.calls.call('buildOrders', keys);
    // records may turn out to be broken first
    sorting?.catch(() => {});
    const sorted = sorting === undefined ? buildOrders(keys) : undefined;
    // a call leaves with the turn
    await turn();
    const records = readRecords();
    const attributes = layout.attributes.finish();
    const coords = kdbush.coords as Float64Array;
    const tree = { coords, ids: kdbush.ids, treeEnds: count > 0 ? [count] : [] };
    const blocks = cutBlocks(coords);
    const orders = sorted ?? (await sorting!);
    refuseRepeatedIds(orders.byId);
    const made = { ...tree, blocks, ...orders, records, attributes, thinning, rowHashes };
    return { count, ...made, report: reader.report() };
  } finally {
    await sorter?.thread.terminate();
  }
}

const ORDERS = new URL('./orders.js', import.meta.url).href;

function memoryOfKeys(_name: string, [keys]: [OrderKeys]): ArrayBuffer[] {
  return Object.values(keys).map((column) => column.buffer as ArrayBuffer);
}

/** Native files are read twice, so that they are never in memory twice. */
function isTwoPass(reader: SnapshotReader): reader is TwoPassReader {
  return reader.format === 'native';
}

interface CompleteBlock extends PointBlock {
  readonly attributes: AttributeColumns;
}

/**
 * What is not in the order of the tree is kept until every record has found its place. Attributes
 * are read meanwhile: other threads are reading the next blocks.
 */
async function blocksOf(reader: SnapshotReader): Promise<CompleteBlock[]> {
  const blocks: CompleteBlock[] = [];
  for await (const block of reader.blocks()) {
    const attributes = block.attributes ?? attributesOf(block.records, block.length);
    blocks.push({ ...block, attributes });
  }
  return blocks;
}

interface Columns extends OrderKeys {
  readonly length: Uint32Array;
}

/** Puts the coordinates into the tree, unsorted, and the rest into columns. */
function joinColumns(
  blocks: Iterable<ColumnBlock>,
  count: number,
  kdbush: KDBush,
  attributes?: AttributeCollector,
): Columns {
  const joined = {
    id: new Float64Array(count),
    createdAt: new Float64Array(count),
    modifiedAt: new Float64Array(count),
    length: new Uint32Array(count),
  };
  let at = 0;
  for (const block of blocks) {
    if (at + block.count > count)
      throw new InputError('The blocks have more points than they should.');
    for (let i = 0; i < block.count; i++) kdbush.add(block.lon[i]!, block.lat[i]!);
    joined.id.set(block.id, at);
    joined.createdAt.set(block.createdAt, at);
    joined.modifiedAt.set(block.modifiedAt, at);
    joined.length.set(block.length, at);
    attributes?.addColumns(block.attributes!, at);
    at += block.count;
  }
  return joined;
}

/** Where a file has the order of the tree, records are read straight to their rows. */
function placeInOrder(reader: TwoPassReader): Layout | undefined {
  const kdbush = createTree(reader.count);
  const attributes = new AttributeCollector(reader.count);
  const columns = joinColumns(reader.columns(), reader.count, kdbush, attributes);
  if (!isInKdOrder(kdbush.coords as Float64Array)) return undefined;
  const { id, createdAt, modifiedAt, length } = columns;
  return {
    kdbush,
    keys: { id, createdAt, modifiedAt },
    attributes,
    readRecords() {
      const records = allocateRecords(length);
      reader.recordsInto((from, to) => stretchOf(records, from, to));
      return records;
    },
  };
}

function createTree(count: number): KDBush {
  return new KDBush(count, KD_NODE_SIZE, Float64Array, SharedArrayBuffer);
}

function sortRows(blocks: readonly CompleteBlock[], count: number): Layout {
  const kdbush = createTree(count);
  const columns = joinColumns(blocks, count, kdbush);
  kdbush.finish();
  // from here on a row is its place in the tree, and the tree's ids say just that
  const sourceOf = new Uint32Array(kdbush.ids);
  for (let row = 0; row < count; row++) kdbush.ids[row] = row;
  const attributes = new AttributeCollector(count);
  return {
    kdbush,
    keys: {
      id: permute(columns.id, sourceOf),
      createdAt: permute(columns.createdAt, sourceOf),
      modifiedAt: permute(columns.modifiedAt, sourceOf),
    },
    attributes,
    readRecords: () => placeRecords(blocks, columns.length, sourceOf, attributes),
  };
}

function permute(column: Float64Array, sourceOf: Uint32Array): Float64Array {
  const permuted = new Float64Array(column.length);
  for (let row = 0; row < permuted.length; row++) permuted[row] = column[sourceOf[row]!]!;
  return permuted;
}

function placeRecords(
  blocks: readonly CompleteBlock[],
  length: Uint32Array,
  sourceOf: Uint32Array,
  attributes: AttributeCollector,
): Records {
  const lengths = new Uint32Array(length.length);
  const rowOf = new Uint32Array(length.length);
  for (let row = 0; row < lengths.length; row++) {
    lengths[row] = length[sourceOf[row]!]!;
    rowOf[sourceOf[row]!] = row;
  }
  const records = allocateRecords(lengths);
  let next = 0;
  for (const block of blocks) {
    attributes.addColumns(block.attributes, next, rowOf);
    next = putRecords(records, rowOf, length, block.records, next);
  }
  return records;
}
