import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Sending } from './context.js';
import { corsHeaders } from './cors.js';
import { linesOf, type PlainStatus } from './head-lines.js';
import type { Observe } from './request-stats.js';

/**
 * Sends an answer with these header lines and counts it. It adds the headers for origins that are
 * listed by name, and the request's id where the client gave it one. `onSent` is called once Node
 * reads the body's memory no more; never when the client has gone.
 */
export type Write = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: PlainStatus,
  representation: string,
  lines: string,
  body?: Uint8Array | string,
  onSent?: () => void,
) => void;

/**
 * Makes the {@link Write} of an address. It writes straight to Node's response: Fastify's reply
 * costs more than a query.
 */
export function createWrite(sending: Sending, observe: Observe): Write {
  const { corsOrigin, logger, accessLog, writeHead, note, closing } = sending;
  return (request, reply, status, representation, lines, body, onSent) => {
    reply.hijack();
    const { raw: response } = reply;
    const { raw } = request;
    let head = lines;
    if (corsOrigin[0] !== '*') head += linesOf(corsHeaders(raw.headers.origin, corsOrigin));
    if (raw.headers['x-request-id'] !== undefined) head += `X-Request-Id: ${request.id}\r\n`;
    if (closing()) response.shouldKeepAlive = false;
    writeHead(response, status, head);
    // Node itself leaves the body out for HEAD
    response.end(body, onSent);
    note(response);
    const seconds = (performance.now() - request.startedAt) / 1000;
    observe(status, representation, seconds);
    if (accessLog > 0 && Math.random() < accessLog) {
      const { method, url } = raw;
      const rounded = Number(seconds.toFixed(6));
      logger.info({ reqId: request.id, method, url, status, seconds: rounded }, 'request');
    }
  };
}
