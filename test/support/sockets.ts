import { once } from 'node:events';
import { createServer, Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { closeLater } from './folder.js';

export interface Line {
  readonly socket: Socket;
  answer: string;
  isClosed: boolean;
}

const dialled: Socket[] = [];

/** Connects to a port of this machine, until {@link hangUp}; a reset counts as a close. */
export function dial(port: number): Line {
  const socket = connect(port, '127.0.0.1');
  const line: Line = { socket, answer: '', isClosed: false };
  socket.setEncoding('latin1').on('data', (text: string) => {
    line.answer += text;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    line.isClosed = true;
  });
  if (dialled.push(socket) === 1) closeLater(hangUp);
  return line;
}

/** Ends every connection of {@link dial}, as the end of a file does. */
export function hangUp(): void {
  for (const socket of dialled.splice(0)) socket.destroy();
}

export function answersOf({ answer }: Line): number {
  return answer.split('HTTP/1.1 200 ').length - 1;
}

/**
 * Whether the other end has reset a connection, rather than closed it. Writing tells: a reader in
 * Node with bytes left to read takes a reset for an end.
 */
export function wasReset(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.write('x', (error) => resolve((error as NodeJS.ErrnoException)?.code === 'ECONNRESET'));
  });
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeLater(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

export async function freePort(): Promise<number> {
  const server = new HttpServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

export interface File {
  readonly type: string;
  readonly body: Buffer | string;
}

/**
 * Serves the files of `find` to pages of every origin, until the test file ends; returns scheme,
 * host and port. An error that `find` throws is a 404, too, which the browser reports.
 */
export async function startFileSite(find: (path: string) => File | undefined): Promise<string> {
  const server = createServer(({ url }, answer) => {
    let file: File | undefined;
    try {
      file = find(new URL(url!, 'http://127.0.0.1').pathname);
    } catch {}
    answer.setHeader('Access-Control-Allow-Origin', '*');
    if (file === undefined) answer.writeHead(404).end();
    else answer.writeHead(200, { 'Content-Type': file.type }).end(file.body);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}
