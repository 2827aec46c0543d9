import type { FastifyContextConfig, FastifyInstance, RouteHandlerMethod } from 'fastify';
import { preflightHeaders } from '../answer/head.js';
import { wrongMethod } from '../request/http-error.js';

/**
 * Adds the routes of an address that is no resource: `methods` by `handler`, what OPTIONS says, and
 * 405 for every other method.
 */
export function addOtherAddress(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  handler: RouteHandlerMethod,
  config: FastifyContextConfig = {},
): void {
  const allow = [...methods, 'OPTIONS'].join(', ');
  const headers = { Allow: allow, ...preflightHeaders(allow) };
  app.route({ method: [...methods], url, config, handler });
  app.route({
    method: 'OPTIONS',
    url,
    config,
    handler: (_request, reply) => reply.code(204).headers(headers).send(),
  });
  refuseOtherMethods(app, url, allow, config);
}

/** Adds the route of an address that refuses every method beside those of `allow`. */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  allow: string,
  config: FastifyContextConfig = {},
): void {
  app.route({
    method: app.supportedMethods.filter((method) => !allow.includes(method)),
    url,
    config,
    handler: ({ method }) => {
      throw wrongMethod(method, allow);
    },
  });
}

/** The methods and the mark of an address that sends files. */
export const FILE_METHODS: readonly string[] = ['GET', 'HEAD'];
export const FILE: FastifyContextConfig = { isFile: true };
