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

/**
 * V8 begins to look for garbage when as much memory was taken outside of its heap; 64 MB would do.
 */
const ENOUGH_BYTES = 128 * 1024 * 1024;

/**
 * Has the memory of generations that nobody refers to any more given back, within a second or so.
 * What threads share goes when the last of them has collected its garbage, and V8 does not know
 * that anything hangs on it: left to itself it may take hours, and several generations would pile
 * up. So it is given a reason to look, and does so bit by bit. A collection on demand would stop
 * the thread for 15 to 30 ms.
 */
export function reclaimMemory(): void {
  // never written to, so that the system never hands it out
  void new ArrayBuffer(ENOUGH_BYTES);
}
