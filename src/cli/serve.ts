import { version } from '../model/quote.js';
import { createBuilder } from '../reload/build.js';
import { connectionLimit } from '../serving/connections.js';
import { checkPorts } from '../serving/listen.js';
import { Log } from '../serving/log.js';
import type { RunningServer } from '../serving/server.js';
import { givenSockets, supervise, whenOrphaned } from '../serving/supervisor.js';
import type { ServeSettings } from './settings/values.js';

/**
 * Loads the snapshot and listens, until a SIGTERM or SIGINT; a SIGHUP looks for a new snapshot.
 * With several workers a child process does so, and this resolves when it has ended; otherwise once
 * it serves. `strange` variables set nothing. Throws an InputError when the snapshot or a setting
 * cannot be used.
 */
export async function serve(settings: ServeSettings, strange: readonly string[]): Promise<void> {
  checkPorts(settings);
  const log = new Log(settings);
  const { logger } = log;
  const sockets = givenSockets();
  const isSupervised = sockets.length > 0;
  for (const variable of isSupervised ? [] : strange) {
    logger.warn({ variable }, 'this variable sets nothing');
  }
  if (settings.workers > 1 && !isSupervised) {
    process.exitCode = await supervise(settings, logger);
    return;
  }
  let server: RunningServer | undefined;
  let isClosing = false;
  const close = async (signal: string): Promise<void> => {
    if (isClosing) return;
    isClosing = true;
    logger.info({ signal }, 'closing');
    await server?.close();
    logger.info('closed');
    process.exit(0);
  };
  // during the load a SIGHUP must not end the process, and a SIGTERM must, also as the first
  // process of a container
  process.on('SIGTERM', (signal) => void close(signal));
  process.on('SIGINT', (signal) => void close(signal));
  process.on('SIGHUP', () => server?.look('retry'));
  if (isSupervised) whenOrphaned(() => void close('none: its supervisor ended'));
  // as many as the supervisor counted: it may have seen other cores
  const workers = isSupervised ? sockets.length : 1;
  const connections = connectionLimit({ ...settings, workers });
  // its thread starts meanwhile
  const build = createBuilder(settings);
  // a supervisor does not load all this
  const { startServer } = await import('../serving/server.js');
  const limited = { ...settings, workers, maxConnections: connections };
  server = await startServer(limited, log, sockets, build);
  if (isSupervised) process.send!('serving');
  logger.info({ version: version(), ...server.begun, workers, connections }, 'serving');
  const wanted = settings.maxConnections;
  // with the usual limits of open files some are always missing
  if (connections < wanted / 2) logger.warn({ wanted, connections }, 'few files may be open');
}
