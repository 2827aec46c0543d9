import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { rankOf } from '../../dataset/order.js';
import { recordBytes } from '../../dataset/records.js';
import { type Answer, createResponder } from '../answer/answer.js';
import { createAnswerCache } from '../answer/answer-cache.js';
import { createOutbox } from '../answer/outbox.js';
import { createPageBuffers } from '../answer/page-buffers.js';
import type { Context } from '../context.js';
import { HttpError, invalidPage, NotFound } from '../errors.js';
import { browsable } from '../formats/html.js';
import { pointsEnvelope } from '../formats/json.js';
import { pageLinks } from '../formats/links.js';
import { chooseRepresentation } from '../request/negotiation.js';
import { originOf } from '../request/origin.js';
import { parsePointsQuery, readFormat } from '../request/params.js';
import { parseQueryString } from '../request/query-string.js';
import { ALLOW_POINTS, ALLOW_READ, POINTS_PATH, queryOf } from './addresses.js';

/** A page that is made, and what it takes to send it. */
interface Waiting {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly answer: Answer;
  readonly onSent: (() => void) | undefined;
}

/** `GET /rest/map_data_points/`: the points that satisfy the parameters, page by page. */
export function listPoints(context: Context): RouteHandlerMethod {
  const { current, origin: originSettings, zone, stats, logger } = context;
  const responder = createResponder(context, { name: 'points', allow: ALLOW_POINTS });
  const answers = createAnswerCache(context.answerCacheBytes);
  const buffers = createPageBuffers();
  const outbox = createOutbox<Waiting>(
    ({ request, reply, answer, onSent }) => responder.send(request, reply, answer, onSent),
    ({ request, reply }, error) => {
      logger.error({ reqId: request.id, err: error, url: request.raw.url }, 'answer not sent');
      reply.raw.destroy();
    },
  );

  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const target = request.raw.url!;
    const { accept } = request.raw.headers;
    const { generation } = current;
    const origin = originOf(request.raw, originSettings);
    const key = `${origin}${target} ${accept}`;
    const kept = answers.get(generation.tag, key);
    if (kept !== undefined) {
      stats.cacheHits++;
      if (!responder.sendNotModified(request, reply, kept)) responder.send(request, reply, kept);
      return;
    }
    stats.cacheMisses++;

    const pairs = parseQueryString(queryOf(target));
    const { query, format } = parsePointsQuery(pairs, zone);
    const type = chooseRepresentation(accept, format);
    const head = responder.head(generation, type);
    if (responder.sendNotModified(request, reply, head)) return;

    const { engine } = generation;
    const page = engine.run(query);
    if (page === undefined) throw invalidPage();
    const links = pageLinks(origin + POINTS_PATH, pairs, page.page, page.pageCount);
    const { records } = engine.dataset;
    const isKept = answers.wants(key);
    const allocate = isKept || type === 'html' ? Buffer.allocUnsafeSlow : buffers.take;
    const { count, rows, length } = page;
    const json = pointsEnvelope(count, links, records, rows, length, allocate);
    const body = type === 'json' ? json : browsable('Map data points', target, head, json, links);
    // named one by one: a spread costs a microsecond
    const answer = { type, etag: head.etag, headers: head.headers, body };
    if (isKept) answers.keep(key, answer);
    const onSent = allocate === buffers.take ? () => buffers.give(json) : undefined;
    outbox({ request, reply, answer, onSent });
  };
}

/** `GET /rest/map_data_points/<id>/`: one point. */
export function showPoint(context: Context): RouteHandlerMethod {
  const responder = createResponder(context, { name: 'point', allow: ALLOW_READ });

  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const target = request.raw.url!;
    const { generation } = context.current;
    const { dataset } = generation.engine;
    // no link needs it, but hosts that are not allowed get no data
    originOf(request.raw, context.origin);
    const format = readFormat(parseQueryString(queryOf(target)));
    const type = chooseRepresentation(request.raw.headers.accept, format);
    const { id } = request.params as { id: string };
    const rank = /^\d{1,16}$/.test(id) ? rankOf(dataset.byId, Number(id)) : -1;
    if (rank < 0) throw new NotFound();
    const head = responder.head(generation, type);
    if (responder.sendNotModified(request, reply, head)) return;
    // a copy: an answer on its way to a slow client must not hold on to a generation
    const json = Buffer.from(recordBytes(dataset.records, dataset.byId.rows[rank]!));
    const title = `Map data point ${Number(id)}`;
    const body = type === 'json' ? json : browsable(title, target, head, json);
    responder.send(request, reply, { ...head, body });
  };
}

/** `POST /rest/map_data_points/` on an instance that only reads. */
export function refusePost(): never {
  throw new HttpError(503, { detail: 'This instance takes no writes: it serves a snapshot.' });
}
