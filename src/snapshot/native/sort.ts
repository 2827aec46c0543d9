import { ftruncateSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import KDBush from 'kdbush';
import { MAX_BLOCK_POINTS, type PointBlock } from '../block.js';
import { isInKdOrder, KD_NODE_SIZE } from '../kd-order.js';
import type { Progress } from '../snapshot.js';
import { type BlockSize, BlockSpool } from './block-spool.js';
import { MAX_RECORDS_SIZE } from './format.js';
import { FrameFile } from './frame-file.js';
import { type NativeReader, readNative } from './read.js';
import { type NativeTotals, NativeWriter } from './write.js';

/** Files of more points keep their order: sorting takes some 24 bytes of memory for each. */
export const MAX_SORTED_POINTS: number = 2 ** 24;

export interface SortOptions {
  readonly maxPoints?: number;
  readonly onProgress?: Progress;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Puts the points of a finished native file into the order of the kd-tree, in place, for loads that need
 * not sort. `fd` is open for reading and writing and stays the caller's; `path` names the file in errors.
 * `openScratch` opens an empty file that takes as much room again. Returns what the file holds now, or
 * undefined when it stays as it is, because it has this order already or too many points.
 *
 * File system errors pass through as they are, and leave the file broken, as an aborted `signal` does.
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
  const plan = await planBlocks(reader, breathe);
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
  const writer = new NativeWriter(fd, reader.origin);
  for (const block of spool.blocks()) {
    writer.write(block);
    await advance(block);
  }
  writer.writeNotifications(notifications);
  return writer.finish(createdAt);
}

interface Plan {
  readonly blocks: readonly BlockSize[];
  /** The block that each point of the file goes to, and its place there. */
  readonly blockOf: Uint32Array;
  readonly placeOf: Uint32Array;
}

/** Undefined when the points are in order. Sorting is one step of seconds for millions of points. */
async function planBlocks(
  reader: NativeReader,
  breathe: () => Promise<void>,
): Promise<Plan | undefined> {
  const { count } = reader;
  const kdbush = new KDBush(count, KD_NODE_SIZE);
  const length = new Uint32Array(count);
  let at = 0;
  for (const block of reader.columns()) {
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
  return { blocks, blockOf, placeOf };
}
