import { once } from 'node:events';
import { type AddressInfo, createServer, Server } from 'node:net';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { type Posting, RequestStats } from '../http/answer/context.js';
import { createWriteHead } from '../http/answer/head.js';
import { type Audience, createApp } from '../http/app.js';
import { Backlog } from '../http/backlog.js';
import { createCutCounts } from '../http/limits.js';
import { createThreadMetrics, type MetricsJson } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import { createSite } from '../http/pages/site.js';
import { createThrottle } from '../http/request/client.js';
import { createOriginOf } from '../http/request/origin.js';
import type { Dataset } from '../index/dataset.js';
import { openTimeZone } from '../model/time-zone.js';
import { incomingOf } from '../posts/media/folder.js';
import { SharedRoom } from '../posts/media/shared-room.js';
import { createUploads } from '../posts/media/upload.js';
import { drain, holdConnections } from './connections.js';
import { addressText, type Place, SOCKET_OPTIONS } from './listen.js';
import type { Log } from './log.js';
import type { ThreadStart, Throttles } from './threads.js';
import { warmUp } from './warm-up.js';

/** Bytes that bodies which are coming in, and batches, may have together, on all threads. */
const BODIES_BYTES = 64 * 1024 * 1024;

/** The web server of one thread. */
export interface Web {
  /** What this thread counts. */
  metrics(): Promise<MetricsJson>;
  /**
   * Works on questions of its own for a while, so that clients find it warm: they are neither
   * counted nor logged.
   */
  warmUp(dataset: Dataset): Promise<void>;
  /** Takes requests from all places from now on; resolves with the URL of the first. */
  listen(places: readonly Place[]): Promise<string>;
  /** Finishes what is under way. */
  close(): Promise<void>;
}

/** What the web server of a thread is made with. */
export type WebStart = Omit<ThreadStart, 'fds'>;

/** Makes the web server of this thread. Throws an InputError when a setting cannot be used. */
export async function createWeb(
  { settings, thread, counts, streams, tokens, throttles }: WebStart,
  service: Service,
  log: Log,
  audience: Audience = settings.operationsPort === undefined ? 'all' : 'clients',
): Promise<Web> {
  const { publicUrl, trustProxy, allowedHosts, corsOrigin, workers } = settings;
  const origin = { publicUrl, trustProxy, allowedHosts };
  const stats = new RequestStats();
  const backlog = new Backlog({
    // as with the cache below, each thread has its own
    maxUnsent: settings.maxUnsent / workers,
    answerTimeout: settings.answerTimeout,
  });
  const cut = createCutCounts();
  let isClosing = false;
  // nobody else asks before it listens
  let isWarm = false;
  const sides: Server[] = [];
  const posting = postingOf(settings, service, streams, throttles, log.logger);
  const app = createApp({
    context: {
      current: service.current,
      logger: log.logger,
      stats,
      zone: await openTimeZone(settings.timeZone),
      origin,
      originOf: createOriginOf(origin),
      corsOrigin,
      tokens,
      answerCacheBytes: Math.floor(settings.answerCache / workers),
      maxPageBytes: settings.maxPageBytes,
      compress: settings.compress,
      site: createSite(settings, posting !== undefined),
      media: settings.media,
      posting,
      bodies: new SharedRoom(BODIES_BYTES / workers),
      get accessLog() {
        return isWarm ? settings.accessLog : 0;
      },
      writeHead: createWriteHead(),
      slowLane: service.slowLane,
      note: (response) => backlog.note(response),
      closing: () => isClosing,
    },
    service,
    limits: settings,
    cut,
    adminToken: settings.adminToken,
    audience,
  });
  const connections = holdConnections(app.server, settings.maxConnections, counts, thread, cut);
  const registry = createThreadMetrics({ stats, thread, connections, backlog, cut, log });
  return {
    metrics: async () => (isWarm ? registry.getMetricsAsJSON() : []),
    async warmUp(dataset) {
      await app.ready();
      const host = allowedHosts[0] === '*' ? 'localhost' : allowedHosts[0]!.replace(/^\./, '');
      await warmUp(app.server, dataset, { host, ms: settings.warmUp }).catch((error: unknown) => {
        log.logger.warn({ err: error }, 'first answers will be slow: the warm-up failed');
      });
    },
    async listen([first, ...others]) {
      await app.ready();
      stats.reset();
      isWarm = true;
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
  { posts, journal }: Service,
  streams: Int32Array,
  throttles: Throttles | undefined,
  logger: Logger,
): Posting | undefined {
  if (posts === undefined || journal === undefined || throttles === undefined) return undefined;
  const {
    maxStreams,
    requireToken = false,
    postsPerAddress,
    postsPerToken,
    media,
    downloads,
    maxImageBytes,
  } = settings;
  const incoming = media === undefined ? undefined : incomingOf(media, downloads);
  return {
    posts,
    journal,
    streams,
    maxStreams,
    requireToken,
    addressThrottle: createThrottle(throttles.byAddress, postsPerAddress, steadyMs),
    tokenThrottle: createThrottle(throttles.byToken, postsPerToken, steadyMs),
    uploads: incoming === undefined ? undefined : createUploads(incoming, maxImageBytes, logger),
  };
}

/** Milliseconds of a clock that is the same for all threads and never put back. */
function steadyMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
