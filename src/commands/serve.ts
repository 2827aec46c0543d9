import { type Logger, pino } from 'pino';
import { InputError } from '../errors.js';
import { createApp } from '../http/app.js';
import { readTokens } from '../http/auth.js';
import { buildGeneration } from '../live/build.js';
import { openTimeZone, type TimeZone } from '../model/time-zone.js';
import type { ServeSettings } from '../settings.js';
import { startProgress } from './progress.js';

/**
 * Loads the snapshot, then listens, until a SIGTERM or SIGINT. Resolves once it listens. Throws an
 * InputError when the snapshot or a setting cannot be used.
 */
export async function serve(settings: ServeSettings): Promise<void> {
  const logger = pino({ level: settings.logLevel });
  const zone = await openZone(settings.timeZone);
  const tokens = settings.tokens === undefined ? new Map() : readTokens(settings.tokens);
  const started = performance.now();
  const bar = startProgress('Loading');
  const generation = await buildGeneration(
    {
      path: settings.snapshot,
      maxInvalid: settings.maxInvalid,
      notificationsPath: settings.notifications,
    },
    bar.update,
  ).finally(() => bar.stop());
  const { count, report } = generation.engine.dataset;
  if (report.invalid > 0) logger.warn({ problems: report.problems }, 'invalid records left out');
  if (Object.keys(report.unknownKeys).length > 0) {
    logger.warn({ unknownKeys: report.unknownKeys }, 'unknown keys dropped');
  }

  const app = createApp(
    {
      current: { generation },
      zone,
      publicUrl: settings.publicUrl,
      tokens,
      answerCacheBytes: settings.answerCache,
    },
    // Fastify's own lines of information say nothing that ours do not
    logger.child({}, { level: quieter(settings.logLevel) }),
  );
  const address = await listen(() => app.listen(settings), settings);
  const loadMs = Math.round(performance.now() - started);
  logger.info({ points: count, invalid: report.invalid, loadMs, address }, 'serving');
  closeOnSignal(() => app.close(), logger);
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

async function listen(
  start: () => Promise<string>,
  { host, port }: ServeSettings,
): Promise<string> {
  try {
    return await start();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EADDRINUSE'
        ? 'something else listens there; choose another --port'
        : code === 'EACCES'
          ? 'that port needs privileges; choose one above 1023'
          : (error as Error).message;
    throw new InputError(`Cannot listen on ${host}:${port}: ${reason}.`);
  }
}

function quieter(level: string): string {
  return level === 'info' ? 'warn' : level;
}

function closeOnSignal(close: () => Promise<void>, logger: Logger): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      logger.info({ signal }, 'closing');
      void close();
    });
  }
}
