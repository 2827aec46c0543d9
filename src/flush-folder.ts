import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Waits until names that were made, renamed or removed in a folder are on disk. */
export function flushFolder(folder: string): void {
  // Windows opens no folders, and needs none to be flushed
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
