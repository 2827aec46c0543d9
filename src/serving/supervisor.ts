import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../settings.js';
import { listening } from './listen.js';

/** The environment variable that tells a process how many sockets it was given. */
const SOCKETS = 'WAYPOST_SOCKETS';
/** Where they begin, behind the standard streams and the channel to this process. */
const FIRST_SOCKET = 4;

/** A process that dies sooner than this is replaced after a pause, which doubles each time. */
const SHORT_LIFE_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** What a process may take to end beyond what its requests may: then it hangs, and is killed. */
const GRACE_MS = 2_000;

/**
 * Keeps a process alive that serves with several threads. Only a process can be given one socket several times,
 * and threads cannot share one: whichever ends would close it for all. Passes signals on; resolves with
 * an exit code when the process has ended because of one, or the first one never began to serve.
 */
export async function supervise(settings: ServeSettings, logger: Logger): Promise<number> {
  const { host, workers, shutdownTimeout } = settings;
  const closing = new AbortController();
  const { signal: closed } = closing;
  let child: ChildProcess | undefined;
  let isServing = false;
  let hasServed = false;
  let pause = FIRST_PAUSE_MS;
  const close = (signal: NodeJS.Signals): void => {
    closing.abort();
    child?.kill(signal);
    setTimeout(() => child?.kill('SIGKILL'), shutdownTimeout + GRACE_MS).unref();
  };
  process.on('SIGTERM', close);
  process.on('SIGINT', close);
  process.on('SIGHUP', (signal) => {
    // one that is being started would end of it
    if (isServing) child?.kill(signal);
  });

  for (let { port } = settings; ; ) {
    const socket = await listening(host, port, () => openSocket(host, port));
    ({ port } = socket.address() as AddressInfo);
    try {
      if (closed.aborted) return 0;
      child = startProcess(socket, workers);
    } finally {
      // left to the child: here nobody would accept what comes in
      socket.close();
    }
    const began = performance.now();
    child.once('message', () => {
      isServing = hasServed = true;
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    isServing = false;
    if (closed.aborted) return 0;
    // with an exit code it has said why
    if (hasServed || code === null) {
      logger.error({ pid: child.pid, code, signal }, 'process died');
    }
    if (!hasServed) return code ?? 1;
    if (performance.now() - began < SHORT_LIFE_MS) {
      await delay(pause, undefined, { signal: closed }).catch(() => {});
      if (closed.aborted) return 0;
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    } else {
      pause = FIRST_PAUSE_MS;
    }
  }
}

/** The listening sockets that this process was given, one for each thread; none when it was started by itself. */
export function givenSockets(): number[] {
  const count = Number(process.env[SOCKETS] ?? 0);
  return Array.from({ length: count }, (_, thread) => FIRST_SOCKET + thread);
}

/** Tells the process above that this one serves. */
export function reportServing(): void {
  process.send!('serving');
}

/** Calls `end` when the process above this one is gone. */
export function whenOrphaned(end: () => void): void {
  process.once('disconnect', end);
  // the channel must not keep a process that could not begin
  process.channel?.unref();
}

async function openSocket(host: string, port: number): Promise<Server> {
  const server = createServer();
  server.listen({ host, port });
  await once(server, 'listening');
  return server;
}

function startProcess(socket: Server, workers: number): ChildProcess {
  const [, script, ...args] = process.argv;
  return fork(script!, args, {
    env: { ...process.env, [SOCKETS]: String(workers) },
    // the same socket for each thread, as a file descriptor of its own
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...Array<number>(workers).fill(fdOf(socket))],
  });
}

/** Node tells the file descriptor of a listening socket only where its own modules look for it. */
function fdOf(server: Server): number {
  return (server as unknown as { readonly _handle: { readonly fd: number } })._handle.fd;
}
