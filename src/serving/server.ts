import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { isBucket } from '../formats/bucket.js';
import type { ServiceMetrics } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import { sharedArray } from '../model/memory.js';
import { openTimeZone } from '../model/time-zone.js';
import { checkMediaFolder } from '../posts/media/folder.js';
import { isDatabaseAddress } from '../posts/postgres-address.js';
import { PostStats } from '../posts/posts.js';
import { followTokens } from '../posts/tokens/file.js';
import { type Build, createBuilder } from '../reload/build.js';
import { Cell, pointsServed } from '../reload/current.js';
import { type Order, Reloader } from '../reload/reload.js';
import { openAddressSource } from '../reload/source/address.js';
import { openLocalSource } from '../reload/source/local.js';
import { isAddress, type Source } from '../reload/source/source.js';
import { ReloadStats } from '../reload/stats.js';
import { type Intake, openIntake } from './intake.js';
import { Lanes, MOST_LANES } from './lanes.js';
import { openSocket } from './listen.js';
import type { Logs } from './log.js';
import { startProgress } from './progress.js';
import { startThreads, type ThreadStats } from './threads.js';
import type { Web, WebStart } from './web.js';

/** Connections of operators: few of them ask, and clients are to keep the others. */
const OPERATORS_CONNECTIONS = 8;

export interface RunningServer {
  /** For the log. */
  readonly begun: {
    readonly points: number;
    readonly loadMs: number;
    readonly address: string;
    readonly operations?: string;
  };
  /** Looks for a new snapshot. */
  look(order: Order): void;
  /** Finishes what is under way; the process is to end then. */
  close(): Promise<void>;
}

/**
 * Loads the newest snapshot, listens, and keeps up with new ones. Resolves once it listens.
 * `sockets` listen already, one for each thread; without any, this thread listens at the address of
 * the settings. `build` makes all generations. Throws an InputError when the snapshot or a setting
 * cannot be used.
 */
export async function startServer(
  settings: ServeSettings,
  log: Logs,
  sockets: readonly number[],
  build: Build = createBuilder(settings),
): Promise<RunningServer> {
  const opened: (() => Promise<unknown>)[] = [];
  try {
    return await start(settings, log, sockets, build, opened);
  } catch (error) {
    // what stays open would keep the process alive
    for (const close of opened.reverse()) await close();
    throw error;
  }
}

/** Puts what is to be closed should the start fail into `opened`. */
async function start(
  settings: ServeSettings,
  log: Logs,
  sockets: readonly number[],
  build: Build,
  opened: (() => Promise<unknown>)[],
): Promise<RunningServer> {
  const { logger } = log;
  await checkMedia(settings.media, logger);
  const started = performance.now();
  const current = new Cell();
  const stats = new ReloadStats();
  const postStats = new PostStats();
  const zone = await openTimeZone(settings.timeZone);
  // nothing has to be built anew before the first load
  const renew = (): void => reloader.renew();
  const intake = await openIntake(settings, zone, { current, stats: postStats, logger, renew });
  opened.push(() => intake.close());
  const threadStats: ThreadStats = { behind: 0 };
  const source = await openSource(settings, logger);
  const reloader = new Reloader({
    current,
    serve: intake.serve,
    source,
    build,
    settleMs: settings.settle,
    maxShrink: settings.maxShrink,
    allowEmpty: settings.allowEmpty,
    stats,
    logger,
  });
  const lanes = new Lanes(
    { settings, posts: intake.posts !== undefined },
    Math.min(settings.workers, MOST_LANES),
    logger,
  );
  opened.push(() => lanes.close());
  void current.follow(lanes);
  const shared = {
    settings,
    counts: sharedArray(Int32Array, settings.workers),
    streams: sharedArray(Int32Array, 1),
    tokens: followTokens(settings.tokens, { logger }),
    throttles: intake.throttles,
    logDescriptor: log.descriptor,
  };
  const start = { ...shared, thread: 0 };
  // the web server is made while the build thread works
  const [{ web, service, metrics }] = await Promise.all([
    makeWeb(start, intake, reloader, [current, lanes, stats, threadStats, postStats], log),
    showProgress(current, reloader.load()),
  ]);
  opened.push(() => web.close());
  // without a warm-up it starts at its first question
  if (settings.warmUp > 0) lanes.start();
  await web.warmUp(current.generation.engine.dataset);
  const [own, ...others] = sockets;
  const address = await web.listen(
    own === undefined ? await openSocket(settings, logger) : { fd: own },
  );
  const operations = await listenForOperators(start, current, service, log);
  const loadMs = Math.round(performance.now() - started);
  // the other threads start while this one answers already
  const threads = startThreads(shared, others, service, threadStats, (error) => {
    // the thread's socket is closed with it: the supervisor starts another process
    logger.fatal({ err: error }, 'a thread died');
    process.exit(1);
  });
  metrics.add(threads.metrics);
  void current.follow(threads);
  const unwatch = source.watch(() => void reloader.look());
  return {
    begun: { points: pointsServed(current.generation), loadMs, address, ...operations },
    look: (order) => void reloader.look(order),
    async close() {
      current.tell({ leaving: true });
      await delay(settings.drainDelay);
      reloader.close();
      // only the requests are waited for
      void unwatch();
      await Promise.all([web.close(), threads.close()]);
      await lanes.close();
      await intake.close();
    },
  };
}

