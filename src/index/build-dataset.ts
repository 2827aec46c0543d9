import { setImmediate as turn } from 'node:timers/promises';
import KDBush from 'kdbush';
import { attributesOf } from '../formats/attributes.js';
import {
  type AttributeColumns,
  COLUMN_NAMES,
  type ColumnBlock,
  type PointBlock,
} from '../formats/block.js';
import { isInKdOrder, KD_NODE_SIZE } from '../formats/kd-order.js';
import type { SnapshotReader, TwoPassReader } from '../formats/snapshot.js';
import { startThread } from '../model/calls.js';
import { release } from '../model/memory.js';
import { InputError } from '../model/quote.js';
import { AttributeCollector } from './attribute-collector.js';
import { cutBlocks } from './blocks.js';
import type { DatasetParts } from './dataset.js';
import { buildOrders, type OfSorter, type OrderKeys, refuseRepeatedIds } from './orders.js';
import {
  allocateRecords,
  divideRecords,
  type PlacedRecords,
  putRecords,
  stretchOf,
  thinningOf,
} from './records.js';

/** Starting a thread takes some 40 ms of CPU: sorting fewer points is quicker. */
const MIN_PARALLEL_POINTS = 16_384;

interface Layout {
  readonly kdbush: KDBush;
  readonly keys: OrderKeys;
  /** Makes the rest, while another thread may sort the keys. */
  readRest(): Pick<DatasetParts, 'records' | 'attributes'>;
}

/**
 * Reads a snapshot to its end and lays it out: rows in kd-tree order, columns and records in shared
 * memory. Takes seconds for large files; with `inParallel` a second thread sorts. Throws an
 * InputError where the file is broken. Leaves the reader open.
 */
export async function buildDataset(
  reader: SnapshotReader,
  { inParallel = false }: { readonly inParallel?: boolean } = {},
): Promise<DatasetParts> {
  const packed = isTwoPass(reader) ? reader : undefined;
  const rows = packed === undefined ? await blocksOf(reader) : [];
  const count = packed?.count ?? rows.reduce((sum, block) => sum + block.count, 0);
  const sorter =
    inParallel && count >= MIN_PARALLEL_POINTS
      ? startThread<OfSorter>('sort', ORDERS, undefined, memoryOfKeys)
      : undefined;
  try {
    const placed = packed && placeInOrder(packed);
    const layout = placed ?? sortRows(packed === undefined ? rows : await blocksOf(packed), count);
    const { kdbush, keys } = layout;
    // before the keys are transferred to the sorter
    const thinning = thinningOf(keys.id);
    const sorting = sorter?.calls.call('buildOrders', keys);
    // where records turn out to be broken first, nobody awaits it
    sorting?.catch(() => {});
    const sorted = sorting === undefined ? buildOrders(keys) : undefined;
    // calls are sent at the end of the turn
    await turn();
    const rest = layout.readRest();
    const coords = kdbush.coords as Float64Array;
    const tree = { coords, ids: kdbush.ids, treeEnds: count > 0 ? [count] : [] };
    const blocks = cutBlocks(coords);
    const orders = sorted ?? (await sorting!);
    refuseRepeatedIds(orders.byId);
    const made = { ...tree, blocks, ...orders, ...rest, thinning };
    return { count, ...made, report: reader.report() };
  } finally {
    await sorter?.thread.terminate();
  }
}

const ORDERS = new URL('./orders.js', import.meta.url).href;

function memoryOfKeys(_name: string, [keys]: [OrderKeys]): ArrayBuffer[] {
  return Object.values(keys).map((column) => column.buffer as ArrayBuffer);
}

/** Native files are read in two passes, so that they are never in memory twice. */
function isTwoPass(reader: SnapshotReader): reader is TwoPassReader {
  return reader.format === 'native';
}

interface CompleteBlock extends PointBlock {
  readonly attributes: AttributeColumns;
}

