import type { AddressInfo } from 'node:net';
import type { FastifyListenOptions } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { InputError } from '../errors.js';
import { createApp } from '../http/app.js';
import { readTokens } from '../http/auth.js';
import { createRequestMetrics } from '../http/metrics.js';
import { createRequestStats } from '../http/request-stats.js';
import type { Service } from '../live/service.js';
import { openTimeZone, type TimeZone } from '../model/time-zone.js';
import type { ServeSettings } from '../settings.js';
import { type ConnectionCounts, holdConnections } from './connections.js';
import { addressText, type Place } from './listen.js';
import { drain } from './shutdown.js';

/** The web server of one thread. */
export interface Web {
  /** What this thread counts. */
  readonly registry: Registry;
  /** Takes requests from now on; resolves with its URL. */
  listen(place: Place): Promise<string>;
  /** Finishes what is under way. */
  close(): Promise<void>;
}

/**
 * Makes the web server of thread number `thread`, which keeps `counts` of its connections. Throws an InputError when
 * a setting cannot be used.
 */
export async function createWeb(
  settings: ServeSettings,
  thread: number,
  counts: ConnectionCounts,
  service: Service,
  logger: Logger,
): Promise<Web> {
  const { publicUrl, trustProxy, allowedHosts, corsOrigin, accessLog, workers } = settings;
  const stats = createRequestStats();
  let isClosing = false;
  const app = createApp(
    {
      current: service.current,
      logger,
      stats,
      zone: await openZone(settings.timeZone),
      origin: { publicUrl, trustProxy, allowedHosts },
      corsOrigin,
      tokens: readTokens(settings.tokens),
      // each thread has its own
      answerCacheBytes: Math.floor(settings.answerCache / workers),
      accessLog,
      closing: () => isClosing,
    },
    service,
    settings,
    settings.adminToken,
  );
  const connections = holdConnections(app.server, settings.maxConnections, counts, thread);
  return {
    registry: createRequestMetrics(stats, thread, connections),
    async listen(place) {
      // Fastify's types do not know of sockets that listen already
      await app.listen(place as FastifyListenOptions);
      return addressText(app.server.address() as AddressInfo);
    },
    async close() {
      isClosing = true;
      await drain(app.server, connections, settings.shutdownTimeout);
    },
  };
}

async function openZone(name: string): Promise<TimeZone> {
  try {
    return await openTimeZone(name);
  } catch {
    throw new InputError(
      `--time-zone: ${JSON.stringify(name)} is no IANA time zone; take one such as Europe/Helsinki or UTC.`,
    );
  }
}
