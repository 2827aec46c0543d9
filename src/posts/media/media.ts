import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createDecoder, type Decoder } from './decoder.js';
import { asUnavailable, IMAGES_PATH, removeFile, safeName } from './folder.js';
import { type ImageStore, markedBy } from './image-store.js';
import { createImageStats, type ImageStats, type Upload } from './upload.js';

/** An image that was decoded and made anew, on stable storage, and not yet that of a point. */
export interface CheckedImage {
  /** Its name in the folder of what comes in. */
  readonly file: string;
  /** The name that it will have. */
  readonly name: string;
}

/** The images of accepted points, from upload to record. For the main thread. */
export interface Media {
  /**
   * Makes an image of an upload, in the turn of its client's address. Returns the text of the error
   * where it is none that can be taken. Rejects with a MediaUnavailable when the system fails.
   */
  accept(upload: Upload, address: string): Promise<CheckedImage | string>;
  /**
   * Makes an image that of a point and returns the address for its record. It is on stable storage
   * then, and marked as one whose record is not. Rejects with a MediaUnavailable, and the image is
   * gone.
   */
  store(id: number, image: CheckedImage): Promise<string>;
  /** Takes the mark away, once the record is on stable storage as well. */
  confirm(address: string): Promise<void>;
  /** Removes an image whose record was refused. */
  remove(address: string): Promise<void>;
  /** Removes an image that becomes that of no point. */
  discard(unused: CheckedImage): Promise<void>;
  /**
   * Removes what a process that was killed has left, once it is an hour old: whatever had come in,
   * and the marked images that no record names. Nothing else in the folder is touched.
   */
  sweep(isKnown: (address: string) => boolean): Promise<void>;
  /** Ends the process that decodes. */
  close(): void;
}

export interface MediaOptions {
  readonly store: ImageStore;
  /** The folder of what comes in. */
  readonly incoming: string;
  readonly maxPixels: number;
  readonly logger: Logger;
  readonly stats?: ImageStats;
  readonly decoder?: Decoder;
}

/** What is on its way for longer was left by a process that was killed. */
const LEFTOVER_MS = 3_600_000;
/** Takes images into a store. */
export function createMedia({
  store: images,
  incoming,
  maxPixels,
  logger,
  stats = createImageStats(),
  decoder = createDecoder(),
}: MediaOptions): Media {
  function unavailable(error: unknown): unknown {
    logger.error({ err: error }, 'an image could not be taken');
    return asUnavailable(error);
  }

  return {
    async accept(upload, address) {
      try {
        return await makeImage(upload, address, { incoming, maxPixels, decoder, stats });
      } catch (error) {
        stats.outcomes.failed++;
        throw unavailable(error);
      }
    },

    async store(id, { file, name }) {
      const path = join(incoming, file);
      try {
        await images.put(path, String(id), name);
      } catch (error) {
        await images.erase(String(id), name).catch(() => {});
        await removeFile(path).catch(() => {});
        throw unavailable(error);
      }
      return `${IMAGES_PATH}${id}/${name}`;
    },

    async confirm(address) {
      // a mark that stays is looked at again by a later sweep
      await images.unmark(...partsOf(address)).catch(() => {});
    },

    async remove(address) {
      await images.erase(...partsOf(address)).catch((error: unknown) => {
        logger.warn({ err: error, image: address }, 'an image of no point could not be removed');
      });
    },

    async discard({ file }) {
      await removeFile(join(incoming, file)).catch((error: unknown) => {
        logger.warn({ err: error, file }, 'an upload could not be removed');
      });
    },

    async sweep(isKnown) {
      let removed = 0;
      const isOld = (at: number): boolean => Date.now() - at >= LEFTOVER_MS;
      for (const entry of await readdir(incoming).catch(() => [])) {
        if (markedBy(entry) !== undefined) continue;
        const found = await stat(join(incoming, entry)).catch(() => undefined);
        if (found === undefined || !isOld(found.mtimeMs)) continue;
        await removeFile(join(incoming, entry));
        removed++;
      }
      for (const { id, name, markedAt } of await images.marks()) {
        if (!isOld(markedAt)) continue;
        if (isKnown(`${IMAGES_PATH}${id}/${name}`)) {
          await images.unmark(id, name);
        } else {
          await images.erase(id, name);
          removed++;
        }
      }
      if (removed > 0) logger.info({ removed }, 'removed images that belong to no point');
    },

    close: () => decoder.close(),
  };
}

interface Making extends Pick<MediaOptions, 'maxPixels'> {
  readonly incoming: string;
  readonly decoder: Decoder;
  readonly stats: ImageStats;
}

/** Makes an image of an upload, or the text of the error where it is none that can be taken. */
async function makeImage(
  upload: Upload,
  address: string,
  { incoming, maxPixels, decoder, stats }: Making,
): Promise<CheckedImage | string> {
  const input = join(incoming, upload.file);
  const file = `${randomUUID()}.image`;
  const output = join(incoming, file);
  const began = performance.now();
  try {
    const decoded = await decoder.decode({ input, output, maxPixels }, address);
    if (decoded.kind === 'image') {
      stats.bytes += decoded.bytes;
      stats.outcomes.taken++;
      return { file, name: safeName(upload.name, decoded.sha256, decoded.ending) };
    }
    await removeFile(output);
    stats.outcomes.refused++;
    return decoded.text;
  } catch (error) {
    await removeFile(output).catch(() => {});
    throw error;
  } finally {
    stats.seconds += (performance.now() - began) / 1000;
  }
}

/** Id and name of an address that `store` returned. */
function partsOf(address: string): [id: string, name: string] {
  const [id = '', name = ''] = address.slice(IMAGES_PATH.length).split('/');
  return [id, name];
}
