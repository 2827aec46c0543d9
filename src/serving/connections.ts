import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Open connections of each thread that serves, by its number, in memory that all share. */
export type ConnectionCounts = Int32Array;

/** Counts for so many threads, all nought. */
export function createCounts(threads: number): ConnectionCounts {
  return new Int32Array(new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT));
}

/** A thread that has so many more than another, or so many times as many, leaves new ones to that. */
const MORE = 8;
const TIMES = 1.25;
/** Milliseconds that the others are given to take a new connection. */
const PAUSE_MS = 0.2;

/**
 * Keeps count of a server's open connections, which it returns, and closes at once what goes beyond
 * `limit` for all threads together, for which Node's own `maxConnections` does not care.
 *
 * Whichever thread wakes up first takes all connections that wait, so that one may get nearly all of a burst, and keep
 * them for hours while others idle. So a thread that has enough pauses before it takes the next one.
 */
export function holdConnections(
  server: Server,
  limit: number,
  counts: ConnectionCounts,
  thread: number,
): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  const never = createCounts(1);
  server.on('connection', (socket: Socket) => {
    if (counts.reduce((sum, one) => sum + one, 0) >= limit) {
      socket.destroy();
      return;
    }
    open.add(socket);
    Atomics.add(counts, thread, 1);
    socket.once('close', () => {
      open.delete(socket);
      Atomics.sub(counts, thread, 1);
    });
    if (open.size > Math.min(...counts) * TIMES + MORE) Atomics.wait(never, 0, 0, PAUSE_MS);
  });
  return open;
}
