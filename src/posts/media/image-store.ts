import { accessSync, constants, mkdirSync } from 'node:fs';
import { mkdir, open, readdir, rename, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFolder, flushFolderAside } from '../../formats/system-files.js';
import { InputError } from '../../model/quote.js';
import { imagesIn, incomingIn, removeFile } from './folder.js';

/** An image that has its place while its record may not be on stable storage. */
export interface MarkedImage {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970, by the clock of the store. */
  readonly markedAt: number;
}

/** Where the images of points stand: a folder or a bucket. */
export interface ImageStore {
  /**
   * Puts a file in the place of an image, marked as one whose record is not on stable storage; the
   * image is. The file may be moved.
   */
  put(file: string, id: string, name: string): Promise<void>;
  /** Takes the mark away. */
  unmark(id: string, name: string): Promise<void>;
  /** Removes an image, which may not be there, and then its mark. */
  erase(id: string, name: string): Promise<void>;
  marks(): Promise<readonly MarkedImage[]>;
}

/** The mark of an image: a file or an object with its id and name. */
const MARK = /^(\d+)\.([\w-]+\.(?:jpg|png))\.new$/;

export function markName(id: string, name: string): string {
  return `${id}.${name}.new`;
}

/** The image that a mark of this name stands for; undefined where the name is that of no mark. */
export function markedBy(mark: string): Pick<MarkedImage, 'id' | 'name'> | undefined {
  const [, id, name] = MARK.exec(mark) ?? [];
  return id === undefined || name === undefined ? undefined : { id, name };
}

/** Opens a folder of images for writing. Throws an InputError where that cannot be. */
export function openImageFolder(folder: string): ImageStore {
  const incoming = incomingIn(folder);
  const images = imagesIn(folder);
  try {
    for (const path of [incoming, images]) {
      mkdirSync(path, { recursive: true });
      accessSync(path, constants.W_OK);
    }
    // an image is on disk only where all folders above it are
    flushFolder(folder);
  } catch (error) {
    const { message } = error as Error;
    throw new InputError(`--media ${folder}: cannot be written: ${message}`, { cause: error });
  }
  const markOf = (id: string, name: string): string => join(incoming, markName(id, name));

  return {
    async put(file, id, name) {
      const marked = await open(markOf(id, name), 'w');
      await marked.close();
      await flushFolderAside(incoming);
      await mkdir(join(images, id), { recursive: true });
      await rename(file, join(images, id, name));
      await flushFolderAside(join(images, id));
      await flushFolderAside(images);
    },

    unmark: (id, name) => removeFile(markOf(id, name)),

    async erase(id, name) {
      await removeFile(join(images, id, name));
      // of a point that another image belongs to, or whose folder is gone, it stays as it is
      await rmdir(join(images, id)).catch(() => {});
      await removeFile(markOf(id, name));
    },

    async marks() {
      const marks: MarkedImage[] = [];
      for (const entry of await readdir(incoming).catch(() => [])) {
        const marked = markedBy(entry);
        const found = marked && (await stat(join(incoming, entry)).catch(() => undefined));
        if (found !== undefined) marks.push({ ...marked!, markedAt: found.mtimeMs });
      }
      return marks;
    },
  };
}
