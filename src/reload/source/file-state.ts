import { stat } from 'node:fs/promises';

/** A file as it was when looked at; symbolic links are followed. */
export interface FileState {
  /** Differs when another file took its place. */
  readonly inode: string;
  /** Differs whenever the file was written, replaced or its permissions changed. */
  readonly identity: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  readonly kind: 'file' | 'folder' | 'other';
}

/** Codes of the system that say that there is no such file, or none that this process may see. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP']);

/** The file as it is now. Throws what `stat` throws. */
export async function stateOf(path: string): Promise<FileState> {
  const status = await stat(path);
  const { dev, ino, size, mtimeMs, ctimeMs } = status;
  const inode = `${dev} ${ino}`;
  return {
    inode,
    identity: `${inode} ${size} ${mtimeMs} ${ctimeMs}`,
    modifiedAt: mtimeMs,
    kind: status.isFile() ? 'file' : status.isDirectory() ? 'folder' : 'other',
  };
}

/**
 * The file as it is now, undefined when there is none to be seen. Throws what keeps it from being
 * looked at.
 */
export async function stateIfAny(path: string): Promise<FileState | undefined> {
  try {
    return await stateOf(path);
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}

/** What has become of a file between two looks. */
export function changeOf(
  before: FileState | undefined,
  now: FileState | undefined,
): 'same' | 'replaced' | 'written' {
  if (before?.identity === now?.identity) return 'same';
  return before !== undefined && before.inode === now?.inode ? 'written' : 'replaced';
}
