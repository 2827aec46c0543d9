import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { openNative } from '../native/read.js';
import { formatOf } from './open.js';

/**
 * The digest that a load of the file would report, without building anything. A native file says it
 * at its two ends: all of it is read and every CRC checked only where `isWanted` says that this
 * digest is of use. Throws an InputError when there is no such file or it is broken.
 */
export async function contentDigest(
  path: string,
  isWanted: (digest: string) => boolean = () => true,
): Promise<string> {
  if ((await formatOf(path)) !== 'native') return fileDigest(path);
  const reader = openNative(path, {});
  try {
    if (!isWanted(reader.digest)) return reader.digest;
    for (const _ of reader.columns());
    for (const _ of reader.records());
    return reader.digest;
  } finally {
    reader.close();
  }
}

/** SHA-256 of a file's bytes, hexadecimal. */
export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}
