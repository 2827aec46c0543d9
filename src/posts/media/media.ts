import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Decoder } from './decoder.js';
import { asUnavailable, IMAGES_PATH, type ImageStore, ImagesCrowded, safeName } from './folder.js';
import type { ImageStats, Upload } from './upload.js';

/** An image that was made anew, on stable storage, and belongs to no point yet. */
export interface CheckedImage {
  /** Its name in the incoming folder. */
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

/** Incoming files that are older were left by a killed process. */
const LEFTOVER_MS = 3_600_000;

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
    const { maxPixels, stats, decoder } = this.#options;
    const file = `${randomUUID()}.image`;
    const output = this.#pathOf(file);
    const began = performance.now();
    try {
      const job = { input: this.#pathOf(upload.file), output, maxPixels };
      const decoded = await decoder.decode(job, address);
      if (decoded.kind === 'image') {
        stats.bytes += decoded.bytes;
        stats.outcomes.taken++;
        return { file, name: safeName(upload.name, decoded.sha256, decoded.ending) };
      }
      await rm(output, { force: true });
      stats.outcomes.refused++;
      return decoded.text;
    } catch (error) {
      stats.outcomes.failed++;
      await rm(output, { force: true }).catch(() => {});
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
    const path = this.#pathOf(file);
    const address = `${IMAGES_PATH}${id}/${name}`;
    try {
      await store.put(path, String(id), name);
    } catch (error) {
      await this.remove(address);
      await rm(path, { force: true }).catch(() => {});
      throw this.#unavailable(error);
    }
    return address;
  }

  /** Removes an image whose record was refused. */
  async remove(address: string): Promise<void> {
    const { store, logger } = this.#options;
    const [id = '', name = ''] = address.slice(IMAGES_PATH.length).split('/');
    await store.erase(id, name).catch((error: unknown) => {
      logger.warn({ err: error, image: address }, 'an image of no point could not be removed');
    });
  }

  async discard({ file }: Pick<CheckedImage, 'file'>): Promise<void> {
    await rm(this.#pathOf(file), { force: true }).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, file }, 'an upload could not be removed');
    });
  }

  /** Removes what killed processes left in the incoming folder, once it is an hour old. */
  async sweep(): Promise<void> {
    const { incoming, logger } = this.#options;
    let removed = 0;
    for (const entry of await readdir(incoming).catch(() => [])) {
      const found = await stat(this.#pathOf(entry)).catch(() => undefined);
      if (found === undefined || Date.now() - found.mtimeMs < LEFTOVER_MS) continue;
      await this.discard({ file: entry });
      removed++;
    }
    if (removed > 0) logger.info({ removed }, 'removed what was left of uploads');
  }

  #pathOf(file: string): string {
    return join(this.#options.incoming, file);
  }

  #unavailable(error: unknown): unknown {
    if (!(error instanceof ImagesCrowded)) {
      this.#options.logger.error({ err: error }, 'an image could not be taken');
    }
    return asUnavailable(error);
  }
}
