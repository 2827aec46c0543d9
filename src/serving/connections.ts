import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps count of a server's open connections, which it returns, and closes at once what goes beyond
 * `limit`. Node's own `maxConnections` will not do: in a cluster the primary offers a refused connection
 * to the next process, on and on, and spins.
 */
export function holdConnections(server: Server, limit: number): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    if (open.size >= limit) {
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}
