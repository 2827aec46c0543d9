import { type Logger, pino } from 'pino';
import { givenSockets, reportServing, supervise, whenOrphaned } from '../serving/supervisor.js';
import type { ServeSettings } from '../settings.js';

/**
 * Loads the snapshot, then listens, until a SIGTERM or SIGINT; a SIGHUP looks for a new snapshot. Resolves
 * once it serves. Throws an InputError when the snapshot or a setting cannot be used.
 */
export async function serve(settings: ServeSettings): Promise<void> {
  // at once: a process that ends must not keep its last lines to itself
  const logger = pino({ level: settings.logLevel }, pino.destination({ dest: 1, sync: true }));
  const { workers } = settings;
  const sockets = givenSockets(workers);
  if (workers > 1 && sockets.length === 0) {
    process.exitCode = await supervise(settings, logger);
    return;
  }
  const obeySignals = takeSignals(logger);
  // the process above gets by without
  const { startServer } = await import('../serving/server.js');
  const server = await startServer(settings, logger, sockets);
  if (sockets.length > 0) reportServing();
  logger.info({ ...server.begun, workers }, 'serving');
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
  whenOrphaned(() => void close('none: the process above ended'));
  return (begun) => {
    running = begun;
  };
}
