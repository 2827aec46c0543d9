import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { preflightHeaders } from '../answer/cors.js';
import { ALLOW_READ } from '../request/addresses.js';
import { refuseOtherMethods } from './refusal.js';

/**
 * Adds the routes of files: GET and HEAD by `handler`, what OPTIONS says, and 405 for every other
 * method.
 */
export function addFiles(app: FastifyInstance, url: string, handler: RouteHandlerMethod): void {
  const config = { isFile: true };
  const headers = { Allow: ALLOW_READ, ...preflightHeaders(ALLOW_READ) };
  app.route({ method: ['GET', 'HEAD'], url, config, handler });
  app.route({
    method: 'OPTIONS',
    url,
    config,
    handler: (_request, reply) => reply.code(204).headers(headers).send(),
  });
  refuseOtherMethods(app, url, ALLOW_READ, config);
}
