import { once } from 'node:events';
import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { type Posting, RequestStats } from '../http/answer/context.js';
import { createWriteHead } from '../http/answer/head.js';
import { type Audience, createApp } from '../http/app.js';
import { Backlog } from '../http/backlog.js';
import { CutCounts } from '../http/limits.js';
import { createThreadMetrics, type MetricsJson } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import { createSite } from '../http/pages/site.js';
import { ITEMS_PATH, NOTIFICATIONS_PATH, POINTS_PATH } from '../http/request/addresses.js';
import { parseJsonBody } from '../http/request/body.js';
import { createThrottle, type ThrottleMemory } from '../http/request/client.js';
import { createOriginOf } from '../http/request/origin.js';
import { readDraft } from '../http/request/post-fields.js';
import type { Dataset } from '../index/dataset.js';
import { openTimeZone } from '../model/time-zone.js';
import { SharedRoom } from '../model/turns.js';
import { incomingOf } from '../posts/media/folder.js';
import { createUploads } from '../posts/media/upload.js';
import type { Current } from '../reload/current.js';
import { southwards } from '../tiles/grid.js';
import { drain, holdConnections } from './connections.js';
import { type Place, SOCKET_OPTIONS } from './listen.js';
import type { Logs } from './log.js';
import type { ThreadStart } from './threads.js';

/** Bytes of incoming bodies and of batches, on all threads together. */
const BODIES_BYTES = 64 * 1024 * 1024;

/** The web server of one thread. */
export interface Web {
  metrics(): Promise<MetricsJson>;
  /** Answers questions of its own, neither counted nor logged, so that clients find it warm. */
  warmUp(dataset: Dataset): Promise<void>;
  /** Begins to take requests; resolves with the URL. */
  listen(place: Place): Promise<string>;
  close(): Promise<void>;
}

export type WebStart = Omit<ThreadStart, 'fd'>;

/** Makes the web server of this thread. Throws an InputError when a setting cannot be used. */
export async function createWeb(
  { settings, thread, counts, streams, tokens, throttles }: WebStart,
  current: Current,
  service: Service,
  log: Logs,
  audience: Audience = settings.operationsPort === undefined ? 'all' : 'clients',
): Promise<Web> {
  const { allowedHosts, corsOrigin, workers } = settings;
  const stats = new RequestStats();
  const backlog = new Backlog({
    // as with the cache below, each thread has its own
    maxUnsent: settings.maxUnsent / workers,
    answerTimeout: settings.answerTimeout,
  });
  const cut = new CutCounts();
  let isClosing = false;
  // false while only the warm-up asks
  let isWarm = false;
  const posting = postingOf(settings, service, streams, throttles, log.logger);
  const app = createApp({
    context: {
      current,
      logger: log.logger,
      stats,
      zone: await openTimeZone(settings.timeZone),
      origin: settings,
      originOf: createOriginOf(settings),
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
      batchMs: BATCH_MS,
      writeHead: createWriteHead(),
      slowLane: service,
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
      await askItself(app.server, dataset, host, settings.warmUp).catch((error: unknown) => {
        log.logger.warn({ err: error }, 'first answers will be slow: the warm-up failed');
      });
    },
    async listen(place) {
      await app.ready();
      stats.reset();
      isWarm = true;
      app.server.listen(place);
      await once(app.server, 'listening');
      const { address, family, port } = app.server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    },
    async close() {
      isClosing = true;
      await drain(app.server, connections, settings.shutdownTimeout);
    },
  };
}

const BEAT_MS = 15_000;
const BATCH_MS = 10_000;

function postingOf(
  settings: ServeSettings,
  service: Service,
  streams: Int32Array,
  throttles: ThrottleMemory | undefined,
  logger: Logger,
): Posting | undefined {
  if (throttles === undefined) return undefined;
  const { maxStreams, requireToken = false, media, downloads, maxImageBytes } = settings;
  const incoming = media === undefined ? undefined : incomingOf(media, downloads);
  return {
    posts: service,
    journal: service,
    streams,
    maxStreams,
    beatMs: BEAT_MS,
    requireToken,
    addressThrottle: createThrottle(throttles, settings.postsPerAddress),
    tokenThrottle: createThrottle(throttles, settings.postsPerToken),
    uploads: incoming === undefined ? undefined : createUploads(incoming, maxImageBytes, logger),
  };
}

/** Half edges of boxes, in degrees: a street, a district, a country. */
const HALF_EDGES = [0.01, 0.1, 2];
/** Spreads rows over the whole dataset: consecutive multiples of it lie far apart. */
const SCATTER = 2_654_435_761;
const POST = Buffer.from('{"lat":"60.17","lon":24.94,"comment":"Warm","tags":["up"]}');
const HEADERS: readonly OutgoingHttpHeaders[] = [{}, { 'Accept-Encoding': 'gzip' }];

/** Asks a web server all kinds of questions over a socket, for `ms` milliseconds. */
async function askItself(
  server: Server,
  dataset: Dataset,
  host: string,
  ms: number,
): Promise<void> {
  if (ms === 0) return;
  const signal = AbortSignal.timeout(ms);
  const door = createServer(SOCKET_OPTIONS, (socket) => server.emit('connection', socket));
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let turn = 0; !signal.aborted; turn++) {
      // a post that is sent would stay
      readDraft(parseJsonBody(POST));
      for (const path of questionsOf(dataset, turn)) {
        const headers = { ...HEADERS[turn % HEADERS.length], host };
        const asked = request({ host: '127.0.0.1', port, path, headers, agent, signal });
        const [answer] = await once(asked.end(), 'response');
        await once(answer.resume(), 'end');
      }
    }
  } catch (error) {
    // the time was over before the answer came
    if (!signal.aborted) throw error;
  } finally {
    agent.destroy();
    door.close();
    await once(door, 'close');
  }
}

