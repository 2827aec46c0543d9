import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/** Nice value of a thread that builds while others serve: requests go first. */
const BACKGROUND_PRIORITY = 10;

/**
 * Lowers the priority of this thread alone: Linux takes a thread's number for a process's.
 * Elsewhere it stays as it is.
 */
export function stepBack(priority: number = BACKGROUND_PRIORITY): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), priority);
  } catch {
    // no such folder, or not allowed: slower answers during a reload, nothing worse
  }
}
