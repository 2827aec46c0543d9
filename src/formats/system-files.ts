import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InputError } from '../model/quote.js';

export function unreadable(path: string, error: unknown): InputError {
  const { code, message } = error as NodeJS.ErrnoException;
  let reason = message;
  if (code === 'ENOENT') reason = 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') reason = 'no permission';
  if (code === 'EISDIR') reason = 'it is a folder';
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

/** An InputError for an error of the system; any other error as it is. */
export function unwritable(path: string, folder: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || !(error instanceof Error) || !('syscall' in error)) return error;
  const known = REASONS[code];
  // the folder above is not what a path that names a folder lacks
  const reason = known === undefined ? message : `${known} ${path.endsWith('/') ? path : folder}`;
  return new InputError(`${path}: cannot be written: ${reason}`, { cause: error });
}

/** The rights of files that are for nobody else. */
export const OWNER_ONLY = 0o600;

/** Differs whenever a file was written, replaced or its permissions changed. */
export function marksOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

/** Writes all bytes, of which the system may take some at a time. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

const NAME = /^\.waypost-[0-9a-f-]+\.tmp$/;
/** The name of a temporary file that only its process uses has the process's number. */
const OWNED = /^\.waypost-(\d+)-[0-9a-f]{16}\.tmp/;
/** Milliseconds after which a temporary file is abandoned. */
const ABANDONED_AFTER = 24 * 60 * 60 * 1000;

/**
 * A hidden name, so that nobody who watches the folder takes the file for a snapshot. With
 * `isOwned` the file may be removed once this process has ended.
 */
export function temporaryIn(folder: string, isOwned = false): string {
  const owner = isOwned ? `${process.pid}-` : '';
  return join(folder, `.waypost-${owner}${randomBytes(8).toString('hex')}.tmp`);
}

/**
 * Removes temporary files of killed processes: those whose owner has ended, and those without one
 * that nothing was written to for a day. Must be called before this process makes owned ones in the
 * folder.
 */
export function removeLeftovers(folder: string): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // writing into the folder will tell
    return;
  }
  for (const name of names) {
    if (!NAME.test(name)) continue;
    try {
      const path = join(folder, name);
      const stats = lstatSync(path);
      const owner = OWNED.exec(name)?.[1];
      const isOld = stats.mtimeMs < Date.now() - ABANDONED_AFTER;
      const isLeft = owner === undefined ? isOld : hasEnded(Number(owner));
      if (isLeft && stats.isFile()) unlinkSync(path);
    } catch {
      // the file is gone, or somebody else's
    }
  }
}

/** Own files are of an earlier process: in a container the next one may have the same number. */
function hasEnded(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/**
 * Writes a file so that its name stands for the old content or the whole new one, even through a
 * power cut: `write` fills a temporary file in the same folder, which takes the name once it is on
 * disk. Where `write` throws or `signal` is aborted, the old file stays. The new file, from the
 * start, has the permissions of the old one and, where the system allows it, its owner. A symbolic
 * link stays; its target is replaced or made. Leftovers of killed processes are removed.
 *
 * Throws what `write` threw, the reason of `signal`, or an InputError where the folder, its
 * permissions or the disk do not allow it, or a database would be lost.
 */
export async function writeAtomically<T>(
  path: string,
  write: (fd: number) => T | Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { target, old } = inspect(path);
  const folder = dirname(target);
  removeLeftovers(folder);
  const temporary = temporaryIn(folder);
  const file = await open(temporary, 'wx', old && old.mode & 0o777).catch((error) => {
    throw unwritable(path, folder, error);
  });
  try {
    const result = await write(file.fd);
    signal?.throwIfAborted();
    try {
      if (old !== undefined) keepRights(temporary, old);
      await file.sync();
      await file.close();
      signal?.throwIfAborted();
      renameSync(temporary, target);
      flushFolder(folder);
    } catch (error) {
      throw unwritable(path, folder, error);
    }
    return result;
  } catch (error) {
    // of no effect where it is closed already
    await file.close();
    rmSync(temporary, { force: true });
    // what `write` reads may fail, too: only a failed write is explained
    throw (error as NodeJS.ErrnoException).syscall === 'write'
      ? unwritable(path, folder, error)
      : error;
  }
}

/** The file that the name stands for, and the old one, if there is one. */
function inspect(path: string): { target: string; old: Stats | undefined } {
  const target = replacedFile(path);
  let old: Stats;
  try {
    // a link to a pipe, as /dev/stdout may be, has no target with a name
    old = statSync(path);
  } catch {
    return { target, old: undefined };
  }
  if (old.isDirectory()) throw new InputError(`${path}: cannot be written: it is a folder`);
  if (!old.isFile()) throw new InputError(`${path}: cannot be written: it is no regular file`);
  if (isDatabase(target)) {
    const what = 'it is a SQLite database, such as a journal of accepted points';
    throw new InputError(`${path}: cannot be written: ${what}: name another file, or remove it`);
  }
  return { target, old };
}

export const DATABASE_MARK = 'SQLite format 3\0';

function isDatabase(path: string): boolean {
  try {
    return beginningOf(path) === DATABASE_MARK;
  } catch {
    return false;
  }
}

/** The first bytes of a file, as many as {@link DATABASE_MARK}, a character a byte. */
export function beginningOf(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(DATABASE_MARK.length);
    return bytes.toString('latin1', 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}

/** Gives a file the permissions of another and, where the system allows it, its owner. */
export function keepRights(path: string, { mode, uid, gid }: Stats): void {
  // the umask may have taken some away
  chmodSync(path, mode & 0o777);
  try {
    chownSync(path, uid, gid);
  } catch {
    // only root gives files away
  }
}

/** {@link targetOf}, but throws an InputError. */
export function replacedFile(path: string): string {
  try {
    return targetOf(path);
  } catch (error) {
    throw unwritable(path, dirname(path), error);
  }
}

/** Waits until names that were made, renamed or removed in a folder are on disk. */
export function flushFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** {@link flushFolder}, while this thread does other things. */
export async function flushFolderAside(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * The file that a path leads to through links, whether there is one yet or not. Throws what the
 * system throws where links cannot be followed, as in a circle.
 */
export function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    let link: string;
    try {
      link = readlinkSync(path);
    } catch {
      return path;
    }
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return targetOf(resolve(realpathSync(dirname(path)), link));
  }
}
