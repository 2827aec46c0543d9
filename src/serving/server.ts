import type { Logger } from 'pino';
import { readTokens } from '../http/request/token.js';
import { buildGeneration } from '../live/reload/build.js';
import { type Outcome, type Reloader, startReloader } from '../live/reload/reload.js';
import type { Service } from '../live/service.js';
import { watchPath } from '../live/source/watch.js';
import { startProgress } from '../progress.js';
import type { ServeSettings } from '../settings.js';
import type { LoadReport } from '../snapshot/snapshot.js';
import { createCounts } from './connections.js';
import { listening, type Place } from './listen.js';
import { startThreads, type Threads } from './threads.js';
import type { Web } from './web.js';

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
 * already: the first is for this thread, the others are for one thread each; without any, this thread
 * listens at the address of the settings. Throws an InputError when the snapshot or a setting cannot
 * be used.
 */
export async function startServer(
  settings: ServeSettings,
  logger: Logger,
  sockets: readonly number[],
): Promise<RunningServer> {
  const started = performance.now();
  const early: [Outcome, number][] = [];
  let onOutcome = (outcome: Outcome, seconds: number): void => void early.push([outcome, seconds]);
  const shared = {
    settings,
    counts: createCounts(settings.workers),
    tokens: readTokens(settings.tokens),
  };
  let threads: Threads | undefined;
  const bar = startProgress('Loading');
  const loading = startReloader({
    path: settings.snapshot,
    companion: settings.notifications,
    settleMs: settings.settle,
    maxShrink: settings.maxShrink,
    build: (task) => buildGeneration(task, settings, bar.update),
    onOutcome: (outcome, seconds) => onOutcome(outcome, seconds),
    async onLoaded({ parts }) {
      reportLoad(parts.dataset.report, logger);
      await threads?.serve(parts);
    },
    onLooked: ({ stale }) => threads?.tellStale(stale),
    logger,
  }).finally(() => bar.stop());
  let reloader: Reloader;
  const service: Service = {
    current: {
      get generation() {
        return reloader.current.generation;
      },
    },
    get stale() {
      return reloader.stale;
    },
    reload: (accept) => reloader.look(accept),
    metrics: () => allMetrics(),
  };
  // the web server is made while another thread builds
  const [loaded, { web, reloaded, allMetrics }] = await Promise.all([loading, makeWeb()]);
  reloader = loaded;
  onOutcome = reloaded;
  for (const [outcome, seconds] of early) onOutcome(outcome, seconds);
  const { host, port } = settings;
  const [socket, ...others] = sockets;
  const place: Place = socket === undefined ? { host, port } : { fd: socket };
  const address = await listening(host, port, () => web.listen(place));
  const loadMs = Math.round(performance.now() - started);
  if (others.length > 0) startOthers(others);
  const unwatch = watch(settings, () => void reloader.look());
  return {
    begun: { points: service.current.generation.count, loadMs, address },
    look: reloader.look,
    async close() {
      reloader.close();
      // nothing is to be waited for but the requests
      void unwatch();
      await Promise.all([web.close(), threads?.close()]);
    },
  };

  async function makeWeb(): Promise<{
    web: Web;
    reloaded: (outcome: Outcome, seconds: number) => void;
    allMetrics: () => Promise<string>;
  }> {
    const [{ createWeb }, { createServiceMetrics, joinMetrics }] = await Promise.all([
      import('./web.js'),
      import('../http/metrics.js'),
    ]);
    const web = await createWeb({ ...shared, thread: 0 }, service, logger);
    const { registry, reloaded } = createServiceMetrics(service);
    const allMetrics = async (): Promise<string> => {
      const own = await web.registry.getMetricsAsJSON();
      return joinMetrics(registry, [own, ...((await threads?.metrics()) ?? [])]);
    };
    return { web, reloaded, allMetrics };
  }

  /** They join while this thread answers already. */
  function startOthers(fds: readonly number[]): void {
    threads = startThreads(shared, fds, {
      async reload(accept) {
        await reloader.look(accept);
        return reloader.stale;
      },
      metrics: service.metrics,
      died(error) {
        // its socket is closed: all begin anew
        logger.fatal({ err: error }, 'a thread died');
        process.exit(1);
      },
    });
    void threads.serve(service.current.generation.parts);
    threads.tellStale(service.stale);
  }
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

function reportLoad({ invalid, problems, unknownKeys }: LoadReport, logger: Logger): void {
  if (invalid > 0) logger.warn({ invalid, problems }, 'invalid records left out');
  if (Object.keys(unknownKeys).length > 0) logger.warn({ unknownKeys }, 'unknown keys dropped');
}
