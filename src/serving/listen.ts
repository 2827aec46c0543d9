import { once } from 'node:events';
import { createServer, isIPv4, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { InputError } from '../model/quote.js';

/** A socket that listens already, or its descriptor. */
export type Place = Server | { readonly fd: number };

/** Those of Node's HTTP server. */
export const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true } as const;

const PAUSE_MS = 100;

/** Where to listen; `of` stands in the names of the flags that say so. */
interface Where extends Pick<ServeSettings, 'host' | 'port' | 'listenTimeout'> {
  readonly of?: '' | 'operations-';
}

/** Throws an InputError where clients and operators would need the same port of an address. */
export function checkPorts({
  host,
  port,
  operationsHost,
  operationsPort,
}: Pick<ServeSettings, 'host' | 'port' | 'operationsHost' | 'operationsPort'>): void {
  const hosts = [host, operationsHost];
  const isOfAll = hosts.includes('0.0.0.0') && hosts.every(isIPv4);
  // `::` takes the addresses of both kinds
  const isShared = host === operationsHost || hosts.includes('::') || isOfAll;
  if (port === 0 || port !== operationsPort || !isShared) return;
  throw new InputError(
    `--port and --operations-port are both ${port}, on ${host} and ${operationsHost}: give each one of its own`,
  );
}

/**
 * Opens a socket; while the port is taken, tries again until `listenTimeout` is over or `signal`
 * fires. Nothing is accepted before the next turn of the event loop. Throws an InputError.
 */
export async function openSocket(
  { host, port, listenTimeout, of = '' }: Where,
  logger: Logger,
  signal?: AbortSignal,
): Promise<Server> {
  const until = performance.now() + listenTimeout;
  for (let round = 0; ; round++) {
    const server = createServer(SOCKET_OPTIONS);
    try {
      if (host.trim() === '')
        throw new Error(`no address is named; leave --${of}host out for 127.0.0.1`);
      server.listen({ host, port });
      await once(server, 'listening');
      return server;
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      const isOver = performance.now() > until || signal?.aborted === true;
      if (!isTaken || isOver) throw new InputError(problemText(error, host, port, of));
    }
    const seconds = listenTimeout / 1000;
    if (round === 0) logger.warn({ host, port, seconds }, 'waiting for the port');
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

function problemText(error: unknown, host: string, port: number, of: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const named = `name an address of this machine by --${of}host, or 0.0.0.0 for all`;
  let reason = message;
  if (code === 'EADDRINUSE') reason = `something else listens there; choose another --${of}port`;
  if (code === 'EACCES') reason = `that port needs privileges; choose a --${of}port above 1023`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') reason = `the name has no address; ${named}`;
  if (code === 'EADDRNOTAVAIL') reason = `no interface here has that address; ${named}`;
  return `Cannot listen on ${host}:${port}: ${reason}.`;
}
