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
