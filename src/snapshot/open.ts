import { openNative } from './native/read.js';
import { detectFormat } from './rows/detect.js';
import { openRows } from './rows/reader.js';
import type { ReadOptions, SnapshotReader, TwoPassReader } from './snapshot.js';

/**
 * Opens a snapshot file of any format, found by its content. A native one can also be read in two
 * passes. Throws an InputError when there is no such file, or it is no snapshot.
 */
export async function openSnapshot(
  path: string,
  options: ReadOptions,
): Promise<SnapshotReader | TwoPassReader> {
  const format = await detectFormat(path);
  return format === 'native' ? openNative(path, options) : openRows(path, format, options);
}
