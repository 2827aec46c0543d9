import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { type Answer, cacheableHeaders, sendAnswer, sendNotModified } from './answer.js';
import { userOf } from './auth.js';
import { browsable } from './browse/page.js';
import type { Context } from './context.js';
import { envelope } from './envelope.js';
import { invalidPage } from './errors.js';
import { pageLinks } from './links.js';
import { chooseRepresentation } from './negotiation.js';
import { originOf } from './origin.js';
import { parsePageQuery } from './params.js';
import { parseQueryString } from './query-string.js';
import { ALLOW_READ, NOTIFICATIONS_PATH, queryOf } from './routes.js';

/** `GET /rest/notifications/`: what the user of the token has not seen yet; nothing without a token. */
export function listNotifications(context: Context): RouteHandlerMethod {
  const { current, publicUrl, tokens } = context;

  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const { tag, lastModified, unseen } = current.generation;
    const pairs = parseQueryString(queryOf(raw.url!));
    const { page: wanted, pageSize, format } = parsePageQuery(pairs);
    const type = chooseRepresentation(raw.headers.accept, format);
    const user = userOf(raw.headers.authorization, tokens);
    const owner = user === undefined ? '' : `-${user}`;
    const { etag, headers } = cacheableHeaders(type, ALLOW_READ, tag + owner, lastModified, {
      isPersonal: true,
    });
    if (sendNotModified(reply, raw.headers['if-none-match'], etag, headers)) return;

    const all = (user === undefined ? undefined : unseen.get(user)) ?? [];
    const pageCount = Math.max(1, Math.ceil(all.length / pageSize));
    const page = wanted === 'last' ? pageCount : wanted;
    if (page > pageCount) throw invalidPage();
    const from = (page - 1) * pageSize;
    const links = pageLinks(originOf(raw, publicUrl) + NOTIFICATIONS_PATH, pairs, page, pageCount);
    const json = envelope(all.length, links, all.slice(from, from + pageSize));
    const body =
      type === 'json' ? json : browsable('Notifications', raw.url!, headers, json, links);
    const answer: Answer = { headers, etag, body };
    sendAnswer(reply, answer);
  };
}
