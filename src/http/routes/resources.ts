import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { Answering, Context, Observe, ViewContext } from '../answer/context.js';
import { preflightHeaders } from '../answer/head.js';
import { createPipeline, type Pipeline } from '../answer/pipeline.js';
import type { Asked, View } from '../answer/question.js';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../formats/json-format.js';
import type { Subject } from '../pages/site.js';
import {
  ALLOW_READ,
  NOTIFICATIONS_PATH,
  OGC_API_PATH,
  OPENAPI_PATH,
  POINT_PATH,
  POINTS_PATH,
  patternOf,
  ROOT_PATH,
  TILE_PATH,
  TILE_SET_PATH,
} from '../request/addresses.js';
import { NotFound } from '../request/http-error.js';
import type { Offer } from '../request/negotiation.js';
import { pathOf, queryOf } from '../request/origin.js';
import { batchView } from './batch.js';
import { changesAddress, createChangesHandler } from './changes.js';
import {
  createSubjects,
  type Description,
  FORMATS,
  NOTIFICATIONS_DESCRIPTION,
  OPENAPI_DESCRIPTION,
  optionsOf,
  POINT_DESCRIPTION,
  POINT_FORMATS,
  POINTS_DESCRIPTION,
  READ_POINTS_DESCRIPTION,
  ROOT_DESCRIPTION,
  TILE_DESCRIPTION,
  TILES_DESCRIPTION,
  withPage,
} from './describe.js';
import { createExportHandler, exportAddress } from './exports.js';
import { ogcResources } from './ogc.js';
import type { DocumentTexts, Others, Readable } from './openapi-document.js';
import { refuseOtherMethods } from './other-addresses.js';
import { notificationsView, pointsView, pointView, rootView } from './rest-views.js';
import { tileSetView, tileView } from './tile-views.js';

export interface Resource {
  readonly name: string;
  readonly path: string;
  readonly allow: string;
  readonly formats: readonly Offer[];
  readonly description: Description;
  read(asked: Asked): unknown;
  readonly subject?: Subject | undefined;
  readonly get: RouteHandlerMethod;
  /** Counts its answers, where the handler does not. */
  readonly observe?: Observe;
}

/** The REST interface, address by address; its description says what operators are answered. */
export function createResources(context: Context, hasOperations: boolean): Resource[] {
  const { posting, stats } = context;
  const others: Resource[] = [{ ...exportAddress(context), get: createExportHandler(context) }];
  if (posting !== undefined) {
    const address = changesAddress(context);
    const observe = stats.route(address.name);
    others.push({ ...address, get: createChangesHandler(context, posting), observe });
  }
  return resourcesOf(context, hasOperations, createPipeline(context), others);
}

export function createViews(context: ViewContext): ReadonlyMap<string, View<unknown>> {
  const views = new Map<string, View<unknown>>();
  const keep = <Wanted>(view: View<Wanted>) => {
    views.set(view.name, view as View<unknown>);
    return () => {};
  };
  resourcesOf(context, false, keep, []);
  views.set('batch', batchView(context) as View<unknown>);
  return views;
}

function resourcesOf(
  context: ViewContext,
  hasOperations: boolean,
  serve: Pipeline,
  others: readonly Resource[],
): Resource[] {
  const { site } = context;
  const subjects = createSubjects(context);
  const make = <Wanted>(
    path: string,
    view: View<Wanted>,
    description: Description,
    subject?: Subject,
  ): Resource => ({ path, ...view, description, subject, get: serve(view) });
  const resources: Resource[] = [
    make(
      POINTS_PATH,
      pointsView(context, withPage(site, subjects.points, POINT_FORMATS)),
      context.posting === undefined ? READ_POINTS_DESCRIPTION : POINTS_DESCRIPTION,
      subjects.points,
    ),
    make(
      POINT_PATH,
      pointView(withPage(site, subjects.point, POINT_FORMATS)),
      POINT_DESCRIPTION,
      subjects.point,
    ),
    make(
      NOTIFICATIONS_PATH,
      notificationsView(withPage(site, subjects.notifications, FORMATS)),
      NOTIFICATIONS_DESCRIPTION,
      subjects.notifications,
    ),
    make(
      ROOT_PATH,
      rootView(withPage(site, subjects.root, FORMATS)),
      ROOT_DESCRIPTION,
      subjects.root,
    ),
    make(TILE_PATH, tileView(context), TILE_DESCRIPTION),
    make(TILE_SET_PATH, tileSetView(context), TILES_DESCRIPTION),
    ...ogcResources(context, make),
    ...others,
  ];
  const hasImages = context.media !== undefined;
  const openapi = openapiView(resources, { hasImages, hasOperations });
  resources.push(make(OPENAPI_PATH, openapi, OPENAPI_DESCRIPTION));
  const api = {
    ...openapi,
    name: 'ogcApi',
  };
  resources.push(make(OGC_API_PATH, api, OPENAPI_DESCRIPTION));
  return resources;
}

