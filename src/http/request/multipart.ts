import type { IncomingMessage } from 'node:http';
import {
  Busboy,
  type BusboyFileStream,
  type BusboyHeaders,
  type BusboyInstance,
} from '@fastify/busboy';
import { quote } from '../../model/quote.js';
import type { SharedRoom } from '../../model/turns.js';
import { addTo } from '../../model/units.js';
import { MediaUnavailable } from '../../posts/media/folder.js';
import type { Upload, Uploads } from '../../posts/media/upload.js';
import {
  bodyTooLarge,
  type FormFields,
  MAX_BODY_BYTES,
  MAX_FIELDS,
  noRoomForBody,
  onBreak,
  passOver,
  tooManyFields,
} from './body.js';
import { HttpError, tryLater } from './http-error.js';

interface MultipartForm {
  readonly fields: FormFields;
  /** The file of the field `image`, which the caller discards in the end. */
  readonly image: Upload | undefined;
}

interface MultipartPlaces {
  /** Undefined where no images are taken. */
  readonly uploads: Uploads | undefined;
  /** Room for all of a body but its image. */
  readonly room: SharedRoom;
  readonly address: string;
}

/** Fields of a post that are no files. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(['lat', 'lon', 'comment', 'tags']);
const MAX_FILES = 10;
const MAX_PART_HEADERS = 16;
const MAX_PART_HEAD_BYTES = 8 * 1024;

/**
 * Reads a multipart body to its end; the file of the field `image` goes to `uploads` as it comes,
 * other files are passed over. Throws an HttpError and leaves no file: 400 where the body is
 * malformed, breaks off, has a file in the place of a text, several images, or one without
 * `uploads`; 413 where it is too large; 503 where there is no room.
 */
export async function readMultipart(
  request: IncomingMessage,
  { uploads, room, address }: MultipartPlaces,
): Promise<MultipartForm> {
  const fields = new Map<string, string[]>();
  let file: BusboyFileStream | undefined;
  let image: Promise<Upload> | undefined;
  let apart = 0;
  let refuse = (_error: Error): void => {};
  const guest = room.enter(address, () => refuse(noRoomForBody()));

  function addFile(name: string, given: BusboyFileStream, fileName: string): void {
    given.on('error', (error) => {
      // `uploads` reports errors of the image
      if (given !== file) refuse(error);
    });
    if (name !== 'image') {
      if (TEXT_FIELDS.has(name)) refuse(new HttpError(400, { [name]: ['Not a valid string.'] }));
      given.resume();
    } else if (fileName !== '') {
      takeImage(given, fileName);
    } else {
      // where no file was chosen, browsers send one without name and content
      given.once('readable', () => {
        if (given.readableLength === 0) given.resume();
        else takeImage(given, fileName);
      });
    }
  }

  function takeImage(given: BusboyFileStream, fileName: string): void {
    if (uploads === undefined) {
      refuse(imageError(400, 'This instance stores no images: it has no folder for them.'));
    } else if (image !== undefined) {
      refuse(imageError(400, 'Expected one image, got several.'));
    } else {
      file = given;
      given.once('limit', () => refuse(imageTooLarge(uploads)));
      image = uploads.receive(given, fileName, address);
      image.catch(refuse);
    }
  }

  /** Counts the bytes outside of the image, which are held in memory. */
  function count({ length }: Buffer): void {
    if (file !== undefined && !file.readableEnded) return;
    apart += length;
    if (apart > MAX_BODY_BYTES) refuse(bodyTooLarge());
    else guest.grow(length);
  }

  let unread = uploads?.maxBytes;
  try {
    const parser = createParser(request, uploads);
    unread = 0;
    await new Promise<void>((resolve, reject) => {
      refuse = reject;
      const tooMany = (): void => reject(tooManyFields());
      parser.once('partsLimit', tooMany).once('fieldsLimit', tooMany);
      const detail = `Too many files. Expected at most ${MAX_FILES}.`;
      parser.once('filesLimit', () => reject(new HttpError(413, { detail })));
      parser.on('field', (name, value, _isCutName, _isCut, coding) => {
        if (!/^(?:7bit|8bit|binary)$/i.test(coding.trim())) reject(codedField(name, coding));
        addTo(fields, name, value);
      });
      parser.on('file', (name, given, fileName) => addFile(name, given, fileName));
      parser.on('error', reject);
      parser.once('finish', resolve);
      onBreak(request, reject);
      request.on('data', count).pipe(parser);
    });
    return { fields, image: await image };
  } catch (error) {
    request.unpipe();
    request.off('data', count);
    // what is left of the body stands between the answer and the next request
    passOver(request, unread);
    file?.destroy(error as Error);
    const made = await image?.catch(() => undefined);
    if (made !== undefined) await uploads!.discard(made);
    throw asHttpError(error);
  } finally {
    guest.leave();
  }
}

/** Throws where the Content-Length is too large, or the boundary is missing. */
function createParser({ headers }: IncomingMessage, uploads: Uploads | undefined): BusboyInstance {
  const most = MAX_BODY_BYTES + (uploads?.maxBytes ?? 0);
  if (Number(headers['content-length'] ?? 0) > most) {
    throw uploads === undefined ? bodyTooLarge() : imageTooLarge(uploads);
  }
  return new Busboy({
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
}

function codedField(name: string, coding: string): HttpError {
  const text = `Got Content-Transfer-Encoding ${quote(coding)}. Expected 7bit, 8bit or binary.`;
  return new HttpError(400, { [name]: [text] });
}

function imageTooLarge({ maxBytes }: Uploads): HttpError {
  return imageError(413, `The image is too large. Expected at most ${maxBytes} bytes.`);
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
