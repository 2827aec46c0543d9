import { countPoints, startProgress } from '../progress.js';
import type { PointBlock } from '../snapshot/block.js';
import { sortBlocks } from '../snapshot/native/sort.js';
import type { NativeWriter } from '../snapshot/native/write.js';

interface Surroundings {
  readonly progressTo?: NodeJS.WriteStream | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Writes blocks sorted for loading, under a progress bar of its own. */
export async function writeSorted(
  writer: NativeWriter,
  blocks: readonly PointBlock[],
  { progressTo, signal }: Surroundings,
): Promise<void> {
  const bar = startProgress('Sorting', progressTo, countPoints);
  try {
    const sorted = sortBlocks(blocks, { onProgress: bar.update, signal });
    for await (const block of sorted) writer.write(block);
  } finally {
    bar.stop();
  }
}
