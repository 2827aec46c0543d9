import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { createQueue } from '../../query/queue.js';
import type { Context } from '../answer/context.js';
import { preflightHeaders } from '../answer/cors.js';
import { createPipeline } from '../answer/pipeline.js';
import type { Description } from '../description/description.js';
import type { Format } from '../formats/format.js';
import { HttpError, NotFound } from '../request/errors.js';
import { createOriginOf } from '../request/origin.js';
import { pathOf, queryOf } from '../request/target.js';
import { NOTIFICATIONS_PATH, POINTS_PATH, ROOT_PATH, TILES_PATH } from './addresses.js';
import {
  NOTIFICATIONS_DESCRIPTION,
  POINT_DESCRIPTION,
  POINTS_DESCRIPTION,
  READ_POINTS_DESCRIPTION,
  ROOT_DESCRIPTION,
  TILE_DESCRIPTION,
  TILES_DESCRIPTION,
} from './describe.js';
import { notificationsView } from './notifications.js';
import { pointView } from './point.js';
import { pointsView } from './points.js';
import { rootView } from './root.js';
import { tileSetView, tileView } from './tiles.js';

/** An address of the REST interface and all it does. */
export interface Resource {
  readonly path: string;
  readonly allow: string;
  readonly formats: readonly Format[];
  readonly description: Description;
  readonly get: RouteHandlerMethod;
}

/** The REST interface, address by address. */
export function createResources(context: Context): Resource[] {
  const serve = createPipeline(context);
  // of all views together: an engine works on one suspended query at a time
  const queue = createQueue();
  const points = pointsView(context, queue);
  const point = pointView();
  const notifications = notificationsView();
  const root = rootView();
  const tile = tileView(context, queue);
  const tiles = tileSetView(context);
  return [
    {
      path: POINTS_PATH,
      ...points,
      description: context.posting === undefined ? READ_POINTS_DESCRIPTION : POINTS_DESCRIPTION,
      get: serve(points),
    },
    { path: `${POINTS_PATH}:id/`, ...point, description: POINT_DESCRIPTION, get: serve(point) },
    {
      path: NOTIFICATIONS_PATH,
      ...notifications,
      description: NOTIFICATIONS_DESCRIPTION,
      get: serve(notifications),
    },
    { path: ROOT_PATH, ...root, description: ROOT_DESCRIPTION, get: serve(root) },
    {
      path: `${TILES_PATH}:z/:x/:y.mvt`,
      ...tile,
      description: TILE_DESCRIPTION,
      get: serve(tile),
    },
    {
      path: `${TILES_PATH}points.json`,
      ...tiles,
      description: TILES_DESCRIPTION,
      get: serve(tiles),
    },
  ];
}

/**
 * Adds the routes of a resource, one for every method, and the redirect to an address that ends with a
 * slash.
 */
export function addResource(app: FastifyInstance, resource: Resource, context: Context): void {
  const { path, allow, get } = resource;
  app.route({ method: ['GET', 'HEAD'], url: path, handler: get });
  app.route({ method: 'OPTIONS', url: path, handler: describe(resource) });
  app.route({
    method: app.supportedMethods.filter((method) => !allow.includes(method)),
    url: path,
    handler: ({ method }) => {
      throw wrongMethod(method, allow);
    },
  });

  if (!path.endsWith('/')) return;
  // the address without its slash leads there; 308 keeps a body and its method
  if (!path.endsWith('/')) return;
  const leadTo = createRedirect(context);
  app.route({
    method: app.supportedMethods,
    url: path.slice(0, -1),
    handler: (request, reply) => {
      const target = request.raw.url!;
      const query = queryOf(target);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const address = `${pathOf(target)}/${query === '' ? '' : `?${query}`}`;
      leadTo(address, isRead ? 301 : 308, request, reply);
    },
  });
}

/** Lets `/` lead to the list of resources. */
export function addFrontDoor(app: FastifyInstance, context: Context): void {
  const leadTo = createRedirect(context);
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) => {
      // the router takes the target `*` for this address
      if (pathOf(request.raw.url!) !== '/') throw new NotFound();
      leadTo(ROOT_PATH, 302, request, reply);
    },
  });
}

/** Makes redirects to addresses of this service, which name a host only where the settings do. */
function createRedirect({ origin }: Context) {
  const prefix = origin.publicUrl ?? '';
  const originOf = createOriginOf(origin);
  return (
    address: string,
    status: 301 | 302 | 308,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void => {
    // no link needs the origin, but hosts that are not allowed are led nowhere
    originOf(request.raw);
    reply.redirect(prefix + address, status);
  };
}

/** The error for a method that an address does not take. */
export function wrongMethod(method: string, allow: string): HttpError {
  return new HttpError(405, { detail: `Method "${method}" not allowed.` }, { Allow: allow });
}

function describe({ description, formats, allow }: Resource): RouteHandlerMethod {
  const { name, description: text, parses, actions } = description;
  const renders = formats.map(({ mediaType }) => mediaType);
  const body = JSON.stringify({ name, description: text, renders, parses, actions });
  const preflight = preflightHeaders(allow);
  return (_request, reply) => {
    for (let i = 0; i < preflight.length; i += 2) reply.header(preflight[i]!, preflight[i + 1]!);
    reply.headers({ 'Content-Type': 'application/json', Allow: allow }).send(Buffer.from(body));
  };
}
