import { open, realpath } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { sep } from 'node:path';
import { Readable } from 'node:stream';
import send from '@fastify/send';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { IMAGES_PATH } from '../../posts/media/folder.js';
import { ALLOW_READ } from '../request/addresses.js';
import { HttpError, NotFound } from '../request/http-error.js';
import { addOtherAddress, FILE, FILE_METHODS } from './other-addresses.js';

const ID = /^[1-9]\d{0,15}$/;
/** Names as this service and the one before it give them: of images, without blanks, not hidden. */
const NAME = /^(?!\.)[\p{L}\p{M}\p{N}_.-]{1,255}\.(?:jpe?g|png|gif|webp)$/iu;
// `@fastify/send` alone: the plugin over it, `@fastify/static`, asks for Node 22

/** Bytes that are read at a time, and held of an image for a client that reads slowly. */
const CHUNK_BYTES = 64 * 1024;
/** Browsers run nothing of what they find here, should it ever be taken for a page. */
const POLICY = "default-src 'none'; sandbox";

/**
 * Adds `GET /media/map_data_points/<id>/<name>`: images out of `folder`, by the name that records
 * carry. There is no listing, and no name leads out of the folder.
 */
export function addMedia(app: FastifyInstance, folder: string): void {
  addOtherAddress(
    app,
    `${IMAGES_PATH}:id/:name`,
    FILE_METHODS,
    (...both) => sendImage(folder, ...both),
    FILE,
  );
}

async function sendImage(
  folder: string,
  { raw, params }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id, name } = params as { readonly id: string; readonly name: string };
  if (!ID.test(id) || !NAME.test(name)) throw new NotFound();
  const path = encodeURI(`/map_data_points/${id}/${name}`);
  // a name is never given to another image
  const onFile = (found: string): Promise<void> => checkInside(folder, found);
  const options = { root: folder, index: false, maxAge: '1y', immutable: true, onFile };
  // as for HEAD: the body is read below, without a file that stays open for a client that reads
  // slowly
  const asked = { method: 'HEAD', headers: raw.headers } as IncomingMessage;
  const { type, statusCode, headers, metadata } = await send(asked, path, options);
  if (type === 'file') {
    reply.code(statusCode).headers({ ...headers, Allow: ALLOW_READ });
    reply.header('Content-Security-Policy', POLICY);
    const length = Number(headers['Content-Length'] ?? 0);
    if (raw.method === 'HEAD' || length === 0) return reply.send();
    const start = Number(/^bytes (\d+)-/.exec(headers['Content-Range'] ?? '')?.[1] ?? 0);
    return reply.send(Readable.from(chunks(metadata.path, start, start + length)));
  }
  if (type === 'directory' || statusCode === 404) throw new NotFound();
  // an error of the system, such as a file that may not be read
  if (statusCode === 500) throw metadata.error;
  const range = headers['Content-Range'];
  const detail =
    statusCode === 416 ? 'The image has no bytes in this range.' : 'The image is another one.';
  throw new HttpError(
    statusCode,
    { detail },
    range === undefined ? {} : { 'Content-Range': range },
  );
}

/** Reads a file piece by piece and opens it for each of them. */
async function* chunks(path: string, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const file = await open(path);
    try {
      const room = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - at));
      const { bytesRead } = await file.read(room, 0, room.length, at);
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was sent`);
      at += bytesRead;
      yield room.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }
}

/** Throws NotFound where a link leads out of the folder. */
async function checkInside(folder: string, path: string): Promise<void> {
  const [root, target] = await Promise.all([realpath(folder), realpath(path)]);
  if (!target.startsWith(root + sep)) throw new NotFound();
}
