import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Decoder } from './decoder.js';
import {
  asUnavailable,
  IMAGES_PATH,
  type ImageStore,
  markedBy,
  removeFile,
  safeName,
} from './folder.js';
import type { ImageStats, Upload } from './upload.js';

/** An image that was decoded and made anew, on stable storage, and not yet that of a point. */
export interface CheckedImage {
  /** Its name in the folder of what comes in. */
  readonly file: string;
  /** The name that it will have. */
  readonly name: string;
}

export interface MediaOptions {
  readonly store: ImageStore;
  /** The folder of what comes in. */
  readonly incoming: string;
  readonly maxPixels: number;
  readonly logger: Logger;
  readonly stats: ImageStats;
  readonly decoder: Decoder;
}

/** What is on its way for longer was left by a process that was killed. */
const LEFTOVER_MS = 3_600_000;

/** The images of accepted points, from upload to record. For the main thread. */
export class Media {
  readonly #options: MediaOptions;

  constructor(options: MediaOptions) {
    this.#options = options;
  }

  /**
   * Makes an image of an upload, in the turn of its client's address. Returns the text of the error
   * where it is none that can be taken. Rejects with a MediaUnavailable when the system fails.
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
      await removeFile(output);
      stats.outcomes.refused++;
      return decoded.text;
    } catch (error) {
      stats.outcomes.failed++;
      await removeFile(output).catch(() => {});
      throw this.#unavailable(error);
    } finally {
      stats.seconds += (performance.now() - began) / 1000;
    }
  }

  /**
   * Makes an image that of a point and returns the address for its record. It is on stable storage
   * then, and marked as one whose record is not. Rejects with a MediaUnavailable, and the image is
   * gone.
   */
  async store(id: number, { file, name }: CheckedImage): Promise<string> {
    const { store } = this.#options;
    const path = this.#pathOf(file);
    try {
      await store.put(path, String(id), name);
    } catch (error) {
      await store.erase(String(id), name).catch(() => {});
      await removeFile(path).catch(() => {});
      throw this.#unavailable(error);
    }
    return `${IMAGES_PATH}${id}/${name}`;
  }

  /** Takes the mark away, once the record is on stable storage as well. */
  async confirm(address: string): Promise<void> {
    // a mark that stays is looked at again by a later sweep
    await this.#options.store.unmark(...partsOf(address)).catch(() => {});
  }

  /** Removes an image whose record was refused. */
  async remove(address: string): Promise<void> {
    const { store, logger } = this.#options;
    await store.erase(...partsOf(address)).catch((error: unknown) => {
      logger.warn({ err: error, image: address }, 'an image of no point could not be removed');
    });
  }

  /** Removes an image that becomes that of no point. */
  async discard({ file }: CheckedImage): Promise<void> {
    await removeFile(this.#pathOf(file)).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, file }, 'an upload could not be removed');
    });
  }

  /**
   * Removes what a process that was killed has left, once it is an hour old: whatever had come in,
   * and the marked images that no record names. Nothing else in the folder is touched.
   */
  async sweep(isKnown: (address: string) => boolean): Promise<void> {
    const { store, incoming, logger } = this.#options;
    let removed = 0;
    const isOld = (at: number): boolean => Date.now() - at >= LEFTOVER_MS;
    for (const entry of await readdir(incoming).catch(() => [])) {
      if (markedBy(entry) !== undefined) continue;
      const found = await stat(this.#pathOf(entry)).catch(() => undefined);
      if (found === undefined || !isOld(found.mtimeMs)) continue;
      await removeFile(this.#pathOf(entry));
      removed++;
    }
    for (const { id, name, markedAt } of await store.marks()) {
      if (!isOld(markedAt)) continue;
      if (isKnown(`${IMAGES_PATH}${id}/${name}`)) {
        await store.unmark(id, name);
      } else {
        await store.erase(id, name);
        removed++;
      }
    }
    if (removed > 0) logger.info({ removed }, 'removed images that belong to no point');
  }

  #pathOf(file: string): string {
    return join(this.#options.incoming, file);
  }

  #unavailable(error: unknown): unknown {
    this.#options.logger.error({ err: error }, 'an image could not be taken');
    return asUnavailable(error);
  }
}

/** Id and name of an address that `store` returned. */
function partsOf(address: string): [id: string, name: string] {
  const [id = '', name = ''] = address.slice(IMAGES_PATH.length).split('/');
  return [id, name];
}
