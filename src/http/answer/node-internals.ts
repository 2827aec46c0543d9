import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/** Undocumented parts of Node: `test/node-internals.test.ts` fails where a version has others. */

interface Connection {
  /** Null once the last response has been sent. */
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { onIncoming: () => number } | null;
  readonly _handle: { readonly writeQueueSize: number } | null;
}

interface Response {
  _header: string | null;
}

/** The response whose turn it is on a connection; undefined where none is made or sent. */
export function responseOf(socket: Socket): ServerResponse | undefined {
  return (socket as unknown as Connection)._httpMessage ?? undefined;
}

/** Ends the parsing of a packet: Node takes its next request for a change of protocol. */
export function stopParsing(socket: Socket): void {
  const { parser } = socket as unknown as Connection;
  if (parser) parser.onIncoming = () => 2;
}

/** Bytes that Node counts as written and the system has not taken yet. */
export function queuedBytes(socket: Socket): number {
  return (socket as unknown as Connection)._handle?.writeQueueSize ?? 0;
}

/** Gives a response the text of its head, which is sent with the body as it is. */
export function setHead(response: ServerResponse, text: string): void {
  (response as unknown as Response)._header = text;
}

/** Whether {@link setHead} does what it says, which depends on the version of Node. */
export function canSetHead(): boolean {
  const request = { method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 } as IncomingMessage;
  const response = new ServerResponse(request);
  if ((response as unknown as Response)._header !== null || response.headersSent) return false;
  setHead(response, 'HTTP/1.1 200 OK\r\n\r\n');
  return response.headersSent;
}

/** -1 once it is closed. */
export function descriptorOf(owner: Server | Socket): number {
  type Owner = { readonly _handle: { readonly fd: number } | null };
  return (owner as unknown as Owner)._handle?.fd ?? -1;
}
