import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBucket } from '../../formats/bucket.js';
import { flushFolder, flushFolderAside } from '../../formats/system-files.js';
import { InputError } from '../../model/quote.js';

/** What the addresses of images in records begin with. */
export const IMAGES_PATH = '/media/map_data_points/';

/** No image can be stored or decoded now, for a lack of room, files or processes. */
export class MediaUnavailable extends Error {
  override readonly name = 'MediaUnavailable';
}

/** Too many images of clients wait, who are told: nothing that operators have to look at. */
export class ImagesCrowded extends MediaUnavailable {}

/** Turns an error of the system, whose text may name files, into one that clients may see. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof MediaUnavailable || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new MediaUnavailable(`images cannot be stored (${code})`, { cause: error });
}

/** Checks that the folder of images is one. Throws an InputError that says what to do. */
export function checkMediaFolder(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return;
  const what = stat === undefined ? 'there is no such folder' : 'it is no folder';
  throw new InputError(`--media ${path}: ${what}. Make it, or leave the setting out.`);
}

/**
 * The folder of files that are no image of a point yet, to which no address leads: within a folder
 * of images, and beside downloads for a bucket.
 */
export function incomingOf(media: string, downloads: string | undefined): string {
  if (!isBucket(media)) return join(media, '.incoming');
  return join(downloads ?? tmpdir(), `waypost-images-${process.getuid!()}`);
}

/** Makes {@link incomingOf}. Throws an InputError where that fails, or it is another user's. */
export function openIncoming(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK);
  } catch (error) {
    const what = `${path}, where images wait to be stored, cannot be written`;
    throw new InputError(`--media: ${what}: ${(error as Error).message}`, { cause: error });
  }
  if (statSync(path).uid === process.getuid!()) return;
  throw new InputError(`${path}: belongs to another user. Name another folder by --downloads.`);
}

/** Makes a folder for this user alone, which may be there; the one above it must be there. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

export type Ending = 'jpg' | 'png';

/** Characters that are kept of a client's name: with id and digest the address stays below 100. */
const MOST_CHARACTERS = 40;
const DIGEST_CHARACTERS = 8;

/**
 * A file name made of the client's: letters and digits without accents, `_` and `-`, then the
 * beginning of the digest, which tells two images of one name apart, and the real ending.
 */
export function safeName(suggested: string, digest: string, ending: Ending): string {
  // the client's path and ending say nothing
  const base = suggested.replace(/^.*[/\\]/s, '').replace(/\.[^.]*$/s, '');
  const plain = base
    .slice(0, 4 * MOST_CHARACTERS)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .slice(0, MOST_CHARACTERS)
    .replaceAll(/^[_-]+|[_-]+$/g, '');
  const stem = plain === '' ? 'image' : plain;
  return `${stem}_${digest.slice(0, DIGEST_CHARACTERS)}.${ending}`;
}

/** A folder or a bucket of images. */
export interface ImageStore {
  /** Stores a file as an image, on stable storage; the file may be moved. */
  put(file: string, id: string, name: string): Promise<void>;
  /** Removes an image, which may be missing. */
  erase(id: string, name: string): Promise<void>;
}

/** Opens a folder of images for writing. Throws an InputError where that cannot be. */
export function openImageFolder(folder: string): ImageStore {
  // one folder a point
  const images = join(folder, 'map_data_points');
  try {
    mkdirSync(images, { recursive: true });
    accessSync(images, constants.W_OK);
    // an image is on stable storage only where all folders above it are
    flushFolder(folder);
  } catch (error) {
    const { message } = error as Error;
    throw new InputError(`--media ${folder}: cannot be written: ${message}`, { cause: error });
  }

  return {
    async put(file, id, name) {
      await mkdir(join(images, id), { recursive: true });
      await rename(file, join(images, id, name));
      await flushFolderAside(join(images, id));
      await flushFolderAside(images);
    },

    async erase(id, name) {
      await rm(join(images, id, name), { force: true });
      // fails where the folder is gone or has another image, which may stay so
      await rmdir(join(images, id)).catch(() => {});
    },
  };
}
