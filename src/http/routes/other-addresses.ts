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
import { IMAGES_PATH } from '../../posts/media/folder.js';
import { createCodingOf } from '../answer/compression.js';
import type { Context } from '../answer/context.js';
import { FOR_EVER, preflightHeaders, varyOf } from '../answer/head.js';
import { STATIC_PATH } from '../assets/assets.js';
import { html } from '../pages/html.js';
import { PAGE_TYPE } from '../pages/page-format.js';
import { documentHead } from '../pages/site.js';
import { ALLOW_READ, OPENAPI_PATH, ROOT_PATH, VIEWER_PATH } from '../request/addresses.js';
import { HttpError, NotFound, wrongMethod } from '../request/http-error.js';

/** Adds an address that is no resource: `methods`, OPTIONS, and 405 for the others. */
export function addOtherAddress(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  handler: RouteHandlerMethod,
  config: FastifyContextConfig = {},
): void {
  const allow = [...methods, 'OPTIONS'].join(', ');
  const headers = { Allow: allow, ...preflightHeaders(allow) };
  app.route({ method: [...methods], url, config, handler });
  app.route({
    method: 'OPTIONS',
    url,
    config,
    handler: (_request, reply) => reply.code(204).headers(headers).send(),
  });
  refuseOtherMethods(app, url, allow, config);
}

/** Adds the route of an address that refuses every method beside those of `allow`. */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  allow: string,
  config: FastifyContextConfig = {},
): void {
  app.route({
    method: app.supportedMethods.filter((method) => !allow.includes(method)),
    url,
    config,
    handler: ({ method }) => {
      throw wrongMethod(method, allow);
    },
  });
}

/** The methods and the mark of an address that sends files. */
export const FILE_METHODS: readonly string[] = ['GET', 'HEAD'];
export const FILE: FastifyContextConfig = { isFile: true };

/** Adds `GET /static/<name>.<hash>.<extension>`: the styles and scripts of the pages. */
export function addStatic(
  app: FastifyInstance,
  { site, corsOrigin }: Pick<Context, 'site' | 'corsOrigin'>,
): void {
  const { assets } = site;
  const vary = varyOf({ isPersonal: false, compress: true, corsOrigin, isFile: true });
  const codingOf = createCodingOf();

  async function send({ raw, params }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const asset = assets.at((params as { readonly file: string }).file);
    if (asset === undefined) throw new NotFound();
    const coding = codingOf(raw.headers['accept-encoding']);
    const body = coding === undefined ? asset.body : await asset.compressed(coding);
    // another content has another address
    reply.headers({ Allow: ALLOW_READ, Vary: vary, 'Cache-Control': FOR_EVER });
    reply.headers({ 'Content-Type': asset.type, 'Content-Length': body.length });
    if (coding !== undefined) reply.header('Content-Encoding', coding);
    return reply.send(raw.method === 'HEAD' ? undefined : body);
  }

  addOtherAddress(app, `${STATIC_PATH}:file`, FILE_METHODS, send, FILE);
}

/** What the viewer itself may load, which comes from this service alone. */
const SOURCES = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/**
 * Adds `GET /docs/`: the interface described, for people, by Swagger UI. The public URL is where the
 * page asks when it is not where it came from.
 */
export function addViewer(
  app: FastifyInstance,
  { origin, site }: Pick<Context, 'origin' | 'site'>,
): void {
  const { publicUrl } = origin;
  const asked = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
  const headers = {
    Allow: ALLOW_READ,
    'Content-Type': PAGE_TYPE,
    'Content-Security-Policy': [...SOURCES, ["connect-src 'self'", ...asked].join(' ')].join('; '),
    'Referrer-Policy': 'same-origin',
  };
  /** Made when it is asked for first: the files that it names are large. */
  let page: string | undefined;

  async function send({ raw }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    page ??= viewerPage(site);
    reply.headers({ ...headers, 'Content-Length': Buffer.byteLength(page) });
    return reply.send(raw.method === 'HEAD' ? undefined : page);
  }

  addOtherAddress(app, VIEWER_PATH, FILE_METHODS, send, FILE);
  app.route({
    method: ['GET', 'HEAD'],
    url: VIEWER_PATH.slice(0, -1),
    config: FILE,
    // relative, so that a prefix of a proxy in front stays
    handler: (_request, reply) => reply.redirect(VIEWER_PATH.slice(1), 301),
  });
}

function viewerPage({ assets, prefix }: Context['site']): string {
  const url = (name: string): string => assets.named(name).url;
  return html`${documentHead(assets, 'The interface', ['swagger-ui.css', 'viewer.css'], [])}<body>
<script defer src="${url('swagger-ui-bundle.js')}"></script>
<script type="module" src="${url('viewer.js')}"></script>
<nav class="home"><a href="${prefix}${ROOT_PATH}">Waypost</a></nav>
<main id="viewer" data-document="${prefix}${OPENAPI_PATH}"></main>
<noscript><p class="home">This page needs JavaScript. What it shows is <a href="${prefix}${OPENAPI_PATH}">an OpenAPI document</a>.</p></noscript>
</body>
</html>
`.text;
}

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
