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
import { type Calls, type Offer, startThread } from '../model/calls.js';
import { release, sharedArray } from '../model/memory.js';
import { InputError } from '../model/quote.js';
import { AttributeCollector, collectAttributes } from './attribute-collector.js';
import { cutBlocks } from './blocks.js';
import type { DatasetParts } from './dataset.js';
import { keysByRow, renameRows } from './order.js';
import { buildOrders, type OrderKeys, type Orders, refuseRepeatedIds } from './orders.js';
import { allocateRecords, placeRecords, stretchOf, thinningOf } from './records.js';

/** Starting a thread takes some 40 ms of CPU: sorting fewer points is quicker. */
const MIN_PARALLEL_POINTS = 16_384;

const OFFERED = { buildOrders, collectAttributes };

/** What a second thread does while the first one places records. */
export const offer = (): Offer => [OFFERED];

type SecondThread = Calls<typeof OFFERED> | undefined;

interface Layout extends Pick<DatasetParts, 'records' | 'attributes'> {
  readonly kdbush: KDBush;
  readonly orders: Orders;
}

/**
 * Reads a snapshot to its end and lays it out: rows in kd-tree order, columns and records in shared
 * memory. Takes seconds for large files; with `inParallel` a second thread helps. Throws an
 * InputError where the file is broken. Leaves the reader open.
 */
export async function buildDataset(
  reader: SnapshotReader,
  { inParallel = false }: { readonly inParallel?: boolean } = {},
): Promise<DatasetParts> {
  // native files are read in two passes, so that they are never in memory twice
  const packed = reader.format === 'native' ? (reader as TwoPassReader) : undefined;
  const rows = packed === undefined ? await blocksOf(reader) : [];
  const count = packed?.count ?? rows.reduce((sum, block) => sum + block.count, 0);
  const second =
    inParallel && count >= MIN_PARALLEL_POINTS
      ? startThread<typeof OFFERED>('sort', import.meta.url, undefined, memoryOf)
      : undefined;
  try {
    const placed = packed && (await placeInOrder(packed, second?.calls));
    const blocks = packed === undefined || placed !== undefined ? rows : await blocksOf(packed);
    const { kdbush, orders, ...rest } = placed ?? (await sortRows(blocks, count, second?.calls));
    refuseRepeatedIds(orders.byId);
    const coords = kdbush.coords as Float64Array;
    const tree = { coords, ids: kdbush.ids, treeEnds: count > 0 ? [count] : [] };
    const thinning = thinningOf(keysByRow(orders.byId));
    const made = { ...tree, blocks: cutBlocks(coords), ...orders, ...rest, thinning };
    return { count, ...made, report: reader.report() };
  } finally {
    await second?.thread.terminate();
  }
}

function memoryOf(_: string, [given]: [OrderKeys | readonly AttributeColumns[]]): ArrayBuffer[] {
  const all = Array.isArray(given) ? given : [given];
  return all
    .flatMap((columns) => Object.values(columns))
    .filter((column) => ArrayBuffer.isView(column))
    .map(({ buffer }) => buffer as ArrayBuffer);
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
async function placeInOrder(
  reader: TwoPassReader,
  second: SecondThread,
): Promise<Layout | undefined> {
  const kdbush = createTree(reader.count);
  const collector = new AttributeCollector(reader.count);
  const { length, ...keys } = joinColumns(reader.columns(), reader.count, kdbush, collector);
  if (!isInKdOrder(kdbush.coords as Float64Array)) return undefined;
  const orders = await begun(second?.call('buildOrders', keys) ?? buildOrders(keys));
  const records = allocateRecords(length);
  release(length);
  // before the records: their memory would come on top
  const attributes = collector.finish();
  reader.recordsInto((from, to) => stretchOf(records, from, to));
  return { kdbush, orders: await orders.result, attributes, records };
}

/**
 * Waits until a call is on its way, which is at the end of the turn; its result comes later. Nobody
 * awaits that where something else fails first.
 */
async function begun<T>(call: T | Promise<T>): Promise<{ readonly result: Promise<T> }> {
  const result = Promise.resolve(call);
  result.catch(() => {});
  await turn();
  return { result };
}

function createTree(count: number): KDBush {
  return new KDBush(count, KD_NODE_SIZE, Float64Array, SharedArrayBuffer);
}

async function sortRows(
  blocks: readonly CompleteBlock[],
  count: number,
  second: SecondThread,
): Promise<Layout> {
  const kdbush = createTree(count);
  const { length, ...keys } = joinColumns(blocks, count, kdbush);
  for (const block of blocks) release(...COLUMN_NAMES.map((name) => block[name]));
  // by the points' places in the file: the tree is still to be sorted
  const sorting = await begun(second?.call('buildOrders', keys) ?? buildOrders(keys));
  kdbush.finish();
  // from here on a row is its place in the tree
  const rowOf = sharedArray(Uint32Array, count);
  for (let row = 0; row < count; row++) {
    rowOf[kdbush.ids[row]!] = row;
    kdbush.ids[row] = row;
  }
  const columns = blocks.map(({ attributes }) => attributes);
  const collecting = await begun(
    second?.call('collectAttributes', columns, rowOf) ?? collectAttributes(columns, rowOf),
  );
  const records = placeRecords(blocks, length, rowOf);
  const orders = await sorting.result;
  const { byId, byCreatedAt, byModifiedAt } = orders;
  for (const order of [byId, byCreatedAt, byModifiedAt]) renameRows(order, rowOf);
  return { kdbush, orders, records, attributes: await collecting.result };
}
