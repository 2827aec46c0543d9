import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../answer/context.js';
import { html } from '../pages/html.js';
import { PAGE_TYPE } from '../pages/page-format.js';
import { ALLOW_READ, OPENAPI_PATH, ROOT_PATH, VIEWER_PATH } from '../request/addresses.js';
import { addOtherAddress, FILE, FILE_METHODS } from './other-address.js';

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
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The interface – Waypost</title>
<link rel="icon" href="${url('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${url('swagger-ui.css')}">
<link rel="stylesheet" href="${url('viewer.css')}">
<script defer src="${url('swagger-ui-bundle.js')}"></script>
<script type="module" src="${url('viewer.js')}"></script>
</head>
<body>
<nav class="home"><a href="${prefix}${ROOT_PATH}">Waypost</a></nav>
<main id="viewer" data-document="${prefix}${OPENAPI_PATH}"></main>
<noscript><p class="home">This page needs JavaScript. What it shows is <a href="${prefix}${OPENAPI_PATH}">an OpenAPI document</a>.</p></noscript>
</body>
</html>
`.text;
}
