import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { openNative } from '../native/read.js';
import { formatOf } from './open.js';

/**
 * The digest that a load of the file would report, without building anything: it reads all of the
 * file and, of a native one, checks every CRC. Throws an InputError when there is no such file or
 * it is broken.
 */
export async function contentDigest(path: string): Promise<string> {
  if ((await formatOf(path)) !== 'native') return fileDigest(path);
  const reader = openNative(path, {});
  try {
    for (const _ of reader.columns());
    for (const _ of reader.records());
    return reader.report().digest;
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
