import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { quote } from '../../model/quote.js';
import type { SharedRoom } from '../../model/turns.js';
import { addTo } from '../../model/units.js';
import { HttpError, tryLater } from './http-error.js';
import { parseQueryString } from './query-string.js';

/** The values of each field of a form in their order. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

/** What a body says: a JSON value, or a form. */
export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly fields: FormFields };

export type PostType = (typeof POST_TYPES)[number];

export const POST_TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
] as const;

/** Throws for what is no UTF-8; drops a byte order mark, which JSON may have. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });
const CHARSET = /;\s*charset\s*=\s*"?([^;"\s]*)/i;

/** Throws a 415 HttpError for another media type, and a character set or coding that is not read. */
export function typeOfBody<Type extends string>(
  { 'content-type': given = '', 'content-encoding': coding }: IncomingHttpHeaders,
  types: readonly Type[],
): Type {
  const mediaType = given.split(';', 1)[0]!.trim().toLowerCase();
  const type = types.find((one) => one === mediaType);
  if (type === undefined) throw unsupported(`media type ${quote(mediaType)}`);
  const charset = CHARSET.exec(given)?.[1] ?? 'utf-8';
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw unsupported(`character set ${quote(charset)}`);
  }
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    throw unsupported(`content coding ${quote(coding)}`);
  }
  return type;
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

/** Bytes that a body may have without its image. */
export const MAX_BODY_BYTES: number = 256 * 1024;
/** Fields of a form, repeated ones counted each time. */
export const MAX_FIELDS = 1_000;
/** Depth of nested values in a JSON body, and values in a posted one. */
const MAX_DEPTH = 32;
const MAX_VALUES = 10_000;
/** Memory of a chunk beside its bytes. */
const CHUNK_ROOM = 256;
/** Bytes that the client of a refused body may go on sending. */
const MOST_UNWANTED = 16 * 1024 * 1024;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Receives a body of at most {@link MAX_BODY_BYTES}, which takes part of `room` until it has ended.
 * Throws an HttpError: 413 where it is too large, 503 where it must make room for those of others,
 * 400 where it breaks off.
 */
export async function receiveBody(
  request: IncomingMessage,
  room: SharedRoom,
  address: string,
): Promise<Buffer> {
  // most bodies come with their heads: one read costs less than listeners
  await turn();
  if (request.complete) {
    const { readableLength } = request;
    if (readableLength > MAX_BODY_BYTES) throw bodyTooLarge();
    // without a length Node 26 reads one piece of several
    return request.read(readableLength) ?? Buffer.alloc(0);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  let refuse = (_error: HttpError): void => {};
  const guest = room.enter(address, () => refuse(noRoomForBody()));

  function add(chunk: Buffer): void {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) {
      refuse(bodyTooLarge());
      return;
    }
    chunks.push(chunk);
    guest.grow(chunk.length + CHUNK_ROOM);
  }

  try {
    await new Promise<void>((resolve, reject) => {
      refuse = reject;
      if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) refuse(bodyTooLarge());
      else request.on('data', add);
      request.once('end', resolve);
      onBreak(request, reject);
    });
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  } catch (error) {
    request.off('data', add);
    passOver(request);
    throw error;
  } finally {
    guest.leave();
  }
}

/** Calls `reject` with a 400 HttpError when a body breaks off before all of it was read. */
export function onBreak(request: IncomingMessage, reject: (error: HttpError) => void): void {
  const broken = (): void => {
    // not `complete`: of a body that has come whole, what waits to be read is lost, too
    if (!request.readableEnded) reject(new HttpError(400, { detail: 'The body broke off.' }));
  };
  // it may have been closed before anybody listened
  if (request.destroyed) broken();
  request.once('error', broken).once('close', broken);
}

/**
 * Reads on in a refused body, {@link MOST_UNWANTED} bytes beyond `allowed` ones: its client may read
 * the answer only when all is sent.
 */
export function passOver(request: IncomingMessage, allowed = 0): void {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > allowed + MOST_UNWANTED) request.socket.destroy();
  });
  request.resume();
}

/** An empty body counts as an object without keys. Throws as {@link parseJson} does. */
export function parseJsonBody(bytes: Uint8Array): Body {
  return { kind: 'json', value: bytes.length === 0 ? {} : parseJson(bytes, MAX_VALUES) };
}

/** Throws a 400 HttpError; what is too deep or has too many values is not parsed. */
export function parseJson(bytes: Uint8Array, maxValues: number): unknown {
  checkShape(bytes, maxValues);
  try {
    return JSON.parse(UTF_8.decode(bytes));
  } catch (error) {
    // newer versions of Node add line and column: an answer is the same on all
    throw noJson(
      error instanceof SyntaxError ? error.message.replace(/ \(line .*/, '') : 'it is no UTF-8',
    );
  }
}

/** Reads a form, in which nothing is an error. Throws a 413 HttpError for too many fields. */
export function parseFormBody(bytes: Buffer): Body {
  const text = bytes.toString('latin1');
  if (text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) throw tooManyFields();
  const fields = new Map<string, string[]>();
  for (const { name, value } of parseQueryString(text)) addTo(fields, name, value);
  return { kind: 'form', fields };
}

export function tooManyFields(): HttpError {
  return new HttpError(413, { detail: `Too many fields. Expected at most ${MAX_FIELDS}.` });
}

export function bodyTooLarge(): HttpError {
  const detail = `The body is too large. Expected at most ${MAX_BODY_BYTES} bytes without an image.`;
  return new HttpError(413, { detail });
}

export const noRoomForBody = (): HttpError =>
  tryLater('Too many bodies are coming in; try again in a moment.');

/** Looks at brackets and commas outside of strings only, and so at any text. */
function checkShape(bytes: Uint8Array, maxValues: number): void {
  let depth = 0;
  let values = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (isText) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) {
      isText = true;
    } else if (byte === COMMA) {
      values++;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++;
      if (++depth > MAX_DEPTH) throw noJson(`expected at most ${MAX_DEPTH} values in one another`);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth--;
    }
  }
  if (values > maxValues) throw noJson(`expected at most ${maxValues} values`);
}

function noJson(reason: string): HttpError {
  return new HttpError(400, { detail: `JSON parse error - ${reason}` });
}

function unsupported(what: string): HttpError {
  return new HttpError(415, { detail: `Unsupported ${what} in request.` });
}