/** One question of each kind, about the place of another point each turn. */
export function questionsOf({ coords, count, byId }: Dataset, turn: number): string[] {
  const row = count === 0 ? 0 : (turn * SCATTER) % count;
  const half = HALF_EDGES[turn % HALF_EDGES.length]!;
  const within = (edge: number, at = 0): number => Math.min(edge - half, Math.max(half - edge, at));
  const [lon, lat] = [within(180, coords[2 * row]), within(90, coords[2 * row + 1])];
  const box = [lon - half, lat - half, lon + half, lat + half].map((edge) => edge.toFixed(5));
  const bbox = `bbox=${box}`;
  const circle = `coordinates=${lat.toFixed(5)},${lon.toFixed(5)},${half * 40_000}`;
  const ring = `polygon=${box[0]},${box[1]};${box[2]},${box[1]};${box[2]},${box[3]}`;
  const since = `2023-01-0${1 + (turn % 9)}T00:00:00Z`;
  // not of the first zooms at once: the thread of the slow lane, which makes them, is starting
  const zoom = (9 + 7 * turn) % 15;
  const across = 2 ** zoom;
  // the poles lie outside of the tiles
  const south = Math.max(0, Math.min(southwards(lat), 1 - 1e-9));
  const [x, y] = [((lon + 180) / 360) * across, south * across].map(Math.floor);
  return [
    `${POINTS_PATH}?${bbox}`,
    `${POINTS_PATH}?${circle}`,
    `${POINTS_PATH}?${bbox}&ordering=-created_at&page_size=20`,
    `${POINTS_PATH}?${circle}&is_processed=false&page_size=10`,
    `${POINTS_PATH}?${ring}&status=NEW&fields=id,lat,lon`,
    `${POINTS_PATH}?created_at_after=${since}&ordering=modified_at&page_size=10`,
    `${POINTS_PATH}?page=${1 + (turn % Math.max(1, Math.ceil(count / 100)))}`,
    `${POINTS_PATH}?${bbox}&format=geojson`,
    `${POINTS_PATH}?${circle}&format=api`,
    `${POINTS_PATH}?bbox=${turn}`,
    `${POINTS_PATH}${byId.keys[row] ?? 1}/`,
    `${ITEMS_PATH}?${bbox}&limit=20`,
    `/tiles/${zoom}/${x}/${y}.mvt`,
    `/tiles/${zoom}/${x}/${y}.mvt?has_image=false`,
    `${NOTIFICATIONS_PATH}?page_size=${1 + turn}`,
  ];
}
