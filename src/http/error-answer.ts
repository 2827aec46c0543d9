import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Context } from './answer/context.js';
import { varyOf } from './answer/head.js';
import { JSON_FORMAT } from './formats/json-format.js';
import {
  errorPage,
  headerList,
  PAGE_NEGOTIATION,
  PAGE_OFFER,
  setPageHeaders,
} from './pages/page-format.js';
import type { Subject } from './pages/site.js';
import { HttpError, internalError } from './request/http-error.js';
import { queryOf } from './request/origin.js';
import { last, parseQueryString } from './request/query-string.js';

/** Answers a request with an error; `subject` is what the pages of its address are about. */
type AnswerError = (thrown: Error, reply: FastifyReply, subject?: Subject) => void;

/** Makes the one place where an error becomes a status, as JSON or as a page. */
export function createErrorAnswer({
  logger,
  site,
  corsOrigin,
}: Pick<Context, 'logger' | 'site' | 'corsOrigin'>): AnswerError {
  const vary = varyOf({ isPersonal: false, compress: false, corsOrigin });

  function prefersPage({ url, headers }: IncomingMessage): boolean {
    const format = last(parseQueryString(queryOf(url!)), 'format');
    if (format === PAGE_OFFER.parameter) return true;
    if (format === JSON_FORMAT.parameter) return false;
    try {
      return PAGE_NEGOTIATION.accepted(headers.accept) === PAGE_OFFER;
    } catch {
      return false;
    }
  }

  return (thrown, reply, subject) => {
    const error = asHttpError(thrown);
    const { raw, id } = reply.request;
    if (error.status === 500) {
      logger.error({ reqId: id, err: thrown, url: raw.url }, 'request failed');
    }
    // files are the same whatever a client accepts, and their errors are not
    reply.code(error.status).header('Vary', vary);
    if (!prefersPage(raw)) {
      reply.headers({ 'Content-Type': 'application/json', ...error.headers });
      reply.send(Buffer.from(JSON.stringify(error.body)));
      return;
    }
    setPageHeaders(reply, site);
    reply.headers(error.headers);
    // the answer to HEAD has the length of that to GET
    const method = raw.method === 'HEAD' ? 'GET' : raw.method!;
    const asked = { method, target: raw.url! };
    reply.send(errorPage(site, subject, asked, error, headerList(reply)));
  };
}

function asHttpError(error: Error & { statusCode?: number }): HttpError {
  if (error instanceof HttpError) return error;
  // Fastify's own, such as a body that is too large
  const { statusCode = 500 } = error;
  if (statusCode < 500) return new HttpError(statusCode, { detail: error.message });
  return internalError();
}
