import { countPoints, startProgress } from '../progress.js';
import type { PointBlock } from '../snapshot/block.js';
import { sortBlocks, sortNative } from '../snapshot/native/sort.js';
import type { NativeTotals } from '../snapshot/native/write.js';

interface Surroundings {
  readonly progressTo?: NodeJS.WriteStream | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sorts a finished native file as {@link sortNative} does, under a progress bar of its own. */
export async function sortWithProgress(
  fd: number,
  path: string,
  openScratch: () => number,
  { progressTo, signal }: Surroundings,
): Promise<NativeTotals | undefined> {
  const bar = startProgress('Sorting', progressTo, countPoints);
  try {
    return await sortNative(fd, path, openScratch, { onProgress: bar.update, signal });
  } finally {
    bar.stop();
  }
}

/** Sorts blocks as {@link sortBlocks} does, likewise. */
export async function* sortBlocksWithProgress(
  blocks: readonly PointBlock[],
  { progressTo, signal }: Surroundings,
): AsyncGenerator<PointBlock, void, undefined> {
  const bar = startProgress('Sorting', progressTo, countPoints);
  try {
    yield* sortBlocks(blocks, { onProgress: bar.update, signal });
  } finally {
    bar.stop();
  }
}
