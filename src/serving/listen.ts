import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { InputError } from '../model/quote.js';

/** A socket that listens already, or its descriptor. */
export type Place = Server | { readonly fd: number };

/** Those of Node's HTTP server. */
export const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true } as const;

const PAUSE_MS = 100;

/**
 * Opens a socket; while the port is taken, tries again until `listenTimeout` is over or `signal`
 * fires. Nothing is accepted before the next turn of the event loop. Throws an InputError.
 */
export async function openSocket(
  { host, port, listenTimeout }: Pick<ServeSettings, 'host' | 'port' | 'listenTimeout'>,
  logger: Logger,
  signal?: AbortSignal,
): Promise<Server> {
  const until = performance.now() + listenTimeout;
  for (let round = 0; ; round++) {
    const server = createServer(SOCKET_OPTIONS);
    try {
      if (host.trim() === '')
        throw new Error('no address is named; leave --host out for 127.0.0.1');
      server.listen({ host, port });
      await once(server, 'listening');
      return server;
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      const isOver = performance.now() > until || signal?.aborted === true;
      if (!isTaken || isOver) throw new InputError(problemText(error, host, port));
    }
    const seconds = listenTimeout / 1000;
    if (round === 0) logger.warn({ host, port, seconds }, 'waiting for the port');
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

function problemText(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException;
  let reason = message;
  if (code === 'EADDRINUSE') reason = 'something else listens there; choose another --port';
  if (code === 'EACCES') reason = 'that port needs privileges; choose one above 1023';
  return `Cannot listen on ${host}:${port}: ${reason}.`;
}
