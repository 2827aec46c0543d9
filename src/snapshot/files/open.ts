import { openTimeZone } from '../../model/time-zone.js';
import { isNative } from '../native/ends.js';
import { openNative } from '../native/read.js';
import type { ReadOptions, SnapshotFormat, SnapshotReader, TwoPassReader } from '../snapshot.js';

/**
 * Opens a snapshot file of any format, found by its content. A native one can also be read in two
 * passes. Throws an InputError when there is no such file, or it is no snapshot.
 */
export async function openSnapshot(
  path: string,
  options: ReadOptions,
): Promise<SnapshotReader | TwoPassReader> {
  const format = await formatOf(path);
  if (format === 'native') return openNative(path, options);
  const { openRows } = await import('../rows/reader.js');
  return openRows(path, format, options, await openTimeZone(options.timeZone ?? 'UTC'));
}

/**
 * The format of a snapshot file, by its content; a native one does not wait for the parsers of the
 * others. Throws an InputError when there is no such file, or it is no snapshot.
 */
export async function formatOf(path: string): Promise<SnapshotFormat> {
  if (isNative(path)) return 'native';
  const { detectFormat } = await import('../rows/detect.js');
  return detectFormat(path);
}
