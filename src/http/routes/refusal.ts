import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { wrongMethod } from '../request/errors.js';

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
