import { writeSync } from 'node:fs';
import { InputError } from '../model/quote.js';

/** The error for a file that the system does not let us read. */
export function unreadable(path: string, error: unknown): InputError {
  const { code, message } = error as NodeJS.ErrnoException;
  let reason = message;
  if (code === 'ENOENT') reason = 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') reason = 'no permission';
  return new InputError(`${path}: cannot be read: ${reason}`, { cause: error });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no folder',
  ENOTDIR: 'there is no folder',
  EACCES: 'no permission to write into the folder',
  EPERM: 'no permission to write into the folder',
  EROFS: 'the file system is read-only at the folder',
  ENOSPC: 'the disk is full at the folder',
  EDQUOT: 'the disk quota is used up at the folder',
  EFBIG: 'the file would be larger than is allowed in the folder',
  ENAMETOOLONG: 'the name is too long for the folder',
};

/**
 * The error for a file that the system does not let us write; `error` itself where it is none of
 * the system's.
 */
export function unwritable(path: string, folder: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || !(error instanceof Error) || !('syscall' in error)) return error;
  const known = REASONS[code];
  const reason = known === undefined ? message : `${known} ${folder}`;
  return new InputError(`${path}: cannot be written: ${reason}`, { cause: error });
}

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
