import { type Offer, startThread } from '../../model/calls.js';
import type { Notification } from '../../model/notification.js';
import { memoryOfBlock, type PointBlock } from '../block.js';
import { writeAll } from '../system-files.js';
import type { Labels } from './encode.js';
import { type NativeTotals, NativeWriter } from './write.js';

/** Takes the next bytes of a file or a stream, which stay as they are. */
export interface Output {
  put(bytes: Uint8Array): Promise<void>;
  /** The file, where it is one: a thread may write to it instead. */
  readonly fd?: number;
}

/** Fewer are written before a thread has started. */
const MIN_THREAD_POINTS = 65_536;

/**
 * Writes blocks and notifications as {@link NativeWriter} does. Large files are written by a thread,
 * each block while the next one is made: its memory is gone then. Throws what the blocks and the
 * writer throw.
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
      // the next block may fail first
      written.catch(() => {});
    }
    await written;
    return await calls.call('finish', notifications);
  } finally {
    await thread.terminate();
  }
}

type Writing = ReturnType<typeof writingTo>;

/** What the thread does, of which each file has its own. */
function writingTo(fd: number, labels: Labels) {
  const writer = new NativeWriter((bytes) => writeAll(fd, bytes), labels);
  return {
    write: (block: PointBlock): void => writer.write(block),
    finish: (notifications: readonly Notification[]): NativeTotals => writer.finish(notifications),
  };
}

export const offer = (given: Parameters<typeof writingTo>): Offer => [writingTo(...given)];
