import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type Asked, type Asking, ask, type Reply } from './client.js';
import { closeLater, makeFolder } from './folder.js';
import { freePort } from './sockets.js';
import { until } from './wait.js';

/** The compiled command. */
export const MAIN: string = join(import.meta.dirname, '../../src/main.js');

export const LATE_THREAD: string = join(import.meta.dirname, 'late-thread.js');

/** The folder of the repository, for files that are not compiled. */
export const ROOT: string = join(import.meta.dirname, '../../..');

/** The 3,000 generated points that the original service was recorded with. */
export const FIXTURE_POINTS: string = join(ROOT, 'test/fixtures/points.ndjson');

/** `FIXTURE_POINTS`, packed by the runner: services start with a third less CPU. */
export const SNAPSHOT: string = process.env['TEST_SNAPSHOT'] ?? FIXTURE_POINTS;

/** Journals of services that share a snapshot, and cannot share the journal beside it. */
const JOURNALS = makeFolder();

/** `waypost serve` in a process of its own, listening on a free port of 127.0.0.1. */
export interface Service {
  readonly port: number;
  readonly pid: number;
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  get(path: string, asked?: Asked): Promise<Reply>;
  /** Sends SIGTERM and waits until the process has exited. */
  stop(): Promise<void>;
  /** Resolves with the exit code; null when a signal killed the process. */
  readonly ended: Promise<number | null>;
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts the service, by the command `launcher` where that is given, and waits until it listens.
 * Rejects with its standard error when it exits before. Stopped after the file's tests.
 */
export async function startService(
  flags: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): Promise<Service> {
  const args = ['serve', '--host', '127.0.0.1', '--port', '0', ...flags];
  const journal = join(JOURNALS, `${randomUUID()}.journal`);
  const own = { WAYPOST_SNAPSHOT: SNAPSHOT, WAYPOST_JOURNAL: journal };
  const child = spawnCommand(args, { ...own, ...environment }, { launcher });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const stderr = text(child.stderr!);
  const logs: Record<string, unknown>[] = [];
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      logs.push(entry);
      if (typeof entry['address'] === 'string') resolve(entry['address']);
    });
    child.once('error', reject);
    child.once('close', async (code) => {
      reject(new Error(`serve ended with ${code}: ${await stderr}`));
    });
  });
  const port = Number(new URL(address).port);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  closeLater(stop);
  const get = (path: string, asked?: Asked): Promise<Reply> => ask(port, path, asked);
  return { port, pid: child.pid!, logs, get, ended, stop };
}

interface Unheard extends Asking {
  readonly port: number;
  readonly child: ChildProcess;
  /** What the service wrote to standard error, such as Node's fatal errors. */
  lastWords(): string;
}

/**
 * Starts a service with the log at `stdout`, where nobody reads to which port it listens; waits
 * until it answers. Killed after the file's tests.
 */
export async function startUnheard(
  flags: readonly string[],
  stdout: 'pipe' | number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Unheard> {
  const port = await freePort();
  const where = ['--host', '127.0.0.1', '--port', String(port)];
  const child = spawnCommand(['serve', ...where, ...flags], environment, { stdout });
  closeLater(() => child.kill('SIGKILL'));
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const get = (path: string, asked?: Asked): Promise<Reply> => ask(port, path, asked);
  await until('the service answers', async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${stderr}`);
    return get('/health/live').catch(() => undefined);
  });
  return { port, child, get, lastWords: () => stderr };
}

/** The entries of a message in a service's log. */
export function logged({ logs }: Pick<Service, 'logs'>, message: string): Service['logs'] {
  return logs.filter(({ msg }) => msg === message);
}

/** Whether a process runs; a zombie, which containers whose process 1 reaps none keep, does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, 'utf8'));
  } catch {
    return false;
  }
}

/** Runs a command that ends by itself, such as one that fails; a service that starts is killed. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const child = spawnCommand(args, environment);
  const stderr = text(child.stderr!);
  let stdout = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    stdout += chunk;
    if (stdout.includes('"address"')) child.kill('SIGKILL');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr: await stderr };
}

/** The thread for `runInThread`, shared by a file's tests. */
let thread: Worker | undefined;

/**
 * Runs a command in a thread of this process, at a hundredth of the cost of a process. For commands
 * that are refused or print something, one at a time; a service that starts would never end.
 */
export async function runInThread(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  if (thread === undefined) {
    const workerData = { main: pathToFileURL(MAIN).href };
    const started = new Worker(COMMANDS, { eval: true, workerData, env: environmentOf({}) });
    thread = started;
    closeLater(() => {
      thread = undefined;
      return started.terminate();
    });
  }
  const answered = once(thread, 'message') as Promise<[Outcome]>;
  thread.postMessage({ args, environment });
  return (await answered)[0];
}

/** Runs a script of the project in a thread; resolves with what it prints. */
export function printedBy(script: string, ...argv: readonly string[]): Promise<string> {
  return text(new Worker(join(ROOT, 'dist', script), { argv: [...argv], stdout: true }).stdout);
}

/** Evaluates the command line anew for each message; its imports are compiled once. */
const COMMANDS = `
  const { parentPort, workerData } = require('node:worker_threads');
  const EXIT = new Error('exit');
  const environment = { ...process.env };
  let runs = 0;
  parentPort.on('message', async ({ args, environment: given }) => {
    const outcome = { code: undefined, stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      // what is said behind the exit, such as that it was thrown, nobody would hear
      process[name].write = (text, ...others) => {
        if (outcome.code === undefined) outcome[name] += text;
        for (const done of others) if (typeof done === 'function') done();
        return true;
      };
    }
    process.exit = (code = process.exitCode ?? 0) => {
      outcome.code ??= code;
      throw EXIT;
    };
    process.argv.splice(2, Infinity, ...args);
    process.env = { ...environment, ...given };
    process.exitCode = undefined;
    await import(workerData.main + '?' + runs++).catch((error) => {
      if (error !== EXIT) outcome.stderr += error.stack;
    });
    outcome.code ??= process.exitCode ?? 0;
    parentPort.postMessage(outcome);
  });`;

function environmentOf(given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYPOST_'));
  return {
    ...Object.fromEntries(own),
    // with several threads, another one than a test acted on might answer
    WAYPOST_WORKERS: '1',
    WAYPOST_JOURNAL: 'none',
    WAYPOST_WARM_UP: '0s',
    // a busy machine must not fail a test
    WAYPOST_MAX_LOOP_DELAY: '0',
    WAYPOST_POSTS_PER_ADDRESS: '0',
    ...given,
  };
}

/** Starts a command, whose output goes to `stdout`. Killed when this process ends. */
function spawnCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  {
    launcher = [],
    stdout = 'pipe',
  }: { launcher?: readonly string[]; stdout?: 'pipe' | number } = {},
): ChildProcess {
  const [command, ...rest] = [...launcher, process.execPath, MAIN, ...args];
  const child = spawn(command!, rest, {
    env: environmentOf(environment),
    stdio: ['ignore', stdout, 'pipe'],
  });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  return child;
}
