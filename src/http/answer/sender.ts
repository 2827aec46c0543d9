import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Generation } from '../../live/generation.js';
import type { Context } from '../context.js';
import { otherSnapshot } from '../errors.js';
import type { Format } from '../formats/format.js';
import { corsHeaders } from './cors.js';
import { allowsSnapshot, isAny, matchesEtag } from './etag.js';

/** A whole answer with status 200, ready to be sent any number of times. */
export interface Answer extends AnswerHead {
  readonly body: Uint8Array;
}

/** An answer before its body is made. */
export interface AnswerHead {
  readonly format: Format;
  readonly etag: string;
  /** Names the snapshot that the answer is made from, in quotes as an entity tag. */
  readonly snapshot: string;
  /**
   * Names and values in turn, as `writeHead` takes them, all that answers of this format and generation have in
   * common; the values at {@link LENGTH_AT} and {@link ETAG_AT} are to be filled in.
   */
  readonly common: readonly string[];
}

/** Sends the answers of one address. */
export interface Sender {
  /** What an answer of this generation begins with; `address` tells it from those of other addresses. */
  head(generation: Generation, format: Format, address: string): AnswerHead;
  /**
   * Sends 304 when the client has the answer already, and says whether it did. `isFound` tells that without
   * preconditions the answer would have status 200, which `If-None-Match: *` asks for. Throws a 412 HttpError
   * when the client wants an answer of another snapshot.
   */
  sendByConditions(
    request: FastifyRequest,
    reply: FastifyReply,
    head: AnswerHead,
    isFound: boolean,
  ): boolean;
  /** `onSent` is called when the body's memory will not be read any more; never, when the client is gone. */
  send(request: FastifyRequest, reply: FastifyReply, answer: Answer, onSent?: () => void): void;
}

/** An address as its answers describe it. */
export interface Facts {
  /** For logs and metrics. */
  readonly name: string;
  readonly allow: string;
  /** Whether answers depend on the token, so that no shared cache may keep them. */
  readonly isPersonal: boolean;
}

/** Places in {@link AnswerHead.common}. Type and length, which belong to a body, stand before the rest. */
const LENGTH_AT = 3;
const BODY_HEADERS_END = 4;
const ETAG_AT = 5;

/**
 * Makes the sender of an address. It writes straight to Node's response: on the hot path Fastify's
 * reply costs more than the query.
 */
export function createSender(context: Context, { name, allow, isPersonal }: Facts): Sender {
  const { stats, corsOrigin, logger, accessLog, closing } = context;
  const observe = stats.route(name);
  const fixed = ['Allow', allow, 'Vary', varyOf(isPersonal, corsOrigin)];
  fixed.push('Cache-Control', isPersonal ? 'private, no-cache' : 'no-cache');
  fixed.push('X-Content-Type-Options', 'nosniff');
  if (corsOrigin[0] === '*') fixed.push(...corsHeaders(undefined, corsOrigin));
  /** {@link AnswerHead.common} of each format, of the generation that `tag` names. */
  const common = new Map<Format, readonly string[]>();
  let tag = '';
  let snapshot = '""';

  function commonHeaders(generation: Generation, format: Format): readonly string[] {
    if (generation.tag !== tag) {
      common.clear();
      ({ tag } = generation);
      snapshot = `"${tag}"`;
    }
    let headers = common.get(format);
    if (headers === undefined) {
      headers = [
        ...['Content-Type', format.contentType, 'Content-Length', '', 'ETag', ''],
        ...fixed,
        ...['Last-Modified', generation.lastModified, 'Waypost-Snapshot', snapshot],
        ...format.headers,
      ];
      common.set(format, headers);
    }
    return headers;
  }

  function write(
    request: FastifyRequest,
    reply: FastifyReply,
    status: 200 | 304,
    format: Format,
    headers: string[],
    body?: Uint8Array,
    onSent?: () => void,
  ): void {
    reply.hijack();
    const { raw: response } = reply;
    const { raw } = request;
    if (corsOrigin[0] !== '*') headers.push(...corsHeaders(raw.headers.origin, corsOrigin));
    if (raw.headers['x-request-id'] !== undefined) headers.push('X-Request-Id', request.id);
    if (closing()) headers.push('Connection', 'close');
    response.writeHead(status, headers);
    // Node itself leaves the body out for HEAD
    response.end(body, onSent);
    const seconds = (performance.now() - request.startedAt) / 1000;
    observe(status, format.name, seconds);
    if (accessLog > 0 && Math.random() < accessLog) {
      const { method, url } = raw;
      logger.info({ reqId: request.id, method, url, status, seconds }, 'request');
    }
  }

  return {
    head(generation, format, address) {
      const headers = commonHeaders(generation, format);
      const etag = `"${generation.tag}-${format.name}-${address}"`;
      return { format, etag, snapshot, common: headers };
    },

    sendByConditions(request, reply, { format, etag, snapshot, common }, isFound) {
      const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.raw.headers;
      if (ifMatch !== undefined && !allowsSnapshot(ifMatch, snapshot, etag)) {
        throw otherSnapshot(ifMatch, snapshot);
      }
      if (ifNoneMatch === undefined) return false;
      const hasIt = isAny(ifNoneMatch) ? isFound : matchesEtag(ifNoneMatch, etag);
      if (!hasIt) return false;
      const own = common.slice(BODY_HEADERS_END);
      own[ETAG_AT - BODY_HEADERS_END] = etag;
      write(request, reply, 304, format, own);
      return true;
    },

    send(request, reply, { format, etag, common, body }, onSent) {
      const own = common.slice();
      own[LENGTH_AT] = String(body.length);
      own[ETAG_AT] = etag;
      write(request, reply, 200, format, own, body, onSent);
    },
  };
}

/** The headers of an answer whose length is not known yet. */
export function headersOf({ common, etag }: AnswerHead): string[] {
  const headers = common.slice();
  headers[ETAG_AT] = etag;
  return headers;
}

/** The Vary header of an answer; `isPersonal` where it depends on the token. */
export function varyOf(isPersonal: boolean, corsOrigin: readonly string[]): string {
  const parts = ['Accept'];
  if (isPersonal) parts.push('Authorization');
  if (corsOrigin.length > 0 && !corsOrigin.includes('*')) parts.push('Origin');
  return parts.join(', ');
}
