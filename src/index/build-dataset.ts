import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import KDBush from 'kdbush';
import type { ColumnBlock, PointBlock } from '../formats/block.js';
import { isInKdOrder, KD_NODE_SIZE } from '../formats/kd-order.js';
import type { SnapshotReader, TwoPassReader } from '../formats/snapshot.js';
import { InputError } from '../model/quote.js';
import { AttributeCollector, buildAttributes } from './attribute-collector.js';
import { cutBlocks } from './blocks.js';
import type { DatasetParts } from './dataset.js';
import { buildOrders, type OrderKeys, type Orders, refuseRepeatedIds } from './orders.js';
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

/** The columns of a whole snapshot in the order of its file, and a second look at its records. */
interface Source {
  readonly count: number;
  columns(): Iterable<ColumnBlock>;
  /** Asked for after the columns have been read. */
  records(): Iterable<Uint8Array>;
}

interface Layout {
  readonly kdbush: KDBush;
  readonly keys: OrderKeys;
  /** The attributes by row, where the file has columns of them; else the records are read. */
  readonly known?: AttributeCollector | undefined;
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
  const source = packed ?? (await keepBlocks(reader));
  const { count } = source;
  const sorter = inParallel && count >= MIN_PARALLEL_POINTS ? startSorter() : undefined;
  let layout: Layout;
  try {
    layout = placeRows(source, packed);
  } catch (error) {
    sorter?.release();
    throw error;
  }
  const { kdbush, keys, readRecords, known } = layout;
  // the sorter takes the keys with it
  const thinning = thinningOf(keys.id);
  const rowHashes = rowHashesOf(keys.id, keys.createdAt);
  const sorting = sorter === undefined ? buildOrders(keys) : sorter.sort(keys);
  const records = readRecords();
  const attributes = known?.finish() ?? buildAttributes(records, count);
  const coords = kdbush.coords as Float64Array;
  const tree = { coords, ids: kdbush.ids, treeEnds: count > 0 ? [count] : [] };
  const blocks = cutBlocks(coords);
  const orders = await sorting;
  refuseRepeatedIds(orders.byId);
  const made = { ...tree, blocks, ...orders, records, attributes, thinning, rowHashes };
  return { count, ...made, report: reader.report() };
}

function placeRows(source: Source, packed: TwoPassReader | undefined): Layout {
  const kdbush = new KDBush(source.count, KD_NODE_SIZE, Float64Array, SharedArrayBuffer);
  const columns = joinColumns(source, kdbush);
  const isOrdered = packed !== undefined && isInKdOrder(kdbush.coords as Float64Array);
  return isOrdered ? keepOrder(packed, columns, kdbush) : sortRows(source, columns, kdbush);
}

/** Native files are read twice, so that they are never in memory twice. */
function isTwoPass(reader: SnapshotReader): reader is TwoPassReader {
  return reader.format === 'native';
}

/** Row formats are parsed once and kept until every record has found its place. */
async function keepBlocks(reader: SnapshotReader): Promise<Source> {
  const blocks: PointBlock[] = [];
  let count = 0;
  for await (const block of reader.blocks()) {
    blocks.push(block);
    count += block.count;
  }
  return { count, columns: () => blocks, records: () => blocks.map((block) => block.records) };
}

interface Columns extends OrderKeys {
  readonly length: Uint32Array;
  /** In the order of the file; undefined where it has no columns of attributes. */
  readonly attributes: AttributeCollector | undefined;
}

/** Puts the coordinates into the tree, unsorted, and the rest into columns. */
function joinColumns(source: Source, kdbush: KDBush): Columns {
  const { count } = source;
  let attributes: AttributeCollector | undefined = new AttributeCollector(count);
  const joined = {
    id: new Float64Array(count),
    createdAt: new Float64Array(count),
    modifiedAt: new Float64Array(count),
    length: new Uint32Array(count),
  };
  let at = 0;
  for (const block of source.columns()) {
    if (at + block.count > count)
      throw new InputError('The blocks have more points than they should.');
    for (let i = 0; i < block.count; i++) kdbush.add(block.lon[i]!, block.lat[i]!);
    joined.id.set(block.id, at);
    joined.createdAt.set(block.createdAt, at);
    joined.modifiedAt.set(block.modifiedAt, at);
    joined.length.set(block.length, at);
    if (block.attributes === undefined) attributes = undefined;
    else attributes?.addColumns(block.attributes, at);
    at += block.count;
  }
  return { ...joined, attributes };
}

/** The file has the order of the tree: records are read straight to their rows. */
function keepOrder(reader: TwoPassReader, columns: Columns, kdbush: KDBush): Layout {
  const { id, createdAt, modifiedAt, length, attributes } = columns;
  return {
    kdbush,
    keys: { id, createdAt, modifiedAt },
    known: attributes,
    readRecords() {
      const records = allocateRecords(length);
      reader.recordsInto((from, to) => stretchOf(records, from, to));
      return records;
    },
  };
}

function sortRows(source: Source, columns: Columns, kdbush: KDBush): Layout {
  kdbush.finish();
  // from here on a row is its place in the tree, and the tree's ids say just that
  const sourceOf = new Uint32Array(kdbush.ids);
  for (let row = 0; row < source.count; row++) kdbush.ids[row] = row;
  return {
    kdbush,
    keys: {
      id: permute(columns.id, sourceOf),
      createdAt: permute(columns.createdAt, sourceOf),
      modifiedAt: permute(columns.modifiedAt, sourceOf),
    },
    readRecords: () => placeRecords(source, columns.length, sourceOf),
  };
}

function permute(column: Float64Array, sourceOf: Uint32Array): Float64Array {
  const permuted = new Float64Array(column.length);
  for (let row = 0; row < permuted.length; row++) permuted[row] = column[sourceOf[row]!]!;
  return permuted;
}

interface Sorter {
  sort(keys: OrderKeys): Promise<Orders>;
  release(): void;
}

/** Starts a thread that sorts keys. The thread starts while the keys are read. */
function startSorter(): Sorter {
  const thread = new Worker(new URL('./orders-thread.js', import.meta.url));
  // a build that fails must not wait for it
  thread.unref();
  return {
    async sort(keys) {
      thread.ref();
      thread.postMessage(
        keys,
        Object.values(keys).map((column) => column.buffer as ArrayBuffer),
      );
      // rejects when the thread dies of an error
      const [orders] = await once(thread, 'message');
      return orders;
    },
    release: () => thread.postMessage(undefined),
  };
}

function placeRecords(source: Source, length: Uint32Array, sourceOf: Uint32Array): Records {
  const lengths = new Uint32Array(length.length);
  const rowOf = new Uint32Array(length.length);
  for (let row = 0; row < lengths.length; row++) {
    lengths[row] = length[sourceOf[row]!]!;
    rowOf[sourceOf[row]!] = row;
  }
  const records = allocateRecords(lengths);
  let next = 0;
  for (const bytes of source.records()) next = putRecords(records, rowOf, length, bytes, next);
  return records;
}
