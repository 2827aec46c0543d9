import { Worker } from 'node:worker_threads';
import { Calls } from '../../model/calls.js';
import type { Notification } from '../../model/notification.js';
import { memoryOfBlock, type PointBlock } from '../block.js';
import type { Labels } from './encode.js';
import { type NativeTotals, NativeWriter } from './write.js';
import type { Writing } from './write-thread.js';

/** Fewer are written before a thread has started. */
const MIN_THREAD_POINTS = 65_536;

/**
 * Writes blocks and notifications as {@link NativeWriter} does, each block while the next is made:
 * their memory is gone then. Throws what the blocks and the writer throw.
 */
export async function writeBlocks(
  fd: number,
  labels: Labels,
  blocks: AsyncIterable<PointBlock>,
  notifications: readonly Notification[],
): Promise<NativeTotals> {
  if (labels.count < MIN_THREAD_POINTS) {
    const writer = new NativeWriter(fd, labels);
    for await (const block of blocks) writer.write(block);
    return writer.finish(notifications);
  }
  const thread = new Worker(new URL('./write-thread.js', import.meta.url));
  const calls = new Calls<Writing>(thread, {}, (name, [block]: [PointBlock]) =>
    name === 'write' ? memoryOfBlock(block) : [],
  );
  thread.on('error', (error) => calls.fail(error));
  try {
    let written: Promise<unknown> = calls.call('begin', fd, labels);
    for await (const block of blocks) {
      await written;
      written = calls.call('write', block);
      // whoever makes the blocks may fail first
      written.catch(() => {});
    }
    await written;
    return await calls.call('finish', notifications);
  } finally {
    await thread.terminate();
  }
}
