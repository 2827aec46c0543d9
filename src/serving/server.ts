import type { ServiceMetrics } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import { readTokens } from '../http/request/token.js';
import { Cell } from '../live/current.js';
import { buildGeneration } from '../live/reload/build.js';
import { createReloader } from '../live/reload/reload.js';
import { createReloadStats, type ReloadStats } from '../live/reload/stats.js';
import { watchPath } from '../live/source/watch.js';
import { startProgress } from '../progress.js';
import type { ServeSettings } from '../settings.js';
import { createCounts } from './connections.js';
import { openSockets } from './listen.js';
import type { Log } from './log.js';
import { startThreads, type ThreadStats } from './threads.js';
import type { Web, WebStart } from './web.js';

/** A signal ends the process while it waits for its port. */
const NEVER = new AbortController().signal;

/** The process that serves. */
export interface RunningServer {
  /** What it began with, for the log. */
  readonly begun: { readonly points: number; readonly loadMs: number; readonly address: string };
  /** Looks for a new snapshot; `accept` takes one that shrank. */
  look(accept: boolean): Promise<void>;
  /** Finishes what is under way; the process is to end then. */
  close(): Promise<void>;
}

/**
 * Loads the newest snapshot, listens, and keeps up with new ones. Resolves once it listens. `sockets` listen
 * already: the first ones are for this thread, the others for one thread each; without any, this thread
 * listens at the address of the settings. Throws an InputError when the snapshot or a setting cannot
 * be used.
 */
export async function startServer(
  settings: ServeSettings,
  log: Log,
  sockets: readonly (readonly number[])[],
): Promise<RunningServer> {
  const { logger } = log;
  const started = performance.now();
  const current = new Cell();
  const stats = createReloadStats();
  const threadStats: ThreadStats = { behind: 0 };
  const bar = startProgress('Loading');
  const reloader = createReloader({
    current,
    path: settings.snapshot,
    companion: settings.notifications,
    settleMs: settings.settle,
    maxShrink: settings.maxShrink,
    build: (task, onProgress) =>
      buildGeneration(task, settings, (bytesRead, bytesTotal) => {
        bar.update(bytesRead, bytesTotal);
        onProgress(bytesRead, bytesTotal);
      }),
    stats,
    logger,
  });
  const shared = {
    settings,
    counts: createCounts(settings.workers),
    tokens: readTokens(settings.tokens),
    logDescriptor: log.descriptor,
  };
  // the web server is made while another thread builds
  const [{ web, service, metrics }] = await Promise.all([
    makeWeb(
      { ...shared, thread: 0 },
      { current, reload: reloader.look },
      [stats, threadStats],
      log,
    ),
    reloader.load().finally(() => bar.stop()),
  ]);
  const [own, ...others] = sockets;
  const address = await web.listen(
    own?.map((fd) => ({ fd })) ?? (await openSockets(settings, logger, NEVER)),
  );
  const loadMs = Math.round(performance.now() - started);
  // the other threads join while this one answers already
  const threads = startThreads(shared, others, service, threadStats, {
    died(error) {
      // its socket is closed: all begin anew
      logger.fatal({ err: error }, 'a thread died');
      process.exit(1);
    },
    late: (thread) => logger.warn({ thread }, 'a thread is busy'),
  });
  metrics.add(threads.metrics);
  void current.follow(threads);
  const unwatch = watch(settings, () => void reloader.look());
  return {
    begun: { points: current.generation.count, loadMs, address },
    look: reloader.look,
    async close() {
      reloader.close();
      // nothing is to be waited for but the requests
      void unwatch();
      await Promise.all([web.close(), threads.close()]);
    },
  };
}

/** Makes this thread's web server, and the metrics of all threads. */
async function makeWeb(
  start: WebStart,
  live: Pick<Service, 'current' | 'reload'>,
  stats: readonly [ReloadStats, ThreadStats],
  log: Log,
): Promise<{ web: Web; service: Service; metrics: ServiceMetrics }> {
  const [{ createWeb }, { createServiceMetrics }] = await Promise.all([
    import('./web.js'),
    import('../http/metrics.js'),
  ]);
  const metrics = createServiceMetrics(live.current, ...stats);
  const service: Service = { ...live, metrics: metrics.text };
  const web = await createWeb(start, service, log);
  metrics.add(async () => [await web.metrics()]);
  return { web, service, metrics };
}

/** Watches all files that a generation is made from; returns what ends it. */
function watch(settings: ServeSettings, onChange: () => void): () => Promise<void> {
  const { snapshot, notifications, watch: mode, pollInterval: pollMs } = settings;
  const paths = [snapshot, notifications].filter((path) => path !== undefined);
  const ends = paths.map((path) => watchPath(path, { mode, pollMs }, onChange));
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}
