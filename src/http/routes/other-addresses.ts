import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
} from 'fastify';
import type { Context } from '../answer/context.js';
import { FOR_EVER, preflightHeaders, varyOf } from '../answer/head.js';
import { STATIC_PATH } from '../assets/assets.js';
import { html } from '../pages/html.js';
import { PAGE_TYPE } from '../pages/page-format.js';
import { documentHead } from '../pages/site.js';
import { ALLOW_READ, OPENAPI_PATH, ROOT_PATH, VIEWER_PATH } from '../request/addresses.js';
import { NotFound, wrongMethod } from '../request/http-error.js';
import { createCodingOf } from '../request/negotiation.js';

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

/** Adds `GET /static/<digest>/<name>`: the styles and scripts of the pages. */
export function addStatic(
  app: FastifyInstance,
  { site, corsOrigin }: Pick<Context, 'site' | 'corsOrigin'>,
): void {
  const { assets } = site;
  const vary = varyOf({ isPersonal: false, compress: true, corsOrigin, isFile: true });
  const codingOf = createCodingOf();

  async function send({ raw, params }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { version, file } = params as { readonly version: string; readonly file: string };
    const asset = assets.at(version, file);
    if (asset === undefined) throw new NotFound();
    const coding = codingOf(raw.headers['accept-encoding']);
    const body = coding === undefined ? asset.body : await asset.compressed(coding);
    // another content has another address
    reply.headers({ Allow: ALLOW_READ, Vary: vary, 'Cache-Control': FOR_EVER });
    reply.headers({ 'Content-Type': asset.type, 'Content-Length': body.length });
    if (coding !== undefined) reply.header('Content-Encoding', coding);
    return reply.send(raw.method === 'HEAD' ? undefined : body);
  }

  addOtherAddress(app, `${STATIC_PATH}:version/:file`, FILE_METHODS, send, FILE);
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
  const url = (name: string): string => assets.url(name);
  const document = html`<a href="${prefix}${OPENAPI_PATH}">an OpenAPI document</a>`;
  return html`${documentHead(assets, 'The interface', ['swagger-ui.css', 'viewer.css'], [])}<body>
<script defer src="${url('swagger-ui-bundle.js')}"></script>
<script type="module" src="${url('viewer.js')}"></script>
<nav class="home"><a href="${prefix}${ROOT_PATH}">Waypost</a></nav>
<main id="viewer" data-document="${prefix}${OPENAPI_PATH}"></main>
<noscript><p class="home">This page needs JavaScript. What it shows is ${document}.</p></noscript>
</body>
</html>
`.text;
}
