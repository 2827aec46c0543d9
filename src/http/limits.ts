import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseOf } from '../node-internals.js';

/** What a thread lets its clients do. */
export interface Limits {
  /** Bytes of a request line and its headers. */
  readonly maxHeaderSize: number;
  /** Milliseconds to send a request, or to take the next part of an answer. */
  readonly requestTimeout: number;
  /** Milliseconds to send one whose body may hold an image. */
  readonly uploadTimeout: number;
  /**
   * Milliseconds that the event loop may be behind before requests are turned away; 0 never does.
   */
  readonly maxLoopDelay: number;
}

/** Clients that were cut off for want of room, by why. */
export interface CutCounts {
  /** Sent many requests ahead of the answers while many of others waited. */
  ahead: number;
  /** Idle longest when a new connection came beyond the limit. */
  idle: number;
  /** New, beyond a limit of connections that were all in use. */
  refused: number;
}

/** Makes counts of nobody yet. */
export function createCutCounts(): CutCounts {
  return { ahead: 0, idle: 0, refused: 0 };
}

/** What Node calls a request that took too long. */
const TOO_LATE = 'ERR_HTTP_REQUEST_TIMEOUT';
const STATUS: Record<string, [line: string, detail: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The URL and headers are too large.',
  ],
  [TOO_LATE]: ['408 Request Timeout', 'The request took too long to arrive.'],
};

/** Milliseconds for a client to read why it is hung up on. */
const LINGER_MS = 1_000;

/**
 * Answers what is no HTTP, too large or too slow, in the shape of all errors, and hangs up; answers
 * to earlier requests of the same connection come first.
 */
export function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const pending = responseOf(socket);
  if (pending !== undefined && !waitsForBody(pending)) {
    pending.once('close', () => refuseBrokenRequest(error, socket));
    return;
  }
  const [line, detail] = STATUS[error.code ?? ''] ?? ['400 Bad Request', 'The request is no HTTP.'];
  const body = JSON.stringify({ detail });
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  // whoever goes on sending is not listened to
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Whether an answer is still to be made, of a request whose body has not come. */
function waitsForBody({ headersSent, req }: ServerResponse): boolean {
  return !headersSent && !req.complete;
}

/**
 * Holds the body of a request to the time of a request. Node's server gives all of them the time
 * that an image may take.
 */
export function limitBodyTime(request: IncomingMessage, { requestTimeout }: Limits): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (coding === undefined && (length === undefined || length === '0')) return;
  if (requestTimeout === 0 || mayHoldImage(request)) return;
  const { socket } = request;
  const timer = setTimeout(() => {
    if (!request.complete)
      refuseBrokenRequest(Object.assign(new Error(), { code: TOO_LATE }), socket);
  }, requestTimeout).unref();
  request.once('close', () => clearTimeout(timer));
}

function mayHoldImage({ headers }: IncomingMessage): boolean {
  return /^\s*multipart\/form-data\b/i.test(headers['content-type'] ?? '');
}
