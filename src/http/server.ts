import { createServer, type Server } from 'node:http';
import { KEEP_ALIVE_MS } from './answer/head-lines.js';
import { createGate, type Handler } from './gate.js';
import type { CutCounts, Limits } from './limits.js';

/** Makes Node's HTTP server, not yet listening, with what a thread lets its clients do. */
export function createHttpServer(
  handle: Handler,
  { maxHeaderSize, requestTimeout, uploadTimeout }: Limits,
  cut: CutCounts,
): Server {
  const options = {
    maxHeaderSize,
    // for all; the app holds those that bring no image to less
    requestTimeout: requestTimeout === 0 ? 0 : Math.max(requestTimeout, uploadTimeout),
    headersTimeout: requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.max(500, Math.min(requestTimeout / 4, 5_000)),
    // it is refused all the same, in the shape of all errors
    requireHostHeader: false,
  };
  const server = createServer(options, createGate(handle, cut));
  // of a connection on which nothing moves; longer than an idle one is kept
  server.setTimeout(Math.max(requestTimeout, KEEP_ALIVE_MS + 1_000));
  return server;
}
