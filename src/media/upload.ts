import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { incomingIn, MediaUnavailable, removeFile } from './folder.js';

/** A file that a client sent, as it came: nobody has looked into it. */
export interface Upload {
  /** Its name in the folder of what comes in. */
  readonly file: string;
  /** What the client called it. */
  readonly name: string;
  /** Of its bytes, in hexadecimal digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Writes what a client sends into the folder of what comes in, so that memory holds none of it. When it
 * throws, no file is left: a MediaUnavailable when the disk is to blame, else what the stream threw.
 */
export async function receiveUpload(
  folder: string,
  stream: Readable,
  name: string,
): Promise<Upload> {
  const file = `${randomUUID()}.upload`;
  const path = join(incomingIn(folder), file);
  const hash = createHash('sha256');
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  try {
    await pipeline(stream, meter, createWriteStream(path, { flags: 'wx' }));
  } catch (error) {
    await removeFile(path).catch(() => {});
    const { syscall, message } = error as NodeJS.ErrnoException;
    const isOfDisk = syscall === 'open' || syscall === 'write' || syscall === 'close';
    throw isOfDisk ? new MediaUnavailable(message, { cause: error }) : error;
  }
  return { file, name, sha256: hash.digest('hex'), bytes };
}
