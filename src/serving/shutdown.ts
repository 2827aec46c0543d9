import type { Server } from 'node:http';
import net, { type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { responseOf } from '../node-internals.js';

/** For so long answers tell clients, by `Connection: close`, before idle connections are closed. */
const NOTICE_MS = 500;
const LOOK_MS = 20;

/**
 * Ends an HTTP server without cutting anybody off: takes no new connections, lets requests under
 * way finish, closes what is idle after `noticeMs`, and after `timeoutMs` everything. From here on
 * answers must carry `Connection: close`. `sides` are servers that pass their connections on to it,
 * and `connections` are those that are open.
 */
export async function drain(
  server: Server,
  sides: readonly net.Server[],
  connections: ReadonlySet<Socket>,
  timeoutMs: number,
  noticeMs: number = NOTICE_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let isClosed = false;
  // not the HTTP server's own close: that hangs up on idle connections at once, over which a
  // request may already be on its way
  const closing = [server, ...sides].map(
    (one) =>
      new Promise<void>((resolve) => {
        net.Server.prototype.close.call(one, () => resolve());
      }),
  );
  const closed = Promise.all(closing).then(() => {
    isClosed = true;
  });
  await Promise.race([closed, delay(Math.min(noticeMs, timeoutMs))]);
  while (!isClosed && performance.now() < deadline) {
    // where this thread stood still, requests have come that it has yet to read
    await turn();
    closeIdle(server, connections);
    await Promise.race([closed, delay(LOOK_MS)]);
  }
  server.closeAllConnections();
  await closed;
}

/** Closes the connections without a request under way, nor any byte of one. */
function closeIdle(server: Server, connections: ReadonlySet<Socket>): void {
  const answering = [...connections].filter((socket) => responseOf(socket) !== undefined);
  // Node counts a connection as idle once its answer was handed over, though the client has yet to
  // take it: those keep out of the way of the method that all sockets share
  for (const socket of answering) socket.destroy = () => socket;
  server.closeIdleConnections();
  for (const socket of answering) Reflect.deleteProperty(socket, 'destroy');
  // Node counts these as busy: it waits for their first request
  for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
}
