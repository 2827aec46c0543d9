import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { createDecoder, type Decoder } from '../../src/posts/media/decoder.js';
import { incomingIn } from '../../src/posts/media/folder.js';
import { openImageFolder } from '../../src/posts/media/image-store.js';
import { type CheckedImage, Media } from '../../src/posts/media/media.js';
import { createUploads, type Upload } from '../../src/posts/media/upload.js';

/** A folder of images of its own, and what one may do with it. */
export interface MediaFolder {
  readonly folder: string;
  readonly media: Media;
  readonly logger: Logger;
  /** Writes an upload as a client's would be. */
  upload(bytes: Buffer, name?: string): Promise<Upload>;
  /** Makes an image of an upload, and removes that, as whoever takes a post does. */
  accept(bytes: Buffer, name?: string): Promise<CheckedImage | string>;
  /** Every file and empty folder in it, by relative path. */
  files(): string[];
  /** Opens it again, as another process would. */
  reopen(): Media;
  remove(): void;
}

export const MAX_PIXELS = 1_000_000;

/** Makes an empty folder of images; all of a test file share a decoder. */
export function makeMediaFolder(decoder: Decoder = createDecoder(60_000)): MediaFolder {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-media-'));
  const incoming = incomingIn(folder);
  const logger: Logger = pino({ level: 'silent' });
  const given = { store: openImageFolder(folder), incoming, maxPixels: MAX_PIXELS };
  const open = (): Media => new Media({ ...given, logger, decoder });
  const media = open();
  const uploads = createUploads(incoming, 10_000_000, logger);
  const upload = (bytes: Buffer, name = 'photo.jpg'): Promise<Upload> =>
    uploads.receive(Readable.from([bytes]), name, 'a');
  return {
    folder,
    media,
    logger,
    upload,
    async accept(bytes, name) {
      const received = await upload(bytes, name);
      try {
        return await media.accept(received, 'a');
      } finally {
        await uploads.discard(received);
      }
    },
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory() || readdirSync(pathOf(entry)).length === 0)
        .map((entry) => pathOf(entry).slice(folder.length + 1))
        .sort(),
    reopen: open,
    remove() {
      rmSync(folder, { recursive: true });
    },
  };
}

function pathOf(entry: { readonly parentPath: string; readonly name: string }): string {
  return join(entry.parentPath, entry.name);
}
