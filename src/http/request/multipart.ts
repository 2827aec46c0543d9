import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MediaUnavailable } from '../../media/folder.js';
import type { Upload, Uploads } from '../../media/upload.js';
import { HttpError, RETRY_AFTER } from './errors.js';

/** What a multipart body says. */
export interface MultipartForm {
  /** The values of each field, in their order. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** The file of the field `image`. Whoever reads the body makes it an image or discards it. */
  readonly image: Upload | undefined;
}

/** Bytes that all names and values of a body may have together, files apart. */
const MAX_FIELD_BYTES = 1024 * 1024;
const MAX_FIELDS = 1_000;
const MAX_FILES = 10;
const MAX_NAME_BYTES = 100;
const MAX_PART_HEADERS = 16;

/** Lets the routes of a scope, and no others, read multipart bodies. */
export async function addMultipart(scope: FastifyInstance): Promise<void> {
  await scope.register(multipart, {
    limits: {
      fields: MAX_FIELDS,
      files: MAX_FILES,
      parts: MAX_FIELDS + MAX_FILES,
      fieldNameSize: MAX_NAME_BYTES,
      fieldSize: MAX_FIELD_BYTES,
      headerPairs: MAX_PART_HEADERS,
    },
    throwFileSizeLimit: false,
    isPartAFile: (_name, _type, fileName) => fileName !== undefined,
  });
}

/**
 * Reads a multipart body to its end; the file of the field `image` goes to `uploads` as it comes,
 * other files are passed over. Throws an HttpError: 400 where the body is none, has several images,
 * or one without `uploads`; 413 where it is too large; 503 where the image finds no room. No file
 * is left then.
 */
export async function readMultipart(
  request: FastifyRequest,
  uploads: Uploads | undefined,
): Promise<MultipartForm> {
  const fields = new Map<string, string[]>();
  let image: Upload | undefined;
  let fieldBytes = 0;
  try {
    refuseLarge(request, uploads);
    const limits = { fileSize: uploads?.maxBytes ?? 1 };
    for await (const part of request.parts({ limits })) {
      if (part.type === 'field') {
        const text = textOf(part as MultipartValue);
        fieldBytes += part.fieldname.length + text.length;
        if (part.valueTruncated || fieldBytes > MAX_FIELD_BYTES) throw fieldsTooLarge();
        const values = fields.get(part.fieldname);
        if (values === undefined) fields.set(part.fieldname, [text]);
        else values.push(text);
      } else if (part.fieldname !== 'image' || (await isNoFile(part))) {
        part.file.resume();
      } else {
        if (image !== undefined) throw imageError(400, 'Expected one image, got several.');
        image = await takeImage(part, uploads);
      }
    }
    return { fields, image };
  } catch (error) {
    if (image !== undefined) await uploads?.discard(image);
    // what is left of the body stands between the answer and the next request
    request.raw.unpipe();
    request.raw.resume();
    throw asHttpError(error);
  }
}

/** Refuses a body by what it says of its length, before it is sent. */
function refuseLarge({ headers }: FastifyRequest, uploads: Uploads | undefined): void {
  const length = Number(headers['content-length'] ?? 0);
  if (uploads === undefined || length <= uploads.maxBytes + 2 * MAX_FIELD_BYTES) return;
  throw imageTooLarge(uploads);
}

/** A part may call its value JSON, and the plugin then has it parsed. */
function textOf({ value }: MultipartValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Whether a form was sent without a file chosen: browsers then send one without name and content.
 */
async function isNoFile({ file, filename }: MultipartFile): Promise<boolean> {
  if (filename !== '') return false;
  if (file.readableLength > 0) return false;
  return new Promise((resolve) => {
    file.once('readable', () => resolve(file.readableLength === 0));
    file.once('end', () => resolve(true));
    file.once('error', () => resolve(true));
  });
}

async function takeImage(
  { file, filename }: MultipartFile,
  uploads: Uploads | undefined,
): Promise<Upload> {
  if (uploads === undefined) {
    file.resume();
    throw imageError(400, 'This instance stores no images: it has no folder for them.');
  }
  const upload = await uploads.receive(file, filename);
  if (!file.truncated) return upload;
  await uploads.discard(upload);
  throw imageTooLarge(uploads);
}

function imageTooLarge({ maxBytes }: Uploads): HttpError {
  return imageError(413, `The image is too large. Expected at most ${maxBytes} bytes.`);
}

function fieldsTooLarge(): HttpError {
  const detail = `The fields are too large. Expected at most ${MAX_FIELD_BYTES} bytes altogether.`;
  return new HttpError(413, { detail });
}

function imageError(status: number, text: string): HttpError {
  return new HttpError(status, { image: [text] });
}

/** Errors of the plugin's that are not about the form of the body, by their code. */
const TOO_MANY: Readonly<Record<string, string>> = {
  FST_PARTS_LIMIT: `Too many parts. Expected at most ${MAX_FIELDS + MAX_FILES}.`,
  FST_FIELDS_LIMIT: `Too many fields. Expected at most ${MAX_FIELDS}.`,
  FST_FILES_LIMIT: `Too many files. Expected at most ${MAX_FILES}.`,
};

function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const { code = '', message } = error as Error & { code?: string };
  if (error instanceof MediaUnavailable) {
    const detail = 'The image could not be stored; try again in a moment.';
    return new HttpError(503, { detail }, { 'Retry-After': RETRY_AFTER });
  }
  const tooMany = TOO_MANY[code];
  if (tooMany !== undefined) return new HttpError(413, { detail: tooMany });
  return new HttpError(400, { detail: `Multipart form parse error - ${message}` });
}
