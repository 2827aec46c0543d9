import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { preflightHeaders } from '../answer/cors.js';
import type { Context } from '../context.js';
import { HttpError } from '../errors.js';
import {
  ALLOW_POINTS,
  ALLOW_READ,
  NOTIFICATIONS_PATH,
  POINTS_PATH,
  pathOf,
  queryOf,
  ROOT_PATH,
} from './addresses.js';
import {
  type Description,
  NOTIFICATIONS_DESCRIPTION,
  POINT_DESCRIPTION,
  POINTS_DESCRIPTION,
  ROOT_DESCRIPTION,
} from './describe.js';
import { listNotifications } from './notifications.js';
import { listPoints, refusePost, showPoint } from './points.js';
import { showResources } from './root.js';

/** An address of the REST interface and all it does. */
export interface Resource {
  readonly path: string;
  readonly allow: string;
  readonly description: Description;
  readonly get: RouteHandlerMethod;
  readonly post?: RouteHandlerMethod;
}

/** The REST interface, address by address. */
export function createResources(context: Context): Resource[] {
  return [
    {
      path: POINTS_PATH,
      allow: ALLOW_POINTS,
      description: POINTS_DESCRIPTION,
      get: listPoints(context),
      post: refusePost,
    },
    {
      path: `${POINTS_PATH}:id/`,
      allow: ALLOW_READ,
      description: POINT_DESCRIPTION,
      get: showPoint(context),
    },
    {
      path: NOTIFICATIONS_PATH,
      allow: ALLOW_READ,
      description: NOTIFICATIONS_DESCRIPTION,
      get: listNotifications(context),
    },
    {
      path: ROOT_PATH,
      allow: ALLOW_READ,
      description: ROOT_DESCRIPTION,
      get: showResources(context),
    },
  ];
}

/** Adds the routes of a resource, one for every method, and the redirect to it. */
export function addResource(app: FastifyInstance, resource: Resource, context: Context): void {
  const { path, allow, description, get, post } = resource;
  app.route({ method: ['GET', 'HEAD'], url: path, handler: get });
  app.route({ method: 'OPTIONS', url: path, handler: describe(description, allow) });
  if (post !== undefined) app.route({ method: 'POST', url: path, handler: post });
  app.route({
    method: app.supportedMethods.filter((method) => !allow.includes(method)),
    url: path,
    handler: ({ method }) => {
      throw wrongMethod(method, allow);
    },
  });

  // the address without its slash leads there; 308 keeps a body and its method
  const prefix = context.origin.publicUrl ?? '';
  app.route({
    method: app.supportedMethods,
    url: path.slice(0, -1),
    handler: (request, reply) => {
      const target = request.raw.url!;
      const query = queryOf(target);
      const location = `${prefix}${pathOf(target)}/${query === '' ? '' : `?${query}`}`;
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      reply.redirect(location, isRead ? 301 : 308);
    },
  });
}

/** The error for a method that an address does not take. */
export function wrongMethod(method: string, allow: string): HttpError {
  return new HttpError(405, { detail: `Method "${method}" not allowed.` }, { Allow: allow });
}

function describe(description: Description, allow: string): RouteHandlerMethod {
  const body = JSON.stringify(description);
  const preflight = preflightHeaders(allow);
  return (_request, reply) => {
    for (let i = 0; i < preflight.length; i += 2) reply.header(preflight[i]!, preflight[i + 1]!);
    reply.headers({ 'Content-Type': 'application/json', Allow: allow }).send(Buffer.from(body));
  };
}
