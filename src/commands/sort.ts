import { countPoints, startProgress } from '../progress.js';
import { sortNative } from '../snapshot/native/sort.js';
import type { NativeTotals } from '../snapshot/native/write.js';

/** Sorts a finished native file as {@link sortNative} does, under a progress bar of its own. */
export async function sortWithProgress(
  fd: number,
  path: string,
  openScratch: () => number,
  {
    progressTo,
    signal,
  }: {
    readonly progressTo?: NodeJS.WriteStream | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<NativeTotals | undefined> {
  const bar = startProgress('Sorting', progressTo, countPoints);
  try {
    return await sortNative(fd, path, openScratch, { onProgress: bar.update, signal });
  } finally {
    bar.stop();
  }
}
