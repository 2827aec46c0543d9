import type { BodyMemory } from '../formats/format.js';

/** Buffers come in multiples of this size, so that pages of about the same size share them. */
const STEP = 16 * 1024;
/** Larger ones are rare, and not kept. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Idle memory beyond this is left to the garbage collector. */
const MOST_IDLE_BYTES = 16 * 1024 * 1024;

/**
 * Memory that pages are written to, used again once a page is sent. Fresh memory would be cold for
 * every page, and each 64 MB of it would make V8 look for garbage in the whole heap.
 */
export function createPageBuffers(): BodyMemory {
  const idle: ArrayBuffer[][] = Array.from({ length: MOST_BYTES / STEP + 1 }, () => []);
  let idleBytes = 0;
  return {
    take(bytes) {
      const steps = Math.ceil(bytes / STEP);
      // the last one given back is the likeliest to be in the processor's cache
      const memory = idle[steps]?.pop();
      if (memory === undefined) return Buffer.from(new ArrayBuffer(steps * STEP), 0, bytes);
      idleBytes -= memory.byteLength;
      return Buffer.from(memory, 0, bytes);
    },
    give({ buffer }) {
      const { byteLength } = buffer;
      if (byteLength > MOST_BYTES || idleBytes + byteLength > MOST_IDLE_BYTES) return;
      idle[byteLength / STEP]!.push(buffer);
      idleBytes += byteLength;
    },
  };
}
