import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { cacheableHeaders, sendAnswer } from './answer.js';
import { browsable } from './browse/page.js';
import type { Context } from './context.js';
import { chooseRepresentation } from './negotiation.js';
import { originOf } from './origin.js';
import { readFormat } from './params.js';
import { parseQueryString } from './query-string.js';
import { ALLOW_READ, NOTIFICATIONS_PATH, POINTS_PATH, queryOf } from './routes.js';

/** `GET /rest/`: the resources by name and URL. */
export function showResources({ current, publicUrl }: Context): RouteHandlerMethod {
  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const format = readFormat(parseQueryString(queryOf(raw.url!)));
    const type = chooseRepresentation(raw.headers.accept, format);
    const { tag, lastModified } = current.generation;
    const { etag, headers } = cacheableHeaders(type, ALLOW_READ, tag, lastModified);
    const origin = originOf(raw, publicUrl);
    const json = Buffer.from(
      JSON.stringify({
        map_data_points: origin + POINTS_PATH,
        notifications: origin + NOTIFICATIONS_PATH,
      }),
    );
    const body = type === 'json' ? json : browsable('Waypost', raw.url!, headers, json);
    sendAnswer(reply, { headers, etag, body });
  };
}
