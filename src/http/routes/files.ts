import { open, realpath } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { sep } from 'node:path';
import { Readable } from 'node:stream';
import send from '@fastify/send';
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
} from 'fastify';
import { isBucket } from '../../formats/bucket.js';
import { IMAGES_PATH } from '../../posts/media/folder.js';
import type { ImageBucket } from '../../posts/media/image-bucket.js';
import type { Context } from '../answer/context.js';
import { FOR_EVER, preflightHeaders, varyOf } from '../answer/head.js';
import { matchesEtag, matchesStrongly } from '../answer/validators.js';
import { STATIC_PATH } from '../pages/assets.js';
import { html } from '../pages/html.js';
import { PAGE_TYPE } from '../pages/page-format.js';
import { documentHead, pageHeaders } from '../pages/site.js';
import { ALLOW_READ, OPENAPI_PATH, ROOT_PATH, VIEWER_PATH } from '../request/addresses.js';
import { HttpError, NotFound, tryLater } from '../request/http-error.js';
import { createCodingOf } from '../request/negotiation.js';

/** Adds an address that is no resource: `methods`, and OPTIONS. */
export function addOtherAddress(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  handler: RouteHandlerMethod,
  config: FastifyContextConfig = {},
): void {
  const allow = [...methods, 'OPTIONS'].join(', ');
  const headers = { Allow: allow, ...preflightHeaders(allow) };
  const address = { path: url, allow };
  app.route({ method: [...methods], url, config: { ...config, address }, handler });
  app.route({
    method: 'OPTIONS',
    url,
    config,
    handler: (_request, reply) => reply.code(204).headers(headers).send(),
  });
}

const STATIC_FILE_PATH = `${STATIC_PATH}:version/:file`;
const IMAGE_PATH = `${IMAGES_PATH}:id/:name`;

function addFiles(app: FastifyInstance, url: string, handler: RouteHandlerMethod): void {
  addOtherAddress(app, url, ['GET', 'HEAD'], handler, FILE);
}

const FILE: FastifyContextConfig = { isFile: true };

/** Adds `GET /static/<digest>/<name>`: the styles and scripts of the pages. */
export function addStatic(app: FastifyInstance, { site, corsOrigin }: Context): void {
  const { assets } = site;
  const vary = varyOf({ compress: true, corsOrigin, isFile: true });
  const codingOf = createCodingOf(['br', 'gzip']);

  async function send({ raw, params }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { version, file } = params as { readonly version: string; readonly file: string };
    const coding = codingOf(raw.headers['accept-encoding']);
    const asset = assets.at(version, file, coding);
    if (asset === undefined) throw new NotFound();
    // another content has another address
    reply.headers({ Allow: ALLOW_READ, Vary: vary, 'Cache-Control': FOR_EVER });
    if (coding !== undefined) reply.header('Content-Encoding', coding);
    return reply.header('Content-Type', asset.type).send(await asset.body);
  }

  addFiles(app, STATIC_FILE_PATH, send);
}

/** Adds `GET /docs/`: Swagger UI, which may send requests to the public URL, too. */
export function addViewer(app: FastifyInstance, { origin, site }: Context): void {
  const { publicUrl } = origin;
  const asked = publicUrl === undefined ? '' : ` ${new URL(publicUrl).origin}`;
  const sources = {
    'img-src': "'self' data:",
    'connect-src': `'self'${asked}`,
    'form-action': "'none'",
  };
  const headers = { Allow: ALLOW_READ, 'Content-Type': PAGE_TYPE, ...pageHeaders(sources) };
  /** Made when it is asked for first: the files that it names are large. */
  let page: string | undefined;

  addFiles(app, VIEWER_PATH, (_request, reply) => {
    page ??= viewerPage(site);
    return reply.headers(headers).send(page);
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: VIEWER_PATH.slice(0, -1),
    config: FILE,
    // relative, so that a prefix of a proxy in front stays
    handler: (_request, reply) => reply.redirect(VIEWER_PATH.slice(1), 301),
  });
}

function viewerPage({ assets, prefix }: Context['site']): string {
  const document = html`<a href="${prefix}${OPENAPI_PATH}">an OpenAPI document</a>`;
  return html`${documentHead(assets, 'The interface', ['swagger-ui.css', 'viewer.css'], [])}<body>
<script defer src="${assets.url('swagger-ui-bundle.js')}"></script>
<script type="module" src="${assets.url('page.js')}"></script>
<nav class="home"><a href="${prefix}${ROOT_PATH}">Waypost</a></nav>
<main id="viewer" data-document="${prefix}${OPENAPI_PATH}"></main>
<noscript><p class="home">This page needs JavaScript. What it shows is ${document}.</p></noscript>
</body>
</html>
`.text;
}

const ID = /^[1-9]\d{0,15}$/;
/** Names that this service and the original give to images: no blanks, not hidden. */
const NAME = /^(?!\.)[\p{L}\p{M}\p{N}_.-]{1,255}\.(?:jpe?g|png|gif|webp)$/iu;
// `@fastify/send` alone: the plugin over it, `@fastify/static`, asks for Node 22

/** Bytes that are read at a time, and held of an image for a client that reads slowly. */
const CHUNK_BYTES = 64 * 1024;
/** Browsers run nothing of what they find here, should it ever be taken for a page. */
const POLICY = "default-src 'none'; sandbox";
const TYPES: Readonly<Record<string, string>> = {
  ...{ jpg: 'image/jpeg', jpeg: 'image/jpeg', png: 'image/png' },
  ...{ gif: 'image/gif', webp: 'image/webp' },
};
/** Seconds after which an image of a store that did not answer may be asked for again. */
const RETRY_AFTER = 5;

