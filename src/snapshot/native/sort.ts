import { ftruncateSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import KDBush from 'kdbush';
import { type ColumnBlock, MAX_BLOCK_POINTS, type PointBlock } from '../block.js';
import { isInKdOrder, KD_NODE_SIZE } from '../kd-order.js';
import type { Progress } from '../snapshot.js';
import { type BlockSize, BlockSpool } from './block-spool.js';
import { allocateColumns } from './decode.js';
import { MAX_RECORDS_SIZE } from './format.js';
import { FrameFile } from './frame-file.js';
import { readNative } from './read.js';
import { type NativeTotals, NativeWriter } from './write.js';

/** Files of more points keep their order: sorting takes some 24 bytes of memory for each. */
export const MAX_SORTED_POINTS: number = 2 ** 24;

export interface SortOptions {
  readonly maxPoints?: number;
  readonly onProgress?: Progress;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Puts the points of a finished native file into the order of the kd-tree, in place, for loads that
 * need not sort. `fd` is open for reading and writing and stays the caller's; `path` names the file
 * in errors. `openScratch` opens an empty file that takes as much room again. Returns what the file
 * holds now, or undefined when it stays as it is, because it has this order already or too many
 * points.
 *
 * File system errors pass through as they are, and leave the file broken, as an aborted `signal`
 * does.
 */
export async function sortNative(
  fd: number,
  path: string,
  openScratch: () => number,
  { maxPoints = MAX_SORTED_POINTS, onProgress = () => {}, signal }: SortOptions = {},
): Promise<NativeTotals | undefined> {
  const reader = readNative(new FrameFile(path, fd), {});
  if (reader.count > maxPoints) return undefined;
  const breathe = async (): Promise<void> => {
    await turn();
    signal?.throwIfAborted();
  };
  const plan = await planBlocks(reader.count, reader.columns(), breathe);
  if (plan === undefined) return undefined;

  const spool = new BlockSpool(openScratch(), plan.blocks);
  let done = 0;
  const advance = async ({ count }: PointBlock): Promise<void> => {
    done += count;
    // each point is moved twice
    onProgress(done / 2, reader.count);
    await breathe();
  };
  let source = 0;
  for await (const block of reader.blocks()) {
    const end = source + block.count;
    spool.add(block, plan.blockOf.subarray(source, end), plan.placeOf.subarray(source, end));
    source = end;
    await advance(block);
  }
  const { notifications, createdAt } = reader.report();

  ftruncateSync(fd);
  const writer = new NativeWriter(fd, reader.origin, reader.watermark);
  for (const block of spool.blocks()) {
    writer.write(block);
    await advance(block);
  }
  writer.writeNotifications(notifications);
  return writer.finish(createdAt);
}

/**
 * The same order for blocks that are held in memory: yields them sorted, or as they are where they
 * need not or cannot be sorted. Holds one block more.
 */
export async function* sortBlocks(
  blocks: readonly PointBlock[],
  { maxPoints = MAX_SORTED_POINTS, onProgress = () => {}, signal }: SortOptions = {},
): AsyncGenerator<PointBlock, void, undefined> {
  const count = blocks.reduce((sum, block) => sum + block.count, 0);
  const breathe = async (): Promise<void> => {
    await turn();
    signal?.throwIfAborted();
  };
  const plan = count > maxPoints ? undefined : await planBlocks(count, blocks, breathe);
  if (plan === undefined) {
    yield* blocks;
    return;
  }
  const places = placesIn(blocks, count);
  let row = 0;
  for (const size of plan.blocks) {
    const end = row + size.count;
    yield gather(blocks, places, plan.ids.subarray(row, end), size);
    row = end;
    onProgress(row, count);
    await breathe();
  }
}

/**
 * Where each point of some blocks lies: its block, its number there, and where its record begins.
 */
interface Places {
  readonly block: Uint32Array;
  readonly index: Uint32Array;
  readonly start: Uint32Array;
}

function placesIn(blocks: readonly PointBlock[], count: number): Places {
  const places = {
    block: new Uint32Array(count),
    index: new Uint32Array(count),
    start: new Uint32Array(count),
  };
  let point = 0;
  for (const [number, { count: points, length }] of blocks.entries()) {
    let start = 0;
    for (let i = 0; i < points; i++) {
      places.block[point] = number;
      places.index[point] = i;
      places.start[point] = start;
      start += length[i]!;
      point++;
    }
  }
  return places;
}

/** A block of these points, in this order. */
function gather(
  blocks: readonly PointBlock[],
  places: Places,
  ids: Uint16Array | Uint32Array,
  { count, size }: BlockSize,
): PointBlock {
  const gathered = { ...allocateColumns(count), records: Buffer.allocUnsafeSlow(size) };
  let end = 0;
  for (let i = 0; i < count; i++) {
    const id = ids[i]!;
    const from = blocks[places.block[id]!]!;
    const index = places.index[id]!;
    const start = places.start[id]!;
    const length = from.length[index]!;
    gathered.id[i] = from.id[index]!;
    gathered.lat[i] = from.lat[index]!;
    gathered.lon[i] = from.lon[index]!;
    gathered.createdAt[i] = from.createdAt[index]!;
    gathered.modifiedAt[i] = from.modifiedAt[index]!;
    gathered.length[i] = length;
    gathered.records.set(from.records.subarray(start, start + length), end);
    end += length;
  }
  return gathered;
}

/** The points in another order: what each place gets. */
interface Plan {
  /** The point of the input at each place of the output. */
  readonly ids: Uint16Array | Uint32Array;
  readonly blocks: readonly BlockSize[];
  /** The block that each point of the file goes to, and its place there. */
  readonly blockOf: Uint32Array;
  readonly placeOf: Uint32Array;
}

/**
 * Undefined when the points are in order. Sorting is one step of seconds for millions of points.
 */
async function planBlocks(
  count: number,
  columns: Iterable<ColumnBlock>,
  breathe: () => Promise<void>,
): Promise<Plan | undefined> {
  const kdbush = new KDBush(count, KD_NODE_SIZE);
  const length = new Uint32Array(count);
  let at = 0;
  for (const block of columns) {
    for (let i = 0; i < block.count; i++) kdbush.add(block.lon[i]!, block.lat[i]!);
    length.set(block.length, at);
    at += block.count;
    await breathe();
  }
  if (isInKdOrder(kdbush.coords as Float64Array)) return undefined;
  const { ids } = kdbush.finish();

  const blocks: { count: number; size: number }[] = [];
  const blockOf = new Uint32Array(count);
  const placeOf = new Uint32Array(count);
  let block = { count: MAX_BLOCK_POINTS, size: 0 };
  for (let row = 0; row < count; row++) {
    const source = ids[row]!;
    const bytes = length[source]!;
    if (block.count === MAX_BLOCK_POINTS || block.size + bytes > MAX_RECORDS_SIZE) {
      block = { count: 0, size: 0 };
      blocks.push(block);
    }
    blockOf[source] = blocks.length - 1;
    placeOf[source] = block.count++;
    block.size += bytes;
  }
  return { ids, blocks, blockOf, placeOf };
}
