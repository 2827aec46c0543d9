import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { createResponder } from '../answer/answer.js';
import type { Context } from '../context.js';
import { invalidPage } from '../errors.js';
import { browsable } from '../formats/html.js';
import { envelope } from '../formats/json.js';
import { pageLinks } from '../formats/links.js';
import { chooseRepresentation } from '../request/negotiation.js';
import { originOf } from '../request/origin.js';
import { parsePageQuery } from '../request/params.js';
import { parseQueryString } from '../request/query-string.js';
import { userOf } from '../request/token.js';
import { ALLOW_READ, NOTIFICATIONS_PATH, queryOf } from './addresses.js';

/** `GET /rest/notifications/`: what the user of the token has not seen yet; nothing without a token. */
export function listNotifications(context: Context): RouteHandlerMethod {
  const facts = { name: 'notifications', allow: ALLOW_READ, isPersonal: true };
  const responder = createResponder(context, facts);

  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const target = request.raw.url!;
    const { accept, authorization } = request.raw.headers;
    const { generation } = context.current;
    const origin = originOf(request.raw, context.origin);
    const pairs = parseQueryString(queryOf(target));
    const { page: wanted, pageSize, format } = parsePageQuery(pairs);
    const type = chooseRepresentation(accept, format);
    const user = userOf(authorization, context.tokens);
    const head = responder.head(generation, type, user);
    if (responder.sendNotModified(request, reply, head)) return;

    const all = (user === undefined ? undefined : generation.unseen.get(user)) ?? [];
    const pageCount = Math.max(1, Math.ceil(all.length / pageSize));
    const page = wanted === 'last' ? pageCount : wanted;
    if (page > pageCount) throw invalidPage();
    const from = (page - 1) * pageSize;
    const links = pageLinks(origin + NOTIFICATIONS_PATH, pairs, page, pageCount);
    const json = envelope(all.length, links, all.slice(from, from + pageSize));
    const body = type === 'json' ? json : browsable('Notifications', target, head, json, links);
    responder.send(request, reply, { ...head, body });
  };
}
