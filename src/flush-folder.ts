import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Windows opens no folders, and needs none to be flushed. */
const NEEDS_FLUSHES = process.platform !== 'win32';

/** Waits until names that were made, renamed or removed in a folder are on disk. */
export function flushFolder(folder: string): void {
  if (!NEEDS_FLUSHES) return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The same, while this thread does other things. */
export async function flushFolderAside(folder: string): Promise<void> {
  if (!NEEDS_FLUSHES) return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
