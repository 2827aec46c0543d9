import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { readAsset } from '../../model/quote.js';
import type { Context, ViewContext } from '../answer/context.js';
import { preflightHeaders } from '../answer/head.js';
import { createPipeline } from '../answer/pipeline.js';
import { type Address, optionsOf, type ReadAddress, type View } from '../answer/question.js';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../formats/json-format.js';
import {
  ALLOW_POINTS,
  ALLOW_READ,
  OGC_API_PATH,
  OPENAPI_PATH,
  ROOT_PATH,
} from '../request/addresses.js';
import { NotFound } from '../request/http-error.js';
import { pathOf } from '../request/origin.js';
import { parameters } from '../request/parameter.js';
import { batchView } from './batch.js';
import { CHANGES_ADDRESS, createChangesHandler } from './changes.js';
import { createExportHandler, EXPORT_ADDRESS } from './exports.js';
import { ogcAddresses } from './ogc.js';
import { notificationsView, pointsView, pointView, rootView } from './rest-views.js';
import { tileSetView, tileView } from './tile-views.js';

interface Resource extends Address {
  readonly get: RouteHandlerMethod;
}

export function createResources(context: Context): Resource[] {
  const { posting } = context;
  const serve = createPipeline(context);
  const resources: Resource[] = [...readAddresses(context), ...openapiAddresses()].map((view) => {
    return { ...view, get: serve(view) };
  });
  resources.push({ ...EXPORT_ADDRESS, get: createExportHandler(context) });
  if (posting !== undefined) {
    resources.push({ ...CHANGES_ADDRESS, get: createChangesHandler(context, posting) });
  }
  return resources;
}

/** What may be asked of the slow lane, by name. */
export function createViews(context: ViewContext): ReadonlyMap<string, View<unknown>> {
  const views = [...readAddresses(context), batchView(context)];
  return new Map(views.map((view) => [view.name, view]));
}

/** What the pipeline answers, but for the OpenAPI document. */
export function readAddresses(context: ViewContext): readonly ReadAddress<unknown>[] {
  return [
    pointsView(context),
    pointView(context),
    notificationsView(context),
    rootView(context),
    tileView(context),
    tileSetView(context),
    ...ogcAddresses(context),
  ];
}

/** `GET /openapi.json`, and the same at `/ogc/api`: what an instance may answer, for programs. */
export function openapiAddresses(): readonly ReadAddress<undefined>[] {
  const texts = new Map<string, string>();
  const openapi: ReadAddress<undefined> = {
    ...{ name: 'openapi', path: OPENAPI_PATH, allow: ALLOW_READ },
    title: 'OpenAPI document',
    description:
      'This interface described for programs, as OpenAPI 3.1, or 3.0 for who asks for it.',
    parameters: parameters('format@openapi'),
    formats: [JSON_FORMAT, OPENAPI, OPENAPI_30],
    read: () => undefined,
    find(_wanted, { origin }, _served, _budget, format) {
      const file = format === OPENAPI_30 ? 'openapi-3.0' : 'openapi-3.1';
      const text = texts.get(file) ?? readAsset(`${file}.json`);
      texts.set(file, text);
      // behind the brace that the text begins with
      return Buffer.from(`{"servers":${JSON.stringify([{ url: origin }])},${text.slice(1)}`);
    },
  };
  return [openapi, { ...openapi, name: 'ogcApi', path: OGC_API_PATH }];
}

/** Adds the routes of a resource, and the redirect to an address that ends with a slash. */
export function addResource(app: FastifyInstance, resource: Resource, context: Context): void {
  const { path, get, allow } = resource;
  const config = { address: resource };
  app.route({ method: ['GET', 'HEAD'], url: path, config, handler: get });
  const body = Buffer.from(JSON.stringify(optionsOf(resource)));
  const headers = { 'Content-Type': 'application/json', Allow: allow, ...preflightHeaders(allow) };
  const handler: RouteHandlerMethod = (_, reply) => void reply.headers(headers).send(body);
  app.route({ method: 'OPTIONS', url: path, handler });
  if (path.endsWith('/')) addSlash(app, path, context);
}

/** Redirects from the address without the slash at its end. */
export function addSlash(app: FastifyInstance, path: string, context: Context): void {
  app.route({
    method: app.supportedMethods,
    url: path.slice(0, -1),
    handler: (request, reply) => {
      const target = request.raw.url!;
      // the router takes an empty text for a variable part, too
      if (pathOf(target).endsWith('/')) return reply.callNotFound();
      if (request.method === 'OPTIONS') {
        // a preflight must not be redirected; the request behind it may be
        return reply.code(204).headers(preflightHeaders(ALLOW_POINTS)).send();
      }
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      // an empty query is none
      const address = target.replace(/(?=\?.)|\??$/, '/');
      // 308 keeps a body and its method
      leadTo(context, address, isRead ? 301 : 308, request, reply);
    },
  });
}

/** Redirects `/` to the list of resources. */
export function addFrontDoor(app: FastifyInstance, context: Context): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) => {
      // the router takes the target `*` for this address
      if (pathOf(request.raw.url!) !== '/') throw new NotFound();
      leadTo(context, ROOT_PATH, 302, request, reply);
    },
  });
}

/** Redirects to an address of this service, which names a host only where the settings do. */
function leadTo(
  { origin, originOf }: Context,
  address: string,
  status: 301 | 302 | 308,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // throws for hosts that are not allowed
  originOf(request.raw);
  reply.redirect((origin.publicUrl ?? '') + address, status);
}
