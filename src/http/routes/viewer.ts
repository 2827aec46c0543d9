import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify';
import { createCodingOf } from '../answer/compression.js';
import type { Context } from '../answer/context.js';
import { varyOf } from '../answer/head.js';
import { ALLOW_READ, OPENAPI_PATH, VIEWER_PATH } from '../request/addresses.js';
import { NotFound } from '../request/errors.js';
import { addFiles } from './files.js';

const FILE = /^static\/[\w-]+(?:\.[\w-]+)+$/;
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
/** Headers of a request that the plugin heeds. */
const HEEDED = ['if-none-match', 'if-modified-since'];
/** Headers of its answers that are passed on. */
const PASSED = ['content-type', 'etag', 'last-modified', 'cache-control'];

/**
 * Adds `GET /docs/`: the interface described, for people, by the pages of a plugin. They are loaded
 * when they are asked for first, by an app of their own, so that they cost nothing before.
 * The public URL is where the pages ask when it is not where they came from.
 */
export function addViewer(app: FastifyInstance, { origin, corsOrigin }: Context): void {
  const { publicUrl } = origin;
  const vary = varyOf({ isPersonal: false, compress: true, corsOrigin, isFile: true });
  const asked = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
  const policy = [...SOURCES, ["connect-src 'self'", ...asked].join(' ')].join('; ');
  const codingOf = createCodingOf();
  let pages: Promise<FastifyInstance> | undefined;
  /** Compressed files by their paths: the plugin has eight. */
  const compressed = new Map<string, Promise<Buffer>>();

  async function send({ raw, params }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const file = (params as { readonly '*': string })['*'];
    if (file === 'json') return reply.redirect(`..${OPENAPI_PATH}`, 302);
    if (file !== '' && !FILE.test(file)) throw new NotFound();
    pages ??= loadPages();
    const known = HEEDED.map((name) => [name, raw.headers[name]]);
    const headers = Object.fromEntries(known.filter(([, value]) => value !== undefined));
    const url = VIEWER_PATH + file;
    const answer = await (await pages).inject({ method: 'GET', url, headers });
    const { statusCode, rawPayload } = answer;
    if (statusCode !== 200 && statusCode !== 304) throw new NotFound();
    reply.code(statusCode).headers({ Allow: ALLOW_READ, Vary: vary });
    for (const name of PASSED) {
      const value = answer.headers[name];
      if (value !== undefined) reply.header(name, value);
    }
    reply.headers({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'same-origin' });
    if (statusCode === 304) return reply.send();
    let body = rawPayload;
    if (codingOf(raw.headers['accept-encoding']) !== undefined) {
      const kept = compressed.get(file) ?? promisify(gzip)(rawPayload);
      compressed.set(file, kept);
      body = await kept;
      reply.header('Content-Encoding', 'gzip');
    }
    reply.header('Content-Length', body.length);
    return reply.send(raw.method === 'HEAD' ? undefined : body);
  }

  addFiles(app, `${VIEWER_PATH}*`, send);
  app.route({
    method: ['GET', 'HEAD'],
    url: VIEWER_PATH.slice(0, -1),
    config: { isFile: true },
    // relative, so that a prefix of a proxy in front stays
    handler: (_request, reply) => reply.redirect(VIEWER_PATH.slice(1), 301),
  });
}

/** Loads the plugin into an app that listens nowhere. */
async function loadPages(): Promise<FastifyInstance> {
  const { default: swaggerUi } = await import('@fastify/swagger-ui');
  const pages = fastify();
  // routes of the plugin carry a schema that says only that they are no part of the interface
  pages.setValidatorCompiler(() => () => true);
  pages.register(describer);
  await pages.register(swaggerUi, {
    routePrefix: VIEWER_PATH.slice(0, -1),
    theme: { title: 'Waypost – the interface' },
    logo: { type: 'image/svg+xml', content: '' },
    uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0 },
  });
  return pages;
}

/**
 * Stands where the plugin expects the one that makes documents, which would be loaded for nothing:
 * this service makes its own. The symbols are those by which Fastify knows plugins.
 */
const describer: FastifyPluginCallback = Object.assign(
  (pages: FastifyInstance, _options: object, done: () => void) => {
    pages.decorate('swagger', () => ({}));
    done();
  },
  {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('plugin-meta')]: { name: '@fastify/swagger' },
  },
);
