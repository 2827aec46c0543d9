import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { createResponder } from '../answer/answer.js';
import type { Context } from '../context.js';
import { browsable } from '../formats/html.js';
import { chooseRepresentation } from '../request/negotiation.js';
import { originOf } from '../request/origin.js';
import { readFormat } from '../request/params.js';
import { parseQueryString } from '../request/query-string.js';
import { ALLOW_READ, NOTIFICATIONS_PATH, POINTS_PATH, queryOf } from './addresses.js';

/** `GET /rest/`: the resources by name and URL. */
export function showResources(context: Context): RouteHandlerMethod {
  const responder = createResponder(context, { name: 'root', allow: ALLOW_READ });

  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const target = request.raw.url!;
    const origin = originOf(request.raw, context.origin);
    const format = readFormat(parseQueryString(queryOf(target)));
    const type = chooseRepresentation(request.raw.headers.accept, format);
    const head = responder.head(context.current.generation, type);
    if (responder.sendNotModified(request, reply, head)) return;
    const resources = {
      map_data_points: origin + POINTS_PATH,
      notifications: origin + NOTIFICATIONS_PATH,
    };
    const json = Buffer.from(JSON.stringify(resources));
    const body = type === 'json' ? json : browsable('Waypost', target, head, json);
    responder.send(request, reply, { ...head, body });
  };
}
