import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { startProgress } from '../commands/progress.js';
import { InputError } from '../errors.js';
import { readTokens } from '../http/auth.js';
import type { Metrics } from '../http/metrics.js';
import { createRequestStats } from '../http/request-stats.js';
import { buildGeneration } from '../live/build.js';
import type { Current } from '../live/generation.js';
import { type Outcome, type Reloader, startReloader } from '../live/reload.js';
import { type Service, statusOf } from '../live/service.js';
import { watchPath } from '../live/watch.js';
import { openTimeZone, type TimeZone } from '../model/time-zone.js';
import type { ServeSettings } from '../settings.js';
import type { LoadReport } from '../snapshot/snapshot.js';
import { holdConnections } from './connections.js';
import type { Peers } from './peers.js';
import { drain } from './shutdown.js';

/** One process that serves. */
export interface RunningServer {
  /** What it began with, for the log. */
  readonly begun: { readonly points: number; readonly loadMs: number; readonly address: string };
  readonly registry: Registry;
  /** Looks for a new snapshot in this process; `accept` takes one that shrank. */
  look(accept: boolean): Promise<void>;
  /** Finishes what is under way; the process is to end then. */
  close(): Promise<void>;
}

/**
 * Loads the newest snapshot, listens, and keeps up with new ones. Resolves once it listens. Throws an
 * InputError when the snapshot or a setting cannot be used.
 */
export async function startServer(
  settings: ServeSettings,
  logger: Logger,
  peers: Peers,
): Promise<RunningServer> {
  const started = performance.now();
  const zone = await openZone(settings.timeZone);
  const tokens = readTokens(settings.tokens);
  const stats = createRequestStats();
  let isClosing = false;
  const early: [Outcome, number][] = [];
  let onOutcome = (outcome: Outcome, seconds: number): void => void early.push([outcome, seconds]);
  const bar = startProgress('Loading');
  const loading = startReloader({
    path: settings.snapshot,
    companion: settings.notifications,
    settleMs: settings.settle,
    peerPoints: peers.points,
    maxShrink: settings.maxShrink,
    // one process builds at a time, so that the others have the cores
    build: (task) => peers.inTurn(() => buildGeneration(task, settings, bar.update)),
    onOutcome: (outcome, seconds) => onOutcome(outcome, seconds),
    onLooked({ current, stale }) {
      peers.publish(statusOf(current, stale));
    },
    onLoaded: (generation) => reportLoad(generation.engine.dataset.report, logger),
    logger,
  }).finally(() => bar.stop());
  let reloader: Reloader;
  const current: Current = {
    get generation() {
      return reloader.current.generation;
    },
  };
  // the web server is made while the thread builds
  const [loaded, { app, metrics }] = await Promise.all([loading, makeWeb()]);
  reloader = loaded;
  onOutcome = metrics.reloaded;
  for (const [outcome, seconds] of early) onOutcome(outcome, seconds);
  const connections = holdConnections(app.server, settings.maxConnections);
  await listen(() => app.listen({ host: settings.host, port: settings.port }), settings);
  const loadMs = Math.round(performance.now() - started);
  const address = addressText(app.server.address() as AddressInfo);
  const unwatch = watch(settings, () => void reloader.look());
  return {
    begun: { points: current.generation.count, loadMs, address },
    registry: metrics.registry,
    look: reloader.look,
    async close() {
      isClosing = true;
      reloader.close();
      // nothing is to be waited for but the requests
      void unwatch();
      await drain(app.server, connections, settings.shutdownTimeout);
    },
  };

  async function makeWeb(): Promise<{ app: FastifyInstance; metrics: Metrics }> {
    const [{ createApp }, { createMetrics }] = await Promise.all([
      import('../http/app.js'),
      import('../http/metrics.js'),
    ]);
    const service: Service = {
      current,
      get stale() {
        return reloader.stale;
      },
      statuses: () => peers.statuses(statusOf(current, reloader.stale)),
      reload: (accept) => peers.reload(accept, reloader.look),
      metrics: () => peers.metrics(metrics.registry),
    };
    const metrics = createMetrics(stats, service);
    const { publicUrl, trustProxy, allowedHosts, corsOrigin, accessLog } = settings;
    const app = createApp(
      {
        current,
        logger,
        stats,
        zone,
        origin: { publicUrl, trustProxy, allowedHosts },
        corsOrigin,
        tokens,
        answerCacheBytes: settings.answerCache,
        accessLog,
        closing: () => isClosing,
      },
      service,
      settings,
      settings.adminToken,
    );
    return { app, metrics };
  }
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

async function listen(start: () => Promise<string>, { host, port }: ServeSettings): Promise<void> {
  try {
    await start();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    let reason = message;
    if (code === 'EADDRINUSE') reason = 'something else listens there; choose another --port';
    if (code === 'EACCES') reason = 'that port needs privileges; choose one above 1023';
    throw new InputError(`Cannot listen on ${host}:${port}: ${reason}.`);
  }
}

function addressText({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
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
