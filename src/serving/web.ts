import { once } from 'node:events';
import { type AddressInfo, createServer, Server } from 'node:net';
import type { Logger } from 'pino';
import type { Posting } from '../http/answer/context.js';
import { createWriteHead } from '../http/answer/head-lines.js';
import { createRequestStats } from '../http/answer/request-stats.js';
import { type Audience, createApp } from '../http/app.js';
import { createBacklog } from '../http/backlog.js';
import { createCutCounts } from '../http/limits.js';
import type { MetricsJson } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import { createOriginOf } from '../http/request/origin.js';
import { createThrottle } from '../http/request/throttle.js';
import { createRequestMetrics } from '../http/thread-metrics.js';
import { createUploads } from '../media/upload.js';
import type { ServeSettings } from '../settings/setting.js';
import { SharedRoom } from '../shared-room.js';
import { holdConnections } from './connections.js';
import { addressText, type Place, SOCKET_OPTIONS } from './listen.js';
import type { Log } from './log.js';
import type { ThreadStart, Throttles } from './messages.js';
import { drain } from './shutdown.js';
import { siteOf } from './site.js';
import { openZone } from './zone.js';

/** Bytes that bodies which are coming in may have together, on all threads. */
const BODIES_BYTES = 64 * 1024 * 1024;

/** The web server of one thread. */
export interface Web {
  /** What this thread counts. */
  metrics(): Promise<MetricsJson>;
  /** Takes requests from all places from now on; resolves with the URL of the first. */
  listen(places: readonly Place[]): Promise<string>;
  /** Finishes what is under way. */
  close(): Promise<void>;
}

/** What the web server of a thread is made with. */
export type WebStart = Omit<ThreadStart, 'fds'>;

/** Makes the web server of this thread. Throws an InputError when a setting cannot be used. */
export async function createWeb(
  { settings, thread, counts, tokens, throttles }: WebStart,
  service: Service,
  log: Log,
  audience: Audience = settings.operationsPort === undefined ? 'all' : 'clients',
): Promise<Web> {
  const { publicUrl, trustProxy, allowedHosts, corsOrigin, accessLog, workers } = settings;
  const origin = { publicUrl, trustProxy, allowedHosts };
  const stats = createRequestStats();
  const backlog = createBacklog({
    // as with the cache below, each thread has its own
    maxUnsent: settings.maxUnsent / workers,
    answerTimeout: settings.answerTimeout,
  });
  const cut = createCutCounts();
  let isClosing = false;
  const sides: Server[] = [];
  const posting = postingOf(settings, service, throttles, log.logger);
  const app = createApp({
    context: {
      current: service.current,
      logger: log.logger,
      stats,
      zone: await openZone(settings.timeZone),
      origin,
      originOf: createOriginOf(origin),
      corsOrigin,
      tokens,
      answerCacheBytes: Math.floor(settings.answerCache / workers),
      maxPageBytes: settings.maxPageBytes,
      compress: settings.compress,
      site: siteOf(settings, posting !== undefined),
      mediaFolder: settings.media,
      posting,
      accessLog,
      writeHead: createWriteHead(),
      slowLane: service.slowLane,
      note: backlog.note,
      closing: () => isClosing,
    },
    service,
    limits: settings,
    cut,
    adminToken: settings.adminToken,
    audience,
  });
  const connections = holdConnections(app.server, settings.maxConnections, counts, thread, cut);
  const registry = createRequestMetrics({ stats, thread, connections, backlog, cut, log });
  return {
    metrics: () => registry.getMetricsAsJSON(),
    async listen([first, ...others]) {
      await app.ready();
      app.server.listen(first);
      await once(app.server, 'listening');
      // an HTTP server listens at one address, but takes connections from anywhere
      for (const place of others) {
        const side = place instanceof Server ? place : createServer(SOCKET_OPTIONS).listen(place);
        side.on('connection', (socket) => app.server.emit('connection', socket));
        sides.push(side);
      }
      return addressText(app.server.address() as AddressInfo);
    },
    async close() {
      isClosing = true;
      await drain(app.server, sides, connections, settings.shutdownTimeout);
    },
  };
}

function postingOf(
  settings: ServeSettings,
  { posts }: Service,
  throttles: Throttles | undefined,
  logger: Logger,
): Posting | undefined {
  if (posts === undefined || throttles === undefined) return undefined;
  const { requireToken = false, postsPerAddress, postsPerToken, media, maxImageBytes } = settings;
  return {
    posts,
    requireToken,
    addressThrottle: createThrottle(throttles.byAddress, postsPerAddress, steadyMs),
    tokenThrottle: createThrottle(throttles.byToken, postsPerToken, steadyMs),
    bodies: new SharedRoom(BODIES_BYTES / settings.workers),
    uploads: media === undefined ? undefined : createUploads(media, maxImageBytes, logger),
  };
}

/** Milliseconds of a clock that is the same for all threads and never put back. */
function steadyMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
