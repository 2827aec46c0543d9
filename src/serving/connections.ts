import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { sharedArray } from '../common-array.js';
import type { CutCounts } from '../http/limits.js';
import { responseOf } from '../node-internals.js';

/** Open connections of each thread that serves, by its number, in memory that all share. */
export type ConnectionCounts = Int32Array;

/**
 * A thread that has so many more than another, or so many times as many, leaves new ones to that.
 */
const MORE = 8;
const TIMES = 1.25;
/** Milliseconds that the others are given to take a new connection. */
const PAUSE_MS = 0.2;
/** A connection without a request for so long may give way to a new one when there is no room. */
const IDLE_MS = 10;
/** Connections that are looked at for each new one, once this share of the limit is open. */
const LOOKS = 64;
const CROWDED = 3 / 4;

/**
 * Keeps count of a server's open connections, which it returns. Node's own `maxConnections` would
 * not count those of other threads. Beyond `limit` for all threads together, the connection whose
 * last request is longest ago, `idleMs` at least, gives way to the new one: whoever opens
 * connections and leaves them must not keep the others out. Where all are in use, the new one is
 * closed.
 *
 * Whichever thread wakes up first takes all connections that wait, so that one may get nearly all
 * of a burst, and keep them for hours while others idle. So a thread that has enough pauses before
 * it takes the next one.
 */
export function holdConnections(
  server: Server,
  limit: number,
  counts: ConnectionCounts,
  thread: number,
  cut: CutCounts,
  idleMs: number = IDLE_MS,
): ReadonlySet<Socket> {
  // while it is crowded in the order of their last requests
  const open = new Set<Socket>();
  const usedAt = new Map<Socket, number>();
  let isCrowded = false;
  const never = sharedArray(Int32Array, 1);
  let newcomers: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    usedAt.set(socket, performance.now());
    Atomics.add(counts, thread, 1);
    socket.once('close', () => release(socket));
    isCrowded = total() > limit * CROWDED;
    if (isCrowded) {
      // requests that have arrived meanwhile must be read before a connection counts as idle
      if (newcomers.length === 0) setImmediate(makeRoom);
      newcomers.push(socket);
    }
    if (open.size > Math.min(...counts) * TIMES + MORE) Atomics.wait(never, 0, 0, PAUSE_MS);
  });
  server.on('request', ({ socket }) => {
    if (isCrowded && open.has(socket)) use(socket, performance.now());
  });
  return open;

  function use(socket: Socket, now: number): void {
    open.delete(socket);
    open.add(socket);
    usedAt.set(socket, now);
  }

  function total(): number {
    return counts.reduce((sum, one) => sum + one, 0);
  }

  function release(socket: Socket): void {
    if (!open.delete(socket)) return;
    usedAt.delete(socket);
    Atomics.sub(counts, thread, 1);
  }

  function makeRoom(): void {
    const late = newcomers;
    newcomers = [];
    while (late.length > 0) {
      const idle = findIdle();
      const newest = late.pop()!;
      if (total() <= limit) continue;
      const leaving = idle ?? newest;
      cut[idle === undefined ? 'refused' : 'idle']++;
      release(leaving);
      leaving.destroy();
    }
  }

  /**
   * The connection whose last request is longest ago, `idleMs` at least, and is not being answered.
   */
  function findIdle(): Socket | undefined {
    const now = performance.now();
    let left = LOOKS;
    for (const socket of open) {
      if (usedAt.get(socket)! > now - idleMs || left-- === 0) return undefined;
      if (responseOf(socket) === undefined) return socket;
      // it is in use, and must not stand before those that are not
      use(socket, now);
    }
    return undefined;
  }
}
