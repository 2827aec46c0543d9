import { rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import { temporaryIn } from '../../formats/system-files.js';
import type { Decoder } from './decoder.js';
import { asUnavailable, IMAGES_PATH, type ImageStore, safeName } from './folder.js';
import type { ImageStats, Upload } from './upload.js';

/** An image that was made anew, on stable storage, and belongs to no point yet. */
export interface CheckedImage {
  /** Its path in the incoming folder. */
  readonly file: string;
  /** The name that it will have as a point's image. */
  readonly name: string;
}

interface MediaOptions {
  readonly store: ImageStore;
  readonly incoming: string;
  readonly maxPixels: number;
  readonly logger: Logger;
  readonly stats: ImageStats;
  readonly decoder: Decoder;
}

/** The images of accepted points, from upload to record. For the main thread. */
export class Media {
  readonly #options: MediaOptions;

  constructor(options: MediaOptions) {
    this.#options = options;
  }

  /**
   * Makes an image of an upload, in the turn of its client's address. Returns an error text where
   * it cannot be taken. Rejects with a MediaUnavailable when the system fails.
   */
  async accept(upload: Upload, address: string): Promise<CheckedImage | string> {
    const { incoming, maxPixels, stats, decoder } = this.#options;
    const file = temporaryIn(incoming);
    const began = performance.now();
    try {
      const job = { input: upload.file, output: file, maxPixels };
      const decoded = await decoder.decode(job, address);
      if (decoded.kind === 'image') {
        stats.bytes += decoded.bytes;
        stats.outcomes.taken++;
        return { file, name: safeName(upload.name, decoded.sha256, decoded.ending) };
      }
      await rm(file, { force: true });
      stats.outcomes.refused++;
      return decoded.text;
    } catch (error) {
      stats.outcomes.failed++;
      await rm(file, { force: true }).catch(() => {});
      throw this.#unavailable(error);
    } finally {
      stats.seconds += (performance.now() - began) / 1000;
    }
  }

  /**
   * Stores an image of a point, on stable storage, and returns the address for its record. Rejects
   * with a MediaUnavailable; the image is gone then.
   */
  async store(id: number, { file, name }: CheckedImage): Promise<string> {
    const { store } = this.#options;
    try {
      await store.put(file, String(id), name);
    } catch (error) {
      await store.erase(String(id), name).catch(() => {});
      await rm(file, { force: true }).catch(() => {});
      throw this.#unavailable(error);
    }
    return `${IMAGES_PATH}${id}/${name}`;
  }

  /** Removes an image whose record was refused. */
  async remove(address: string): Promise<void> {
    const { store, logger } = this.#options;
    const [id = '', name = ''] = address.slice(IMAGES_PATH.length).split('/');
    await store.erase(id, name).catch((error: unknown) => {
      logger.warn({ err: error, image: address }, 'an image of no point could not be removed');
    });
  }

  /** Removes an incoming file. */
  async discard({ file }: CheckedImage): Promise<void> {
    await rm(file, { force: true }).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, file }, 'an upload could not be removed');
    });
  }

  #unavailable(error: unknown): unknown {
    this.#options.logger.error({ err: error }, 'an image could not be taken');
    return asUnavailable(error);
  }
}
