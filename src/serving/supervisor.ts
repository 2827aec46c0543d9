import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServeSettings } from '../settings.js';
import { listening } from './listen.js';

/** Set for the process that serves, which this one starts; how many threads it has, settings tell. */
const SERVES = 'WAYPOST_SERVES';
/** Where its sockets begin, behind the standard streams and the channel to this process. */
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
 * an exit code when the process has ended because of one, or never began to serve.
 */
export async function supervise(settings: ServeSettings, logger: Logger): Promise<number> {
  const { host, workers, shutdownTimeout } = settings;
  let child: ChildProcess | undefined;
  let isClosing = false;
  let hasServed = false;
  let pause = FIRST_PAUSE_MS;
  const close = (signal: NodeJS.Signals): void => {
    isClosing = true;
    child?.kill(signal);
    setTimeout(() => child?.kill('SIGKILL'), shutdownTimeout + GRACE_MS).unref();
  };
  process.on('SIGTERM', close);
  process.on('SIGINT', close);
  process.on('SIGHUP', (signal) => child?.kill(signal));

  for (let { port } = settings; ; ) {
    const socket = await listening(host, port, () => openSocket(host, port));
    ({ port } = socket.address() as AddressInfo);
    const began = performance.now();
    try {
      child = startProcess(socket, workers);
    } finally {
      // left to the child: here nobody would accept what comes in
      socket.close();
    }
    child.once('message', () => {
      hasServed = true;
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (isClosing) return 0;
    // it has said why
    if (!hasServed && code !== null) return code;
    logger.error({ pid: child.pid, code, signal }, 'process died');
    if (performance.now() - began < SHORT_LIFE_MS) {
      await delay(pause);
      if (isClosing) return 0;
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    } else {
      pause = FIRST_PAUSE_MS;
    }
  }
}

/** The listening sockets that this process was given, one for each thread; none when it was started by itself. */
export function givenSockets(workers: number): number[] {
  if (process.env[SERVES] === undefined) return [];
  return Array.from({ length: workers }, (_, thread) => FIRST_SOCKET + thread);
}

/** Tells the process above that this one serves. */
export function reportServing(): void {
  process.send!('serving');
}

/** Calls `end` when there was a process above this one, and it is gone. */
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
    env: { ...process.env, [SERVES]: 'yes' },
    // the same socket for each thread, as a file descriptor of its own
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...Array<number>(workers).fill(fdOf(socket))],
  });
}

/** Node tells the file descriptor of a listening socket only where its own modules look for it. */
function fdOf(server: Server): number {
  return (server as unknown as { readonly _handle: { readonly fd: number } })._handle.fd;
}
