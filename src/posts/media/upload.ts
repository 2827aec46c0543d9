import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { SharedRoom } from '../../model/turns.js';
import { asUnavailable, MediaUnavailable, makeFolder } from './folder.js';

/** A file that a client sent, as it came: nobody has looked into it. */
export interface Upload {
  /** Its name in the incoming folder. */
  readonly file: string;
  /** What the client called it. */
  readonly name: string;
  /** Of its bytes, in hexadecimal digits. */
  readonly sha256: string;
}

/** Receives uploads on one thread. */
export interface Uploads {
  /** Bytes that an upload may have. */
  readonly maxBytes: number;
  /**
   * Writes what a client sends into the incoming folder, so that memory holds none of it. Throws a
   * MediaUnavailable when the disk is to blame or the client must make room for others, else what
   * the stream threw; no file is left then.
   */
  receive(stream: Readable, name: string, address: string): Promise<Upload>;
  /** Removes an upload, which may be gone already. */
  discard(upload: Upload): Promise<void>;
}

export class ImageStats {
  /** Uploads that became an image, that could not be taken, and at which the system failed. */
  readonly outcomes = { taken: 0, refused: 0, failed: 0 };
  /** Of all images that were made. */
  bytes = 0;
  /** From upload to image, of all uploads. */
  seconds = 0;
}

/** Uploads that one thread takes at a time; each has a file open. */
export const MAX_OPEN_UPLOADS = 64;

export function createUploads(incoming: string, maxBytes: number, logger: Logger): Uploads {
  const slots = new SharedRoom(MAX_OPEN_UPLOADS);
  return {
    maxBytes,
    async receive(stream, name, address) {
      let turnedOut: MediaUnavailable | undefined;
      const slot = slots.enter(address, () => {
        turnedOut = new MediaUnavailable('too many images are coming in');
        stream.destroy();
      });
      slot.grow(1);
      try {
        if (turnedOut !== undefined) throw turnedOut;
        return await write(incoming, stream, name);
      } catch (error) {
        if (turnedOut !== undefined) throw turnedOut;
        if (error instanceof MediaUnavailable) {
          logger.error({ err: error }, 'an image could not be taken');
        }
        throw error;
      } finally {
        slot.leave();
      }
    },
    discard: ({ file }) => rm(join(incoming, file), { force: true }).catch(() => {}),
  };
}

async function write(incoming: string, stream: Readable, name: string): Promise<Upload> {
  const file = `${randomUUID()}.upload`;
  const path = join(incoming, file);
  const hash = createHash('sha256');
  try {
    // somebody may have removed it
    makeFolder(incoming);
  } catch (error) {
    stream.destroy();
    throw asUnavailable(error);
  }
  const sink = createWriteStream(path, { flags: 'wx' });
  try {
    await pipeline(
      stream.on('data', (chunk: Buffer) => hash.update(chunk)),
      sink,
    );
  } catch (error) {
    // until the sink is closed, it may still make the file
    if (!sink.closed) await new Promise<void>((resolve) => sink.once('close', resolve));
    await rm(path, { force: true }).catch(() => {});
    const { syscall } = error as NodeJS.ErrnoException;
    // errors of the client's connection come from other calls
    throw syscall === 'open' || syscall === 'write' ? asUnavailable(error) : error;
  }
  return { file, name, sha256: hash.digest('hex') };
}
