import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { SERVE_SETTINGS } from '../../src/cli/settings/settings.js';
import type { ServeSettings } from '../../src/cli/settings/values.js';
import { type Build, createBuilder } from '../../src/reload/build.js';
import { run } from '../../src/reload/build-thread.js';
import { startServer } from '../../src/serving/server.js';
import { ask } from './client.js';
import { closeLater, makeFolder } from './folder.js';
import { type Service, SNAPSHOT } from './service.js';

/** A service that runs in this process. */
export type OwnService = Pick<Service, 'port' | 'logs' | 'get' | 'stop'>;

/** Standard error: the service must not write to the runner's standard output. */
const DESCRIPTOR = 2;

/**
 * Starts what `waypost serve` starts with these flags, in this process, at a free port of
 * 127.0.0.1. That takes 0.2 s of CPU; a process, which compiles every module again, takes 0.9 s.
 * Tests of signals, the command line or the exit need `startService`. Stopped after the file.
 */
export async function startOwnService(flags: readonly string[] = []): Promise<OwnService> {
  const journal = join(makeFolder(), `${randomUUID()}.journal`);
  const given = ['--host', '127.0.0.1', '--port', '0', '--workers', '1', '--journal', journal];
  given.push('--snapshot', SNAPSHOT, '--max-loop-delay', '0', '--warm-up', '0s');
  const settings = settingsOf([...given, '--posts-per-address', '0', ...flags]);
  const logs: Record<string, unknown>[] = [];
  const write = (line: string): void => void logs.push(JSON.parse(line));
  const logger = pino({ level: settings.logLevel }, { write });
  const log = { logger, descriptor: DESCRIPTOR, dropped: 0 };
  const server = await startServer(settings, log, [], builderOf(settings));
  const port = Number(new URL(server.begun.address).port);
  let closed: Promise<void> | undefined;
  const stop = (): Promise<void> => (closed ??= server.close());
  closeLater(stop);
  return { port, logs, get: (path, asked) => ask(port, path, asked), stop };
}

/** Makes the first generation in this thread, and later ones as services do. */
function builderOf(settings: ServeSettings): Build {
  const first = createBuilder(settings, run);
  let later: Build | undefined;
  return (task, onProgress) => {
    if (task.unless === undefined) return first(task, onProgress);
    later ??= createBuilder(settings);
    return later(task, onProgress);
  };
}

/** The settings that flags of `waypost serve` stand for; the last of a repeated one counts. */
function settingsOf(flags: readonly string[]): ServeSettings {
  const values: Record<string, unknown> = {};
  for (const { flag, fallback, parse = (text: string): unknown => text } of SERVE_SETTINGS) {
    const [name, argument] = flag.split(' ');
    const at = flags.lastIndexOf(name!);
    const text = at < 0 ? fallback : flags[at + 1];
    const key = name!.slice(2).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    if (argument !== undefined && text !== undefined) values[key] = parse(text);
    else if (at >= 0) values[key] = true;
  }
  return values as unknown as ServeSettings;
}