/** Throws an InputError where there is no such folder or bucket of images. */
async function checkMedia(media: string | undefined, logger: Logger): Promise<void> {
  if (media === undefined) return;
  if (!isBucket(media)) return checkMediaFolder(media);
  const { checkImageBucket } = await import('../posts/media/image-bucket.js');
  const reason = await checkImageBucket(media);
  if (reason !== undefined) logger.error({ media, reason }, 'the store of images does not answer');
}

async function openSource(settings: ServeSettings, logger: Logger): Promise<Source> {
  const { snapshot, notifications: companion, tokens, journal, watch: mode, downloads } = settings;
  const when = { companion, mode, pollMs: settings.pollInterval };
  const isFile = journal !== undefined && journal !== 'none' && !isDatabaseAddress(journal);
  const own = isFile ? journal : undefined;
  if (!isAddress(snapshot)) {
    return openLocalSource({ path: snapshot, journal: own, tokens, ...when }, logger);
  }
  const beside = own === undefined ? tmpdir() : dirname(own);
  return openAddressSource({ address: snapshot, folder: downloads ?? beside, ...when });
}

/** Opens the address for operators, if there is one; the end of the process closes it. */
async function listenForOperators(
  start: WebStart,
  current: Cell,
  service: Service,
  log: Logs,
): Promise<{ operations?: string }> {
  const { operationsHost: host, operationsPort: port, listenTimeout } = start.settings;
  if (port === undefined) return {};
  const { createWeb } = await import('./web.js');
  const settings = { ...start.settings, maxConnections: OPERATORS_CONNECTIONS };
  const own = { ...start, settings, counts: sharedArray(Int32Array, 1) };
  const web = await createWeb(own, current, service, log, 'operators');
  const socket = await openSocket({ host, port, listenTimeout, of: 'operations-' }, log.logger);
  return { operations: await web.listen(socket) };
}

async function makeWeb(
  start: WebStart,
  { posts, journal }: Intake,
  reloader: Reloader,
  [current, lanes, ...stats]: readonly [Cell, Lanes, ReloadStats, ThreadStats, PostStats],
  log: Logs,
): Promise<{ web: Web; service: Service; metrics: ServiceMetrics }> {
  const [{ createWeb }, { createServiceMetrics }] = await Promise.all([
    import('./web.js'),
    import('../http/metrics.js'),
  ]);
  const metrics = createServiceMetrics(current, ...stats, lanes);
  const service: Service = {
    post: (request) => posts!.post(request),
    state: async () => journal!.state,
    read: (after, limit) => journal!.read(after, limit),
    ask: (question) => lanes.ask(question),
    step: (step) => lanes.step(step),
    reload: (accept) => reloader.look(accept ? 'accept' : 'retry'),
    metrics: metrics.text,
  };
  const web = await createWeb(start, current, service, log);
  metrics.add(async () => [await web.metrics()]);
  return { web, service, metrics };
}

async function showProgress(current: Cell, loading: Promise<void>): Promise<void> {
  const bar = startProgress('Loading');
  void current.follow({
    serve: async () => bar.stop(),
    hear({ building }) {
      const { bytesRead = 0, bytesTotal = 0 } = building ?? {};
      if (current.isEmpty && bytesTotal > 0) bar.update(bytesRead, bytesTotal);
    },
  });
  await loading.finally(() => bar.stop());
}
