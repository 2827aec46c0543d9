import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { rankOf } from '../dataset/order.js';
import { recordBytes } from '../dataset/records.js';
import { type Answer, cacheableHeaders, sendAnswer, sendNotModified } from './answer.js';
import { createAnswerCache } from './answer-cache.js';
import { browsable } from './browse/page.js';
import type { Context } from './context.js';
import { pointsEnvelope } from './envelope.js';
import { HttpError, invalidPage, NotFound } from './errors.js';
import { pageLinks } from './links.js';
import { chooseRepresentation } from './negotiation.js';
import { originOf } from './origin.js';
import { parsePointsQuery, readFormat } from './params.js';
import { parseQueryString } from './query-string.js';
import { ALLOW_POINTS, ALLOW_READ, POINTS_PATH, queryOf } from './routes.js';

/** `GET /rest/map_data_points/`: the points that satisfy the parameters, page by page. */
export function listPoints(context: Context): RouteHandlerMethod {
  const { current, publicUrl, zone } = context;
  const answers = createAnswerCache(context.answerCacheBytes);

  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const { accept, 'if-none-match': ifNoneMatch } = raw.headers;
    const { generation } = current;
    const origin = originOf(raw, publicUrl);
    const key = `${origin}${raw.url} ${accept}`;
    const kept = answers.get(generation, key);
    if (kept !== undefined) {
      if (!sendNotModified(reply, ifNoneMatch, kept.etag, kept.headers)) sendAnswer(reply, kept);
      return;
    }

    const pairs = parseQueryString(queryOf(raw.url!));
    const { query, format } = parsePointsQuery(pairs, zone);
    const type = chooseRepresentation(accept, format);
    const { tag, lastModified, engine } = generation;
    const { etag, headers } = cacheableHeaders(type, ALLOW_POINTS, tag, lastModified);
    if (sendNotModified(reply, ifNoneMatch, etag, headers)) return;

    const page = engine.run(query);
    if (page === undefined) throw invalidPage();
    const links = pageLinks(origin + POINTS_PATH, pairs, page.page, page.pageCount);
    const { records } = engine.dataset;
    const json = pointsEnvelope(page.count, links, records, page.rows, page.length);
    const body =
      type === 'json' ? json : browsable('Map data points', raw.url!, headers, json, links);
    const answer: Answer = { headers, etag, body };
    answers.offer(key, answer);
    sendAnswer(reply, answer);
  };
}

/** `GET /rest/map_data_points/<id>/`: one point. */
export function showPoint({ current }: Context): RouteHandlerMethod {
  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const { tag, lastModified, engine } = current.generation;
    const { dataset } = engine;
    const format = readFormat(parseQueryString(queryOf(raw.url!)));
    const type = chooseRepresentation(raw.headers.accept, format);
    const { id } = request.params as { id: string };
    const rank = /^\d{1,16}$/.test(id) ? rankOf(dataset.byId, Number(id)) : -1;
    if (rank < 0) throw new NotFound();
    const { etag, headers } = cacheableHeaders(type, ALLOW_READ, tag, lastModified);
    if (sendNotModified(reply, raw.headers['if-none-match'], etag, headers)) return;
    const json = recordBytes(dataset.records, dataset.byId.rows[rank]!);
    const body =
      type === 'json' ? json : browsable(`Map data point ${Number(id)}`, raw.url!, headers, json);
    sendAnswer(reply, { headers, etag, body });
  };
}

/** `POST /rest/map_data_points/` on an instance that only reads. */
export function refusePost(): never {
  throw new HttpError(503, { detail: 'This instance takes no writes: it serves a snapshot.' });
}