/** Adds `GET /media/map_data_points/<id>/<name>`: images out of a folder or a bucket. */
export function addMedia(app: FastifyInstance, media: string): void {
  const sendImage = isBucket(media) ? createBucketSender(media) : createFolderSender(media);
  const handler = ({ raw, params }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { id, name } = params as { readonly id: string; readonly name: string };
    if (!ID.test(id) || !NAME.test(name)) throw new NotFound();
    return sendImage({ id, name, raw }, reply);
  };
  addFiles(app, IMAGE_PATH, handler);
}

/** `id` and `name` have been checked, and lead out of no folder. */
interface ImageRequest {
  readonly id: string;
  readonly name: string;
  readonly raw: IncomingMessage;
}

type ImageSender = (request: ImageRequest, reply: FastifyReply) => Promise<FastifyReply>;

function createBucketSender(address: string): ImageSender {
  let opened: Promise<ImageBucket> | undefined;

  return async ({ id, name, raw }, reply) => {
    // the client of buckets is loaded when the first image is asked for
    opened ??= import('../../posts/media/image-bucket.js').then((one) =>
      one.openImageBucket(address),
    );
    const bucket = await opened;
    const found = await bucket.find(id, name).catch(refuseNow);
    if (found === undefined) throw new NotFound();
    const { ContentLength: length = 0, ETag: etag, LastModified } = found;
    const { 'if-match': match, 'if-none-match': noneMatch, 'if-range': ifRange } = raw.headers;
    if (match !== undefined && !matchesStrongly(match, etag)) throw refused(412);
    reply.headers({ Allow: ALLOW_READ, 'Cache-Control': FOR_EVER });
    reply.header('Content-Security-Policy', POLICY);
    if (etag !== undefined) reply.header('ETag', etag);
    const isKnown = etag !== undefined && noneMatch !== undefined && matchesEtag(noneMatch, etag);
    if (isKnown) return reply.code(304).send();
    const isPart = ifRange === undefined || ifRange === etag;
    const part = isPart ? rangeOf(raw.headers.range, length) : undefined;
    const { from, to } = part ?? { from: 0, to: length };
    if (part !== undefined) {
      reply.code(206).header('Content-Range', `bytes ${from}-${to - 1}/${length}`);
    }
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];
    reply.headers({ 'Content-Type': type, 'Content-Length': to - from, 'Accept-Ranges': 'bytes' });
    if (LastModified !== undefined) reply.header('Last-Modified', LastModified.toUTCString());
    if (raw.method === 'HEAD' || length === 0) return reply.send();
    return reply.send(Readable.from(sent(bucket.read(id, name, from, to, etag))));
  };
}

/**
 * The bytes `from` up to, not including, `to` that a Range header asks for; undefined where it asks
 * for none or for several ranges, which gets the whole file. Throws a 416 HttpError.
 */
function rangeOf(
  range: string | undefined,
  length: number,
): { readonly from: number; readonly to: number } | undefined {
  const [, first, last] = /^bytes=(?:(\d+)-|-(?=\d))(\d*)$/.exec(range ?? '') ?? [];
  if (last === undefined) return undefined;
  const from = first === undefined ? Math.max(0, length - Number(last)) : Number(first);
  const to = first === undefined || last === '' ? length : Math.min(length, Number(last) + 1);
  if (from < to) return { from, to };
  // a range that ends before it begins is none
  if (from < length && first !== undefined) return undefined;
  throw refused(416, `bytes */${length}`);
}

function refuseNow(error: Error): never {
  throw tryLater(`${error.message}.`, RETRY_AFTER);
}

/** Pieces of an image; where the store fails at the first, that is the answer. */
async function* sent(pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pieces;
  } catch (error) {
    refuseNow(error as Error);
  }
}

/** Offset of the first byte that a `Content-Range` names. */
function firstByte(range: string | undefined): number {
  return Number(/^bytes (\d+)-/.exec(range ?? '')?.[1] ?? 0);
}

function refused(status: number, range?: string): HttpError {
  const detail =
    status === 416 ? 'The image has no bytes in this range.' : 'The image is another one.';
  return new HttpError(status, { detail }, range === undefined ? {} : { 'Content-Range': range });
}

function createFolderSender(folder: string): ImageSender {
  return async ({ id, name, raw }, reply) => {
    const path = encodeURI(`/map_data_points/${id}/${name}`);
    // a name is never given to another image
    const onFile = (found: string): Promise<void> => checkInside(folder, found);
    const options = { root: folder, index: false, maxAge: '1y', immutable: true, onFile };
    // as for HEAD: `chunks` reads the body, and holds no file open for a slow client
    const asked = { method: 'HEAD', headers: raw.headers } as IncomingMessage;
    const { type, statusCode, headers, metadata } = await send(asked, path, options);
    if (type === 'file') {
      reply.code(statusCode).headers({ ...headers, Allow: ALLOW_READ });
      reply.header('Content-Security-Policy', POLICY);
      const length = Number(headers['Content-Length'] ?? 0);
      if (raw.method === 'HEAD' || length === 0) return reply.send();
      const start = firstByte(headers['Content-Range']);
      return reply.send(Readable.from(chunks(metadata.path, start, start + length)));
    }
    if (type === 'directory' || statusCode === 404) throw new NotFound();
    // an error of the system, such as a file that may not be read
    if (statusCode === 500) throw metadata.error;
    throw refused(statusCode, headers['Content-Range']);
  };
}

/** Opens the file for each piece. */
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
