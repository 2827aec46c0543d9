import { writeSync } from 'node:fs';

/**
 * Writes all of the bytes, where the system may take only some at a time: from `position` of the
 * file, or behind what was written last where there is none.
 */
export function writeAll(fd: number, bytes: Uint8Array, position?: number): void {
  let done = 0;
  while (done < bytes.length) {
    const at = position === undefined ? null : position + done;
    done += writeSync(fd, bytes, done, bytes.length - done, at);
  }
}
