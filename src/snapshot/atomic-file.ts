import {
  closeSync,
  fchmodSync,
  fsync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { InputError } from '../errors.js';
import { flushFolder } from '../flush-folder.js';
import { targetOf } from '../link-target.js';
import { removeLeftovers, temporaryIn } from './temporary.js';

const flush = promisify(fsync);

const ANYBODY = 0o666;

/**
 * Writes a file so that its name only ever stands for the old content or the whole new one, even
 * through a power cut: `write` fills a temporary file in the same folder, which takes the name once
 * it is on disk. If `write` throws, or `signal` is aborted, the old file stays and the temporary
 * one is removed. Nobody reads the temporary file who may not read the old one. A symbolic link
 * keeps pointing where it does; its target is replaced, or made. What processes that were killed
 * have left in the folder is removed, too.
 *
 * Throws what `write` threw, the reason of `signal`, or an InputError when the folder, its
 * permissions or the disk do not allow it.
 */
export async function writeAtomically<T>(
  path: string,
  write: (fd: number) => T | Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { target, mode } = inspect(path);
  const folder = dirname(target);
  removeLeftovers(folder);
  const temporary = temporaryIn(folder);
  let fd: number;
  try {
    fd = openSync(temporary, 'wx', mode ?? ANYBODY);
  } catch (error) {
    throw unwritable(path, folder, error);
  }
  let open = true;
  try {
    const result = await write(fd);
    signal?.throwIfAborted();
    try {
      // the process's umask may have taken some away
      if (mode !== undefined) fchmodSync(fd, mode);
      await flush(fd);
      // the descriptor is gone even where closing it tells of an error
      open = false;
      closeSync(fd);
      signal?.throwIfAborted();
      renameSync(temporary, target);
      flushFolder(folder);
    } catch (error) {
      throw unwritable(path, folder, error);
    }
    return result;
  } catch (error) {
    if (open) closeSync(fd);
    rmSync(temporary, { force: true });
    // what `write` read may have failed as well: only a failed write is ours to explain
    throw (error as NodeJS.ErrnoException).syscall === 'write'
      ? unwritable(path, folder, error)
      : error;
  }
}

/** What the name stands for now: the file to replace, and its permissions if there is one. */
function inspect(path: string): { target: string; mode: number | undefined } {
  const target = replacedFile(path);
  let stat: Stats;
  try {
    stat = statSync(target);
  } catch {
    return { target, mode: undefined };
  }
  if (stat.isDirectory()) throw new InputError(`${path}: cannot be written: it is a folder`);
  if (!stat.isFile()) throw new InputError(`${path}: cannot be written: it is no regular file`);
  return { target, mode: stat.mode & 0o777 };
}

/** The file that a name stands for. Throws an InputError where its links lead nowhere. */
export function replacedFile(path: string): string {
  try {
    return targetOf(path);
  } catch (error) {
    throw unwritable(path, dirname(path), error);
  }
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
