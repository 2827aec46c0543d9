import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import net, { type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { ServeSettings } from '../cli/settings/values.js';
import { responseOf } from '../http/answer/node-internals.js';
import type { CutCounts } from '../http/limits.js';
import { sharedArray } from '../model/memory.js';
import { InputError } from '../model/quote.js';
import { MAX_OPEN_UPLOADS } from '../posts/media/upload.js';

/** Open connections of each thread, by its number, in shared memory. */
export type ConnectionCounts = Int32Array;

/** Open connections, in the order of their last requests while there are many. */
export type Connections = ReadonlyMap<Socket, number>;

/**
 * A thread that has more than `TIMES` the connections of the idlest one, and `SLACK` above that,
 * pauses for `PAUSE_MS` before it accepts again.
 */
const TIMES = 1.25;
const SLACK = 8;
const PAUSE_MS = 0.2;
/** Milliseconds without a request after which a connection may give way to a new one. */
const IDLE_MS = 10;
/** Above this share of the limit a server is crowded, and keeps connections in order of use. */
const CROWDED = 3 / 4;
/** Connections that are looked at for each new one, at most. */
const LOOKS = 64;

/**
 * Counts a server's open connections, and returns them. Beyond `limit` for all threads together,
 * which Node's own `maxConnections` cannot know, the connection that was idle longest, `idleMs` at
 * least, gives way to the new one. Where all are in use, the new one is closed.
 *
 * The thread that wakes up first takes all waiting connections: it may get nearly all of a burst
 * and keep them for hours while other threads idle. So a thread with more than its share pauses.
 */
export function holdConnections(
  server: Server,
  limit: number,
  counts: ConnectionCounts,
  thread: number,
  cut: CutCounts,
  idleMs: number = IDLE_MS,
): Connections {
  // with the times of their last requests, in whose order they are while crowded
  const open = new Map<Socket, number>();
  let isCrowded = false;
  const never = sharedArray(Int32Array, 1);
  server.on('connection', (socket: Socket) => {
    open.set(socket, performance.now());
    Atomics.add(counts, thread, 1);
    socket.once('close', () => release(socket));
    isCrowded = total() > limit * CROWDED;
    // requests that have arrived are read before a connection counts as idle
    if (total() > limit) setImmediate(makeRoom, socket);
    if (open.size > Math.min(...counts) * TIMES + SLACK) Atomics.wait(never, 0, 0, PAUSE_MS);
  });
  server.on('request', ({ socket }) => {
    if (isCrowded && open.has(socket)) use(socket, performance.now());
  });
  return open;

  function use(socket: Socket, now: number): void {
    open.delete(socket);
    open.set(socket, now);
  }

  function total(): number {
    return counts.reduce((sum, one) => sum + one, 0);
  }

  function release(socket: Socket): void {
    if (open.delete(socket)) Atomics.sub(counts, thread, 1);
  }

  function makeRoom(newcomer: Socket): void {
    if (total() <= limit) return;
    const idle = findIdle();
    const leaving = idle ?? newcomer;
    cut[idle === undefined ? 'refused' : 'idle']++;
    release(leaving);
    leaving.destroy();
  }

  /** The connection that was idle longest, for `idleMs` at least. */
  function findIdle(): Socket | undefined {
    const now = performance.now();
    let left = LOOKS;
    for (const [socket, usedAt] of open) {
      if (usedAt > now - idleMs || left-- === 0) return undefined;
      if (responseOf(socket) === undefined) return socket;
      // a connection in use goes behind the idle ones
      use(socket, now);
    }
    return undefined;
  }
}

/**
 * File descriptors of Node, the first thread, a build, the watcher and operators' connections, and
 * of the modules that a starting thread reads at one time: with 64 some starts failed.
 */
const RESERVE = 80;
/** File descriptors of each thread: its event loop and its listening socket. */
const RESERVE_OF_THREAD = 8;

/**
 * How many connections can be held: those of the settings, or as many as leave file descriptors for
 * the rest, such as new snapshots. Throws an InputError where none is left.
 */
export function connectionLimit({
  maxConnections,
  workers,
  media,
}: Pick<ServeSettings, 'maxConnections' | 'workers' | 'media'>): number {
  const limit = descriptorLimit();
  const ofThread = RESERVE_OF_THREAD + (media === undefined ? 0 : MAX_OPEN_UPLOADS);
  const reserve = RESERVE + workers * ofThread;
  if (limit > reserve) return Math.min(maxConnections, limit - reserve);
  const reason = `The limit of ${limit} open files is too low`;
  const least = `with ${workers} workers it must be above ${reserve}`;
  throw new InputError(`${reason}: ${least}. Raise it (ulimit -n).`);
}

/** How many files this process may have open; infinite where the system does not say. */
function descriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/** How long answers say `Connection: close` before idle connections are closed. */
const NOTICE_MS = 500;
const LOOK_MS = 20;

/**
 * Ends an HTTP server without cutting anybody off: takes no new connections, lets requests under
 * way finish, closes idle connections after `noticeMs`, and all after `timeoutMs`. Answers must
 * carry `Connection: close` from here on.
 */
export async function drain(
  server: Server,
  connections: Connections,
  timeoutMs: number,
  noticeMs: number = NOTICE_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let isClosed = false;
  // the HTTP server's own close would end idle connections at once: a request may be on its way
  const closed = new Promise<void>((resolve) => {
    net.Server.prototype.close.call(server, () => {
      isClosed = true;
      resolve();
    });
  });
  await Promise.race([closed, delay(Math.min(noticeMs, timeoutMs))]);
  while (!isClosed && performance.now() < deadline) {
    // reads the requests that came while this thread was busy
    await turn();
    closeIdle(server, connections);
    await Promise.race([closed, delay(LOOK_MS)]);
  }
  for (const socket of connections.keys()) {
    // over HTTP/1.0 an answer that just ends would look whole
    if (responseOf(socket) !== undefined) socket.resetAndDestroy();
  }
  server.closeAllConnections();
  await closed;
}

/** Closes the connections without a request under way, or any byte of one. */
function closeIdle(server: Server, connections: Connections): void {
  const answering = [...connections.keys()].filter((socket) => responseOf(socket) !== undefined);
  // Node counts a connection as idle once its answer was handed over, though the client has yet to
  // take it: such a connection cannot be destroyed meanwhile
  for (const socket of answering) socket.destroy = () => socket;
  server.closeIdleConnections();
  for (const socket of answering) Reflect.deleteProperty(socket, 'destroy');
  // Node counts a connection as busy before its first request
  for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
}