/** Makes what finds the resource of a request's target, as the router does. */
export function createFinder(
  resources: readonly Resource[],
): (target: string) => Resource | undefined {
  const addresses = resources.map((resource) => ({ resource, pattern: patternOf(resource.path) }));
  return (target) => {
    const path = pathOf(target);
    return addresses.find(({ pattern }) => pattern.test(path))?.resource;
  };
}

/** Adds a route for every method, and the redirect to an address that ends with a slash. */
export function addResource(app: FastifyInstance, resource: Resource, answering: Answering): void {
  const { path, allow, get, observe } = resource;
  const config = observe === undefined ? {} : { observe };
  app.route({ method: ['GET', 'HEAD'], url: path, config, handler: get });
  app.route({ method: 'OPTIONS', url: path, handler: describe(resource) });
  refuseOtherMethods(app, path, allow);

  if (!path.endsWith('/')) return;
  addSlash(app, path, answering);
}

/** Lets an address without the slash at its end lead to the one with it. */
export function addSlash(app: FastifyInstance, path: string, answering: Answering): void {
  app.route({
    method: app.supportedMethods,
    url: path.slice(0, -1),
    handler: (request, reply) => {
      const target = request.raw.url!;
      const query = queryOf(target);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const address = `${pathOf(target)}/${query === '' ? '' : `?${query}`}`;
      // 308 keeps a body and its method
      leadTo(answering, address, isRead ? 301 : 308, request, reply);
    },
  });
}

/** Lets `/` lead to the list of resources. */
export function addFrontDoor(app: FastifyInstance, answering: Answering): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) => {
      // the router takes the target `*` for this address
      if (pathOf(request.raw.url!) !== '/') throw new NotFound();
      leadTo(answering, ROOT_PATH, 302, request, reply);
    },
  });
}

/** Redirects to an address of this service, which names a host only where the settings do. */
function leadTo(
  { origin, originOf }: Answering,
  address: string,
  status: 301 | 302 | 308,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // no link needs the origin, but hosts that are not allowed are led nowhere
  originOf(request.raw);
  reply.redirect((origin.publicUrl ?? '') + address, status);
}

function describe({ description, formats, allow }: Resource): RouteHandlerMethod {
  const body = JSON.stringify(optionsOf(description, formats));
  const headers = { 'Content-Type': 'application/json', Allow: allow, ...preflightHeaders(allow) };
  return (_request, reply) => void reply.headers(headers).send(Buffer.from(body));
}

/**
 * `GET /openapi.json`: the interface described, for programs. What makes the document is loaded
 * when it is asked for first: it costs each thread 4 ms of its start.
 */
export function openapiView(addresses: readonly Readable[], others: Others): View<undefined> {
  let texts: DocumentTexts | undefined;

  async function load(): Promise<void> {
    const { documentTexts } = await import('./openapi-document.js');
    texts ??= documentTexts(addresses, others);
  }

  return {
    name: 'openapi',
    allow: ALLOW_READ,
    isPersonal: false,
    formats: [JSON_FORMAT, OPENAPI, OPENAPI_30],
    prepare: () => (texts === undefined ? load() : undefined),
    read: () => undefined,
    find(_wanted, { origin }, _served, _budget, format) {
      const rest = format === OPENAPI_30 ? texts!.older : texts!.newer;
      return Buffer.from(`{"servers":${JSON.stringify([{ url: origin }])},${rest}`);
    },
  };
}
