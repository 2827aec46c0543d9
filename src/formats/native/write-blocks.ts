import { type Offer, startThread } from '../../model/calls.js';
import type { Notification } from '../../model/notification.js';
import { memoryOfBlock, type PointBlock } from '../block.js';
import { writeAll } from '../system-files.js';
import type { Labels } from './encode.js';
import { type NativeTotals, NativeWriter } from './write.js';

/** A file or stream; the bytes that it is given must stay as they are. */
export interface Output {
  put(bytes: Uint8Array): Promise<void>;
  /** The file's descriptor, to which a thread may write instead. */
  readonly fd?: number;
}

/** Fewer points are written before a thread has started. */
const MIN_THREAD_POINTS = 65_536;

/**
 * Writes a native file; throws what the blocks and {@link NativeWriter} throw. A thread writes
 * large files, each block while the next one is made; the memory of a block is transferred to it.
 */
export async function writeBlocks(
  { put, fd }: Output,
  labels: Labels,
  blocks: AsyncIterable<PointBlock>,
  notifications: readonly Notification[],
): Promise<NativeTotals> {
  if (fd === undefined || labels.count < MIN_THREAD_POINTS) {
    const parts: Uint8Array[] = [];
    const writer = new NativeWriter((bytes) => parts.push(bytes), labels);
    for await (const block of blocks) {
      writer.write(block);
      for (const bytes of parts.splice(0)) await put(bytes);
    }
    const totals = writer.finish(notifications);
    for (const bytes of parts) await put(bytes);
    return totals;
  }
  const memoryOf = (name: string, [block]: [PointBlock]): ArrayBuffer[] =>
    name === 'write' ? memoryOfBlock(block) : [];
  const { thread, calls } = startThread<Writing>(
    'write',
    import.meta.url,
    [fd, labels] satisfies Parameters<typeof writingTo>,
    memoryOf,
  );
  try {
    let written = Promise.resolve();
    for await (const block of blocks) {
      await written;
      written = calls.call('write', block);
      // nobody awaits it where the next block fails first
      written.catch(() => {});
    }
    await written;
    return await calls.call('finish', notifications);
  } finally {
    await thread.terminate();
  }
}

type Writing = ReturnType<typeof writingTo>;

/** The functions of the thread, one for each file. */
function writingTo(fd: number, labels: Labels) {
  const writer = new NativeWriter((bytes) => writeAll(fd, bytes), labels);
  return {
    write: (block: PointBlock): void => writer.write(block),
    finish: (notifications: readonly Notification[]): NativeTotals => writer.finish(notifications),
  };
}

export const offer = (given: Parameters<typeof writingTo>): Offer => [writingTo(...given)];