/** Reads all blocks, and attributes meanwhile: other threads are reading the next blocks. */
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

/** Where a file has the order of the tree, its records are read straight to their rows. */
function placeInOrder(reader: TwoPassReader): Layout | undefined {
  const kdbush = createTree(reader.count);
  const attributes = new AttributeCollector(reader.count);
  const columns = joinColumns(reader.columns(), reader.count, kdbush, attributes);
  if (!isInKdOrder(kdbush.coords as Float64Array)) return undefined;
  const { id, createdAt, modifiedAt, length } = columns;
  return {
    kdbush,
    keys: { id, createdAt, modifiedAt },
    readRest() {
      const records = allocateRecords(length);
      release(length);
      // before the records: their memory would come on top
      const rest = { attributes: attributes.finish(), records };
      reader.recordsInto((from, to) => stretchOf(records, from, to));
      return rest;
    },
  };
}

function createTree(count: number): KDBush {
  return new KDBush(count, KD_NODE_SIZE, Float64Array, SharedArrayBuffer);
}

function sortRows(blocks: readonly CompleteBlock[], count: number): Layout {
  const kdbush = createTree(count);
  const columns = joinColumns(blocks, count, kdbush);
  for (const block of blocks) release(...COLUMN_NAMES.map((name) => block[name]));
  kdbush.finish();
  // from here on a row is its place in the tree
  const sourceOf = new Uint32Array(kdbush.ids);
  for (let row = 0; row < count; row++) kdbush.ids[row] = row;
  return {
    kdbush,
    keys: {
      id: permute(columns.id, sourceOf),
      createdAt: permute(columns.createdAt, sourceOf),
      modifiedAt: permute(columns.modifiedAt, sourceOf),
    },
    readRest: () => placeRest(blocks, columns.length, sourceOf),
  };
}

function permute(column: Float64Array, sourceOf: Uint32Array): Float64Array {
  const permuted = new Float64Array(column.length);
  for (let row = 0; row < permuted.length; row++) permuted[row] = column[sourceOf[row]!]!;
  release(column);
  return permuted;
}

/** The least rows of a range, as a power of two. */
const RANGE_BITS = 16;
/** Small parts of a block would be given back to the system late. */
const MOST_RANGES = 16;

/**
 * Puts records and attributes in their rows. Records are divided by ranges of rows first, then put
 * in their places range by range: memory of blocks is given back as that of rows is filled, and a
 * range fits the processor's caches.
 */
function placeRest(
  blocks: readonly CompleteBlock[],
  length: Uint32Array,
  sourceOf: Uint32Array,
): ReturnType<Layout['readRest']> {
  const lengths = new Uint32Array(length.length);
  const rowOf = new Uint32Array(length.length);
  for (let row = 0; row < lengths.length; row++) {
    lengths[row] = length[sourceOf[row]!]!;
    rowOf[sourceOf[row]!] = row;
  }
  const records = allocateRecords(lengths);
  release(length, lengths, sourceOf);
  const count = rowOf.length;
  const shift = Math.max(RANGE_BITS, Math.ceil(Math.log2(count / MOST_RANGES)));
  const ranges = Math.ceil(count / 2 ** shift);
  const collector = new AttributeCollector(count);
  const divided: PlacedRecords[][] = [];
  let next = 0;
  for (const { attributes, records: bytes } of blocks) {
    const first = next;
    next += attributes.flags.length;
    collector.addColumns(attributes, first, rowOf);
    const { status, flags, createdBy, tagCounts, tags } = attributes;
    release(status, flags, createdBy, tagCounts, tags);
    divided.push(
      divideRecords(records, { rows: rowOf.subarray(first, next), bytes }, shift, ranges),
    );
    release(bytes);
  }
  const attributes = collector.finish();
  for (let range = 0; range < ranges; range++) {
    for (const parts of divided) {
      putRecords(records, parts[range]!);
      release(parts[range]!.bytes);
    }
  }
  return { records, attributes };
}
