import cluster from 'node:cluster';
import { type Logger, pino } from 'pino';
import { ALONE } from '../serving/peers.js';
import { startCluster } from '../serving/primary.js';
import { startServer } from '../serving/server.js';
import { runWorker } from '../serving/worker.js';
import type { ServeSettings } from '../settings.js';

/**
 * Loads the snapshot, then listens, until a SIGTERM or SIGINT; a SIGHUP looks for a new snapshot. Resolves
 * once it serves. Throws an InputError when the snapshot or a setting cannot be used.
 */
export async function serve(settings: ServeSettings): Promise<void> {
  const logger = pino({ level: settings.logLevel });
  if (cluster.isWorker) return runWorker(settings, logger);
  if (settings.workers > 1) {
    const processes = await startCluster(settings.workers, logger);
    if (processes === undefined) process.exitCode = 1;
    else obeySignals(processes, logger);
    return;
  }
  const server = await startServer(settings, logger, ALONE);
  logger.info(server.begun, 'serving');
  obeySignals(server, logger);
}

interface Running {
  look(accept: boolean): Promise<void>;
  close(): Promise<void>;
}

function obeySignals(running: Running, logger: Logger): void {
  let isClosing = false;
  const close = async (signal: string): Promise<void> => {
    if (isClosing) return;
    isClosing = true;
    logger.info({ signal }, 'closing');
    await running.close();
    logger.info('closed');
    process.exit(0);
  };
  process.on('SIGTERM', (signal) => void close(signal));
  process.on('SIGINT', (signal) => void close(signal));
  process.on('SIGHUP', () => void running.look(false));
}
