import cluster from 'node:cluster';
import { type Logger, pino } from 'pino';
import { ALONE } from '../serving/peers.js';
import { startServer } from '../serving/server.js';
import type { ServeSettings } from '../settings.js';

/**
 * Loads the snapshot, then listens, until a SIGTERM or SIGINT; a SIGHUP looks for a new snapshot. Resolves
 * once it serves. Throws an InputError when the snapshot or a setting cannot be used.
 */
export async function serve(settings: ServeSettings): Promise<void> {
  // at once: a process that ends must not keep its last lines to itself
  const logger = pino({ level: settings.logLevel }, pino.destination({ dest: 1, sync: true }));
  // what one process alone does not need, it does not wait for
  if (cluster.isWorker) {
    const { runWorker } = await import('../serving/worker.js');
    return runWorker(settings, logger);
  }
  const obeySignals = takeSignals(logger);
  if (settings.workers > 1) {
    const { startCluster } = await import('../serving/primary.js');
    const processes = await startCluster(settings.workers, settings.shutdownTimeout, logger);
    if (processes === undefined) process.exitCode = 1;
    else obeySignals(processes);
    return;
  }
  const server = await startServer(settings, logger, ALONE);
  logger.info(server.begun, 'serving');
  obeySignals(server);
}

interface Running {
  look(accept: boolean): Promise<void>;
  close(): Promise<void>;
}

/**
 * Takes signals from the start: while it loads, a SIGHUP must not end the process, and a SIGTERM must, also
 * as the first process of a container. Returns who is told what runs once it does.
 */
function takeSignals(logger: Logger): (running: Running) => void {
  let running: Running | undefined;
  let isClosing = false;
  const close = async (signal: string): Promise<void> => {
    if (isClosing) return;
    isClosing = true;
    logger.info({ signal }, 'closing');
    await running?.close();
    logger.info('closed');
    process.exit(0);
  };
  process.on('SIGTERM', (signal) => void close(signal));
  process.on('SIGINT', (signal) => void close(signal));
  process.on('SIGHUP', () => void running?.look(false));
  return (begun) => {
    running = begun;
  };
}
