import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Generation } from '../../live/generation.js';
import type { Context } from '../context.js';
import type { Representation } from '../request/negotiation.js';
import { corsHeaders } from './cors.js';
import { matchesEtag } from './etag.js';

/** A whole answer with status 200, ready to be sent any number of times. */
export interface Answer {
  readonly type: Representation;
  readonly etag: string;
  /**
   * Names and values in turn, as `writeHead` takes them, first of all the type and the length of the body;
   * those that depend on the request come to it.
   */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/** An answer before its body is made. */
export type AnswerHead = Omit<Answer, 'body'>;

/** Sends the answers of one route. */
export interface Responder {
  /** What an answer of this generation begins with; `owner` marks that of a single user. */
  head(generation: Generation, type: Representation, owner?: number): AnswerHead;
  /** Sends 304 when the client has the answer already, and says whether it did. */
  sendNotModified(request: FastifyRequest, reply: FastifyReply, head: AnswerHead): boolean;
  /** `onSent` is called when the body's memory will not be read any more; never, when the client is gone. */
  send(request: FastifyRequest, reply: FastifyReply, answer: Answer, onSent?: () => void): void;
}

/** A route as its answers describe it. */
export interface RouteFacts {
  /** For logs and metrics. */
  readonly name: string;
  readonly allow: string;
  /** Whether answers depend on the token, so that no shared cache may keep them. */
  readonly isPersonal?: boolean;
}

const TYPES = { json: 'application/json', html: 'text/html; charset=utf-8' } as const;

/** A page loads nothing from anywhere, and stands in no frame. */
const HTML_SECURITY = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'same-origin',
];

/**
 * Makes the sender of a route's answers. It writes straight to Node's response: on the hot path Fastify's
 * reply costs more than the query.
 */
export function createResponder(context: Context, facts: RouteFacts): Responder {
  const { stats, corsOrigin, logger, accessLog, closing } = context;
  const { name, allow, isPersonal = false } = facts;
  const observe = stats.route(name);
  const fixed = ['Allow', allow, 'Vary', varyOf(isPersonal, corsOrigin)];
  fixed.push('Cache-Control', isPersonal ? 'private, no-cache' : 'no-cache');
  fixed.push('X-Content-Type-Options', 'nosniff');
  if (corsOrigin[0] === '*') fixed.push(...corsHeaders(undefined, corsOrigin));
  const heads = new Map<Representation, AnswerHead & { readonly tag: string }>();

  function makeHead(
    { tag, lastModified }: Generation,
    type: Representation,
    owner = '',
  ): AnswerHead {
    const etag = `"${tag}-${type}${owner}"`;
    const headers = ['Content-Type', TYPES[type], 'Content-Length', '', ...fixed];
    headers.push('ETag', etag, 'Last-Modified', lastModified);
    if (type === 'html') headers.push(...HTML_SECURITY);
    return { type, etag, headers };
  }

  function write(
    request: FastifyRequest,
    reply: FastifyReply,
    status: 200 | 304,
    type: Representation,
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
    observe(status, type, seconds);
    if (accessLog > 0 && Math.random() < accessLog) {
      const { method, url } = raw;
      logger.info({ reqId: request.id, method, url, status, seconds }, 'request');
    }
  }

  return {
    head(generation, type, owner) {
      if (owner !== undefined) return makeHead(generation, type, `-${owner}`);
      let head = heads.get(type);
      if (head?.tag !== generation.tag) {
        head = { ...makeHead(generation, type), tag: generation.tag };
        heads.set(type, head);
      }
      return head;
    },

    sendNotModified(request, reply, { type, etag, headers }) {
      const ifNoneMatch = request.raw.headers['if-none-match'];
      if (ifNoneMatch === undefined || !matchesEtag(ifNoneMatch, etag)) return false;
      // type and length belong to a body
      write(request, reply, 304, type, headers.slice(4));
      return true;
    },

    send(request, reply, { type, headers, body }, onSent) {
      const own = headers.slice();
      own[3] = String(body.length);
      write(request, reply, 200, type, own, body, onSent);
    },
  };
}

/** The Vary header of an answer; `isPersonal` where it depends on the token. */
export function varyOf(isPersonal: boolean, corsOrigin: readonly string[]): string {
  const parts = ['Accept'];
  if (isPersonal) parts.push('Authorization');
  if (corsOrigin.length > 0 && !corsOrigin.includes('*')) parts.push('Origin');
  return parts.join(', ');
}
