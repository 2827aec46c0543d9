import {
  closeSync,
  fdatasync,
  fsync,
  ftruncate,
  openSync,
  renameSync,
  rmSync,
  write,
} from 'node:fs';
import { promisify } from 'node:util';
import { flushFolder } from '../../flush-folder.js';

/**
 * What a journal asks of the file system. Tests put an implementation of their own between, which
 * writes down what is asked, or fails.
 */
export interface Disk {
  /** Opens a file to read and write: `r+` one that is there, `w+` an empty one. */
  open(path: string, flags: 'r+' | 'w+', mode?: number): number;
  close(fd: number): void;
  /** Writes all of the bytes from `position` on. */
  write(fd: number, bytes: Uint8Array, position: number): Promise<void>;
  /** Resolves when what was written can be read after a power cut. */
  syncData(fd: number): Promise<void>;
  /** The same for the size of the file, where that became smaller, and for all else about it. */
  sync(fd: number): Promise<void>;
  truncate(fd: number, size: number): Promise<void>;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Has the names in a folder survive a power cut. */
  syncFolder(path: string): void;
}

const writeSome = promisify(write);

export const DISK: Disk = {
  open: (path, flags, mode) => openSync(path, flags, mode),
  close: closeSync,
  async write(fd, bytes, position) {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await writeSome(
        fd,
        bytes,
        done,
        bytes.length - done,
        position + done,
      );
      done += bytesWritten;
    }
  },
  syncData: promisify(fdatasync),
  sync: promisify(fsync),
  truncate: promisify(ftruncate),
  rename: renameSync,
  remove: (path) => rmSync(path, { force: true }),
  syncFolder: flushFolder,
};

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EISDIR: 'it is a folder',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than is allowed',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

/** Why the system refused something, for people. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code === undefined ? undefined : REASONS[code]) ?? message;
}
