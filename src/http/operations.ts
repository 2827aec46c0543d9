import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Current } from '../live/current.js';
import type { Waiting } from '../live/reload/reload.js';
import { HttpError } from './errors.js';
import { parseQueryString } from './request/query-string.js';
import { queryOf } from './request/target.js';
import { tokenKey } from './request/token.js';

/** The running service as its operators see it, from whichever thread. */
export interface Service {
  readonly current: Current;
  /**
   * Looks for a new snapshot; `accept` takes one that shrank. Resolves with what there is to wait for, if anything, or,
   * where that `isAwaited`, when the newest is served or will not be.
   */
  reload(accept: boolean, isAwaited: boolean): Promise<Waiting | undefined>;
  /** All metrics of all threads, in Prometheus's text format. */
  metrics(): Promise<string>;
}

/** Adds what operators ask for: health, metrics and, with a token, the reload by hand. */
export function addOperations(
  app: FastifyInstance,
  service: Service,
  adminToken: string | undefined,
): void {
  const config = { answersUnderLoad: true };
  const read = { method: ['GET', 'HEAD'], config };
  app.route({ ...read, url: '/health/live', handler: () => ({ status: 'live' }) });
  app.route({
    ...read,
    url: '/health/ready',
    handler: (_request, reply) => sendReadiness(reply, service.current),
  });
  app.route({
    ...read,
    url: '/metrics',
    handler: async (_request, reply) => {
      reply.header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
      return service.metrics();
    },
  });
  if (adminToken !== undefined) {
    app.post('/admin/reload', { config }, async (request, reply) => {
      requireToken(request, adminToken);
      await service.reload(flagOf(request, 'accept'), true);
      return sendReadiness(reply, service.current);
    });
  }
}

function sendReadiness(reply: FastifyReply, current: Current): void {
  reply.header('Cache-Control', 'no-store').send(readiness(current));
}

/** Once there is a service at all, it serves: ready, stale or not. */
function readiness({ generation, stale }: Current): object {
  const { count, tag, exportedAt, loadedAt } = generation;
  return {
    status: 'ready',
    points: count,
    snapshot: tag,
    exported_at: new Date(exportedAt).toISOString(),
    loaded_at: new Date(loadedAt).toISOString(),
    stale: stale !== undefined,
    ...(stale === undefined
      ? {}
      : { reason: stale.reason, since: new Date(stale.since).toISOString() }),
  };
}

function requireToken(request: FastifyRequest, adminToken: string): void {
  const [, given = ''] =
    /^(?:bearer|token) +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (timingSafeEqual(Buffer.from(tokenKey(given)), Buffer.from(tokenKey(adminToken)))) return;
  throw new HttpError(401, { detail: 'Invalid token.' }, { 'WWW-Authenticate': 'Bearer' });
}

function flagOf(request: FastifyRequest, name: string): boolean {
  const pairs = parseQueryString(queryOf(request.raw.url!));
  return pairs.some((pair) => pair.name === name && pair.value !== 'false');
}
