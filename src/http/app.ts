import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type RouteHandlerMethod,
} from 'fastify';
import { COMMON_HEADERS } from './answer.js';
import { userOf } from './auth.js';
import type { Context } from './context.js';
import {
  type Description,
  NOTIFICATIONS_DESCRIPTION,
  POINT_DESCRIPTION,
  POINTS_DESCRIPTION,
  ROOT_DESCRIPTION,
} from './describe.js';
import { HttpError, NotFound } from './errors.js';
import { listNotifications } from './notifications.js';
import { listPoints, refusePost, showPoint } from './points.js';
import { showResources } from './root.js';
import {
  ALLOW_POINTS,
  ALLOW_READ,
  NOTIFICATIONS_PATH,
  POINTS_PATH,
  pathOf,
  queryOf,
  ROOT_PATH,
} from './routes.js';

interface Resource {
  readonly path: string;
  readonly allow: string;
  readonly describe: Description;
  readonly get: RouteHandlerMethod;
  readonly post?: RouteHandlerMethod;
}

/** Builds the HTTP service, not yet listening; closing it is up to the caller. */
export function createApp(context: Context, logger: FastifyBaseLogger): FastifyInstance {
  const resources: Resource[] = [
    {
      path: POINTS_PATH,
      allow: ALLOW_POINTS,
      describe: POINTS_DESCRIPTION,
      get: listPoints(context),
      post: refusePost,
    },
    {
      path: `${POINTS_PATH}:id/`,
      allow: ALLOW_READ,
      describe: POINT_DESCRIPTION,
      get: showPoint(context),
    },
    {
      path: NOTIFICATIONS_PATH,
      allow: ALLOW_READ,
      describe: NOTIFICATIONS_DESCRIPTION,
      get: listNotifications(context),
    },
    {
      path: ROOT_PATH,
      allow: ALLOW_READ,
      describe: ROOT_DESCRIPTION,
      get: showResources(context),
    },
  ];

  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // the handlers read the query themselves, from the raw target
    routerOptions: { querystringParser: () => ({}) },
    frameworkErrors: (_error, request, reply) => sendError(new NotFound(), request, reply),
    exposeHeadRoutes: false,
  });
  // without a route that reads a body, none is parsed
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    sendError(error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    // methods that the router does not know end here whatever the address
    const known = resources.find(({ path }) => addressOf(path).test(pathOf(request.raw.url!)));
    const error = known === undefined ? new NotFound() : wrongMethod(request.method, known.allow);
    sendError(error, request, reply);
  });
  app.addHook('onRequest', (request, _reply, done) => {
    userOf(request.raw.headers.authorization, context.tokens);
    done();
  });

  app.get('/health/ready', (_request, reply) => {
    reply.send({ status: 'ready', points: context.current.generation.engine.dataset.count });
  });
  for (const resource of resources) addResource(app, resource, context.publicUrl ?? '');
  return app;
}

function addResource(app: FastifyInstance, resource: Resource, prefix: string): void {
  const { path, allow, describe, get, post } = resource;
  app.route({ method: ['GET', 'HEAD'], url: path, handler: get });
  app.route({ method: 'OPTIONS', url: path, handler: describing(describe, allow) });
  if (post !== undefined) app.route({ method: 'POST', url: path, handler: post });
  const others = app.supportedMethods.filter((method) => !allow.includes(method));
  app.route({
    method: others,
    url: path,
    handler: ({ method }) => {
      throw wrongMethod(method, allow);
    },
  });

  // the address without its slash leads there; 308 keeps a body and its method
  app.route({
    method: app.supportedMethods,
    url: path.slice(0, -1),
    handler: (request, reply) => {
      const target = request.raw.url!;
      const query = queryOf(target);
      const location = `${prefix}${pathOf(target)}/${query === '' ? '' : `?${query}`}`;
      const keepsMethod = request.method === 'GET' || request.method === 'HEAD';
      reply.headers(pairs(COMMON_HEADERS)).redirect(location, keepsMethod ? 301 : 308);
    },
  });
}

function describing(description: Description, allow: string): RouteHandlerMethod {
  const body = JSON.stringify(description);
  return (_request, reply) => {
    reply
      .headers({
        ...pairs(COMMON_HEADERS),
        'Content-Type': 'application/json',
        Allow: allow,
        Vary: 'Accept',
        // for browsers that ask before a request from another origin
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': 'Accept, Authorization, Content-Type, If-None-Match',
        'Access-Control-Max-Age': '86400',
      })
      .send(Buffer.from(body));
  };
}

function wrongMethod(method: string, allow: string): HttpError {
  return new HttpError(405, { detail: `Method "${method}" not allowed.` }, { Allow: allow });
}

/** Matches the addresses of a route, such as `/rest/map_data_points/:id/`. */
function addressOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
}

/** The one place where an error becomes a status. */
function sendError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const answer = asHttpError(error);
  if (answer.status >= 500 && !(error instanceof HttpError)) request.log.error(error);
  reply
    .code(answer.status)
    .headers({
      ...pairs(COMMON_HEADERS),
      'Content-Type': 'application/json',
      Vary: 'Accept',
      ...answer.headers,
    })
    .send(Buffer.from(JSON.stringify(answer.body)));
}

function asHttpError(error: Error & { statusCode?: number }): HttpError {
  if (error instanceof HttpError) return error;
  // Fastify's own, such as a body that is too large
  const { statusCode = 500 } = error;
  if (statusCode < 500) return new HttpError(statusCode, { detail: error.message });
  return new HttpError(500, { detail: 'Internal server error.' });
}

/** Names and values in turn, as an object. */
function pairs(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) headers[flat[i]!] = flat[i + 1]!;
  return headers;
}
