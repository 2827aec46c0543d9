import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';
import { MediaUnavailable } from '../../posts/media/folder.js';
import type { SharedRoom } from '../../posts/media/shares.js';
import type { Upload, Uploads } from '../../posts/media/upload.js';
import {
  bodyTooLarge,
  MAX_BODY_BYTES,
  MAX_FIELDS,
  noRoomForBody,
  onBreak,
  passOver,
  tooManyFields,
} from './body.js';
import { HttpError, tryLater } from './http-error.js';

export interface MultipartForm {
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** The file of the field `image`. Whoever reads the body discards it in the end. */
  readonly image: Upload | undefined;
}

export interface MultipartPlaces {
  /** Undefined where no images are taken. */
  readonly uploads: Uploads | undefined;
  /** Of which all but the image takes part until the body has ended. */
  readonly room: SharedRoom;
  readonly address: string;
}

const MAX_FILES = 10;
const MAX_PART_HEADERS = 16;
const MAX_PART_HEAD_BYTES = 8 * 1024;

/**
 * Reads a multipart body to its end; the file of the field `image` goes to `uploads` as it comes,
 * other files are passed over. Throws an HttpError: 400 where the body is none or breaks off, has
 * several images, or one without `uploads`; 413 where it is too large; 503 where there is no room.
 * No file is left then.
 */
export async function readMultipart(
  request: IncomingMessage,
  places: MultipartPlaces,
): Promise<MultipartForm> {
  const reading = new Reading(request, places);
  try {
    return await reading.form();
  } catch (error) {
    await reading.undo(error as Error);
    throw asHttpError(error);
  }
}

class Reading {
  readonly #request: IncomingMessage;
  readonly #places: MultipartPlaces;
  readonly #fields = new Map<string, string[]>();
  /** The file of the image, and what becomes of it. */
  #file: BusboyFileStream | undefined;
  #image: Promise<Upload> | undefined;

  constructor(request: IncomingMessage, places: MultipartPlaces) {
    this.#request = request;
    this.#places = places;
  }

  async form(): Promise<MultipartForm> {
    const { uploads, room, address } = this.#places;
    const { headers } = this.#request;
    const most = MAX_BODY_BYTES + (uploads?.maxBytes ?? 0);
    if (Number(headers['content-length'] ?? 0) > most) {
      throw uploads === undefined ? bodyTooLarge() : imageTooLarge(uploads);
    }
    const parser = new Busboy({
      headers: headers as BusboyHeaders,
      limits: {
        fields: MAX_FIELDS,
        files: MAX_FILES,
        parts: MAX_FIELDS + MAX_FILES,
        fieldSize: MAX_BODY_BYTES,
        fileSize: uploads?.maxBytes ?? MAX_BODY_BYTES,
        headerPairs: MAX_PART_HEADERS,
        headerSize: MAX_PART_HEAD_BYTES,
      },
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    });
    let refuse = (_error: Error): void => {};
    const guest = room.enter(address, () => refuse(noRoomForBody()));
    try {
      await new Promise<void>((resolve, reject) => {
        refuse = reject;
        const tooMany = (): void => reject(tooManyFields());
        parser.once('partsLimit', tooMany).once('fieldsLimit', tooMany);
        parser.once('filesLimit', () => reject(tooManyFiles()));
        parser.on('field', (name, value) => this.#addField(name, value));
        parser.on('file', (...file) => this.#addFile(file[0], file[1], file[2], reject));
        parser.on('error', reject);
        parser.once('finish', resolve);
        onBreak(this.#request, reject);
        let apart = 0;
        this.#request.on('data', (chunk: Buffer) => {
          // what the image does not hold is held here
          if (this.#file !== undefined && !this.#file.readableEnded) return;
          apart += chunk.length;
          if (apart > MAX_BODY_BYTES) reject(bodyTooLarge());
          else guest.grow(chunk.length);
        });
        this.#request.pipe(parser);
      });
      return { fields: this.#fields, image: await this.#image };
    } finally {
      guest.leave();
    }
  }

  /** Lets go of the body, and of what has come of it. */
  async undo(error: Error): Promise<void> {
    this.#request.unpipe();
    this.#request.removeAllListeners('data');
    // what is left of the body stands between the answer and the next request
    passOver(this.#request);
    this.#file?.destroy(error);
    const image = await this.#image?.catch(() => undefined);
    if (image !== undefined) await this.#places.uploads!.discard(image);
  }

  #addField(name: string, value: string): void {
    const values = this.#fields.get(name);
    if (values === undefined) this.#fields.set(name, [value]);
    else values.push(value);
  }

  #addFile(
    name: string,
    file: BusboyFileStream,
    fileName: string,
    reject: (error: Error) => void,
  ): void {
    file.on('error', (error) => {
      // whoever takes the image says what became of it
      if (file !== this.#file) reject(error);
    });
    if (name !== 'image') {
      file.resume();
    } else if (fileName !== '') {
      this.#takeImage(file, fileName, reject);
    } else {
      // browsers send a form without a file chosen with one that has neither name nor content
      file.once('readable', () => {
        if (file.readableLength === 0) file.resume();
        else this.#takeImage(file, fileName, reject);
      });
    }
  }

  #takeImage(file: BusboyFileStream, fileName: string, reject: (error: Error) => void): void {
    const { uploads, address } = this.#places;
    if (uploads === undefined) {
      reject(imageError(400, 'This instance stores no images: it has no folder for them.'));
    } else if (this.#image !== undefined) {
      reject(imageError(400, 'Expected one image, got several.'));
    } else {
      this.#file = file;
      file.once('limit', () => reject(imageTooLarge(uploads)));
      this.#image = uploads.receive(file, fileName, address);
      this.#image.catch(reject);
    }
  }
}

function imageTooLarge({ maxBytes }: Uploads): HttpError {
  return imageError(413, `The image is too large. Expected at most ${maxBytes} bytes.`);
}

function tooManyFiles(): HttpError {
  return new HttpError(413, { detail: `Too many files. Expected at most ${MAX_FILES}.` });
}

function imageError(status: number, text: string): HttpError {
  return new HttpError(status, { image: [text] });
}

function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof MediaUnavailable) {
    return tryLater('The image could not be stored; try again in a moment.');
  }
  const { message } = error as Error;
  return new HttpError(400, { detail: `Multipart form parse error - ${message}` });
}
