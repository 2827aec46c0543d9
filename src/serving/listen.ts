import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { InputError } from '../model/quote.js';

/** What a server takes connections from: a socket that listens already, or its descriptor. */
export type Place = Server | { readonly fd: number };

/** As Node's HTTP server has them. */
export const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true } as const;

/** Between two tries. */
const PAUSE_MS = 100;

/**
 * Opens a socket, again and again while the port is taken, until the time is over or `signal` fires.
 * It accepts nothing before the event loop goes on. Throws an InputError that says why it could not.
 */
export async function openSocket(
  { host, port, listenTimeout }: Pick<ServeSettings, 'host' | 'port' | 'listenTimeout'>,
  logger: Logger,
  signal: AbortSignal,
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
      const isOver = performance.now() > until || signal.aborted;
      if (!isTaken || isOver) throw new InputError(problemText(error, host, port));
    }
    const seconds = listenTimeout / 1000;
    if (round === 0) logger.warn({ host, port, seconds }, 'waiting for the port');
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

/** The port that a server listens at. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function problemText(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException;
  let reason = message;
  if (code === 'EADDRINUSE') reason = 'something else listens there; choose another --port';
  if (code === 'EACCES') reason = 'that port needs privileges; choose one above 1023';
  return `Cannot listen on ${host}:${port}: ${reason}.`;
}

/** The address as a URL. */
export function addressText({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
