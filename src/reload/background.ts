import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/** Nice value of a thread that builds while others serve: requests go first. */
const BACKGROUND_PRIORITY = 10;

/** Lowers the priority of this thread, on Linux, where a thread's number counts as a process's. */
export function stepBack(priority: number = BACKGROUND_PRIORITY): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), priority);
  } catch {
    // no such folder, or not allowed: answers are slower during a reload
  }
}

/** V8 collects garbage once this much memory was taken outside of its heap; 64 MB would do. */
const ENOUGH_BYTES = 128 * 1024 * 1024;
/** When a thread that had much to do may rest. */
const REST_MS = 10_000;

let later: NodeJS.Timeout | undefined;

/**
 * Makes V8 collect garbage within a second or so: it does not count shared memory, and left alone
 * may keep old generations for hours. A collection on demand would stop the thread for 15 to 30 ms.
 * In a thread that rests another one, later, frees the room for young objects, some 20 MB.
 */
export function reclaimMemory(): void {
  collect();
  clearTimeout(later);
  later = setTimeout(collect, REST_MS).unref();
}

function collect(): void {
  // never written to, so that the system gives it no pages
  void new ArrayBuffer(ENOUGH_BYTES);
}
