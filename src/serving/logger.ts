import { type Logger, pino } from 'pino';

/** A logger to standard output, which writes at once: a process that ends must not keep its last lines to itself. */
export function createLogger(level: string): Logger {
  return pino({ level }, pino.destination({ dest: 1, sync: true }));
}
