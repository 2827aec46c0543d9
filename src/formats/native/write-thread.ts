import { parentPort } from 'node:worker_threads';
import { Calls } from '../../model/calls.js';
import type { Notification } from '../../model/notification.js';
import type { PointBlock } from '../block.js';
import { writeAll } from '../system-files.js';
import type { Labels } from './encode.js';
import { type NativeTotals, NativeWriter } from './write.js';

// entry of a thread that writes a native snapshot to a file

let writer: NativeWriter;

const writing = {
  begin(fd: number, labels: Labels): void {
    writer = new NativeWriter((bytes) => writeAll(fd, bytes), labels);
  },
  write: (block: PointBlock): void => writer.write(block),
  finish: (notifications: readonly Notification[]): NativeTotals => writer.finish(notifications),
};

export type Writing = typeof writing;

new Calls(parentPort!, writing);
