import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { matchesEtag } from './etag.js';

/** A whole answer with status 200, ready to be sent any number of times. */
export interface Answer {
  /** Names and values in turn, as `writeHead` takes them. */
  readonly headers: readonly string[];
  readonly etag: string;
  readonly body: Uint8Array;
}

/** On every answer of the service. */
export const COMMON_HEADERS: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'Allow, ETag, Location, Retry-After',
];

const TYPES = { json: 'application/json', html: 'text/html; charset=utf-8' } as const;

/**
 * Headers of an answer that clients may keep and must ask about before they use it again. A personal one
 * depends on the token, and no shared cache may keep it.
 */
export function cacheableHeaders(
  type: keyof typeof TYPES,
  allow: string,
  tag: string,
  lastModified: string,
  { isPersonal = false }: { readonly isPersonal?: boolean } = {},
): { etag: string; headers: readonly string[] } {
  const etag = `"${tag}-${type}"`;
  const vary = isPersonal ? 'Accept, Authorization' : 'Accept';
  const caching = isPersonal ? 'private, no-cache' : 'no-cache';
  const headers = ['Content-Type', TYPES[type], 'Allow', allow, 'Vary', vary];
  headers.push('ETag', etag, 'Last-Modified', lastModified, 'Cache-Control', caching);
  return { etag, headers: [...headers, ...COMMON_HEADERS] };
}

/**
 * Sends an answer straight to Node's response: on the hot path Fastify's reply costs more than the query.
 * Node itself leaves the body out for HEAD.
 */
export function sendAnswer(reply: FastifyReply, answer: Answer): void {
  const response = take(reply);
  response.writeHead(200, [...answer.headers, 'Content-Length', String(answer.body.length)]);
  response.end(answer.body);
}

/** Sends 304 when the client has it already; says whether it did. */
export function sendNotModified(
  reply: FastifyReply,
  ifNoneMatch: string | undefined,
  etag: string,
  headers: readonly string[],
): boolean {
  if (ifNoneMatch === undefined || !matchesEtag(ifNoneMatch, etag)) return false;
  const response = take(reply);
  // the content type belongs to a body
  response.writeHead(304, headers.slice(2));
  response.end();
  return true;
}

function take(reply: FastifyReply): ServerResponse {
  reply.hijack();
  return reply.raw;
}
