import { type ChildProcess, fork } from 'node:child_process';
import type { AddressInfo, Server } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { descriptorOf } from '../http/answer/node-internals.js';
import { openSocket } from './listen.js';

/** The environment variable that tells a process how many sockets it was given. */
const SOCKETS = 'WAYPOST_SOCKETS';
/** The first socket's descriptor, behind the standard streams and the channel. */
const FIRST_SOCKET = 4;

/** Has glibc give freed blocks of 128 KiB and more back; by itself it keeps those below 32 MiB. */
const MALLOC = { MALLOC_MMAP_THRESHOLD_: String(128 * 1024) };

/** A process that dies sooner than this is replaced after a pause. */
const SHORT_LIFE_MS = 5_000;
const PAUSE_MS = 1_000;
/** How much longer than its requests a process may take to end, before it is killed. */
const GRACE_MS = 2_000;

/**
 * Keeps a process alive that serves with several threads, and passes signals on. Resolves with an
 * exit code once a signal has ended the process, or the first process never served.
 */
export async function supervise(settings: ServeSettings, logger: Logger): Promise<number> {
  const { host, workers, drainDelay, shutdownTimeout, listenTimeout } = settings;
  const closing = new AbortController();
  const { signal: closed } = closing;
  let child: ChildProcess | undefined;
  let isServing = false;
  let hasServed = false;
  const close = (signal: NodeJS.Signals): void => {
    closing.abort();
    child?.kill(signal);
    setTimeout(() => child?.kill('SIGKILL'), drainDelay + shutdownTimeout + GRACE_MS).unref();
  };
  process.on('SIGTERM', close);
  process.on('SIGINT', close);
  process.on('SIGHUP', (signal) => {
    // SIGHUP would end a process that is still starting
    if (isServing) child?.kill(signal);
  });

  for (let { port } = settings; ; ) {
    const opening = openSocket({ host, port, listenTimeout }, logger, closed);
    const socket = await opening.catch((error: unknown) => {
      if (closed.aborted) return undefined;
      throw error;
    });
    if (socket === undefined) return 0;
    port = (socket.address() as AddressInfo).port;
    let ending: Promise<Ending>;
    try {
      if (closed.aborted) return 0;
      child = startProcess(socket, workers);
      ending = endOf(child);
    } catch (error) {
      // for a lack of memory or the like
      child = undefined;
      ending = Promise.resolve({ code: null, signal: null, error });
    } finally {
      // the child accepts connections, not this process
      socket.close();
    }
    const began = performance.now();
    child?.once('message', () => {
      isServing = hasServed = true;
    });
    const { code, signal, error } = await ending;
    isServing = false;
    if (closed.aborted) return 0;
    if (error !== undefined) {
      if (!hasServed) throw error;
      logger.error({ err: error }, 'process not started');
    } else if (hasServed || code === null) {
      // a first process that ends with an exit code has logged why
      logger.error({ child: child?.pid, code, signal }, 'process died');
    }
    if (!hasServed) return code ?? 1;
    if (performance.now() - began < SHORT_LIFE_MS) {
      await delay(PAUSE_MS, undefined, { signal: closed }).catch(() => {});
      if (closed.aborted) return 0;
    }
  }
}

/** The sockets that this process was given, one a thread; none when it was started by itself. */
export function givenSockets(): number[] {
  const threads = Number(process.env[SOCKETS] ?? 0);
  return Array.from({ length: threads }, (_, thread) => FIRST_SOCKET + thread);
}

/** Calls `end` when the supervisor is gone. */
export function whenOrphaned(end: () => void): void {
  process.once('disconnect', end);
  // the channel must not keep a process that could not begin
  process.channel?.unref();
}

/** How a process ended; `error` where it never began. */
interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly error?: unknown;
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
}

function startProcess(socket: Server, workers: number): ChildProcess {
  const [, script, ...args] = process.argv;
  // the same socket, as a descriptor of its own for each thread
  const given = Array.from({ length: workers }, () => descriptorOf(socket));
  return fork(script!, args, {
    execArgv: execArgvOf(workers),
    env: { ...MALLOC, ...process.env, [SOCKETS]: String(workers) },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...given],
  });
}

/**
 * V8 has four threads of its own, mostly to collect garbage. Where the threads that answer take all
 * cores, the four delay each other and the answers: one is enough. This process's own options come
 * last, and win.
 */
function execArgvOf(workers: number): string[] {
  const own = workers < availableParallelism() ? [] : ['--v8-pool-size=1'];
  return [...own, ...process.execArgv];
}
