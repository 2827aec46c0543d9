import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Generation } from '../../live/generation.js';
import type { Format } from '../formats/format.js';
import { otherSnapshot } from '../request/errors.js';
import type { Coding } from './compression.js';
import type { Context } from './context.js';
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
  /** How the body is compressed. */
  readonly coding: Coding | undefined;
  /**
   * Names and values in turn, as `writeHead` takes them, all that answers of this format, coding
   * and generation have in common. The first is the entity tag and the last the length, both to be
   * filled in.
   */
  readonly common: readonly string[];
}

/** Sends the answers of one address. */
export interface Sender {
  /**
   * What an answer of this generation begins with; `address` tells it from those of other
   * addresses.
   */
  head(
    generation: Generation,
    format: Format,
    address: string,
    coding: Coding | undefined,
  ): AnswerHead;
  /**
   * Sends 304 when the client has one of these answers already, and says whether it did. `isFound`
   * tells that without preconditions the answer would have status 200, which `If-None-Match: *`
   * asks for. Throws a 412 HttpError when the client wants an answer of another snapshot.
   */
  sendByConditions(
    request: FastifyRequest,
    reply: FastifyReply,
    heads: readonly AnswerHead[],
    isFound: boolean,
  ): boolean;
  /**
   * Sends 200. Calls `onSent` once Node reads the body's memory no more; never when the client has
   * gone.
   */
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

/** Place of the entity tag in {@link AnswerHead.common}. */
const ETAG_AT = 1;
/**
 * Headers that belong to a body, at the end of {@link AnswerHead.common}, and their values: type
 * and length.
 */
const BODY_HEADERS = 4;
/** The same where a body is compressed. */
const CODED_BODY_HEADERS = 6;

/**
 * Makes the sender of an address. It writes straight to Node's response: on the hot path Fastify's
 * reply costs more than the query.
 */
export function createSender(context: Context, { name, allow, isPersonal }: Facts): Sender {
  const { stats, corsOrigin, logger, accessLog, closing, compress } = context;
  const observe = stats.route(name);
  const fixed = ['Allow', allow, 'Vary', varyOf({ isPersonal, compress, corsOrigin })];
  fixed.push('Cache-Control', isPersonal ? 'private, no-cache' : 'no-cache');
  fixed.push('X-Content-Type-Options', 'nosniff');
  if (corsOrigin[0] === '*') fixed.push(...corsHeaders(undefined, corsOrigin));
  /** {@link AnswerHead.common} of each coding and format, of the generation that `tag` names. */
  const common = {
    none: new Map<Format, readonly string[]>(),
    br: new Map<Format, readonly string[]>(),
    gzip: new Map<Format, readonly string[]>(),
  };
  let tag = '';
  let snapshot = '""';

  function commonHeaders(
    generation: Generation,
    format: Format,
    coding: Coding | undefined,
  ): readonly string[] {
    if (generation.tag !== tag) {
      for (const ofFormat of Object.values(common)) ofFormat.clear();
      ({ tag } = generation);
      snapshot = `"${tag}"`;
    }
    const ofFormat = common[coding ?? 'none'];
    let headers = ofFormat.get(format);
    if (headers === undefined) {
      headers = [
        ...['ETag', ''],
        ...fixed,
        ...['Last-Modified', generation.lastModified, 'Waypost-Snapshot', snapshot],
        ...format.headers,
        ...(coding === undefined ? [] : ['Content-Encoding', coding]),
        ...['Content-Type', format.contentType, 'Content-Length', ''],
      ];
      ofFormat.set(format, headers);
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
    head(generation, format, address, coding) {
      const headers = commonHeaders(generation, format, coding);
      const ending = coding === undefined ? '"' : `-${coding}"`;
      const etag = `"${generation.tag}-${format.name}-${address}${ending}`;
      return { format, etag, snapshot, coding, common: headers };
    },

    sendByConditions(request, reply, heads, isFound) {
      const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.raw.headers;
      if (ifMatch !== undefined) {
        const { snapshot: served } = heads[0]!;
        if (!heads.some((head) => allowsSnapshot(ifMatch, served, head.etag))) {
          throw otherSnapshot(ifMatch, served);
        }
      }
      if (ifNoneMatch === undefined) return false;
      const kept = isAny(ifNoneMatch)
        ? isFound && heads[0]
        : heads.find((head) => matchesEtag(ifNoneMatch, head.etag));
      if (!kept) return false;
      const { format, etag, coding, common } = kept;
      const own = common.slice(0, coding === undefined ? -BODY_HEADERS : -CODED_BODY_HEADERS);
      own[ETAG_AT] = etag;
      write(request, reply, 304, format, own);
      return true;
    },

    send(request, reply, { format, etag, common, body }, onSent) {
      const own = common.slice();
      own[own.length - 1] = String(body.length);
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

/** What answers depend on besides their address. */
export interface Dependence {
  /** Whether on the token. */
  readonly isPersonal: boolean;
  readonly compress: boolean;
  readonly corsOrigin: readonly string[];
}

/** The Vary header of an answer. */
export function varyOf({ isPersonal, compress, corsOrigin }: Dependence): string {
  const parts = ['Accept'];
  if (compress) parts.push('Accept-Encoding');
  if (isPersonal) parts.push('Authorization');
  if (corsOrigin.length > 0 && !corsOrigin.includes('*')) parts.push('Origin');
  return parts.join(', ');
}
