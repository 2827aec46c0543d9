import { Worker } from 'node:worker_threads';
import { Calls } from '../../model/calls.js';
import type { Notification } from '../../model/notification.js';
import { memoryOfBlock, type PointBlock } from '../block.js';
import type { Labels } from './encode.js';
import { type NativeTotals, NativeWriter } from './write.js';
import type { Writing } from './write-thread.js';

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
      // the next block may fail first
      written.catch(() => {});
    }
    await written;
    return await calls.call('finish', notifications);
  } finally {
    await thread.terminate();
  }
}
