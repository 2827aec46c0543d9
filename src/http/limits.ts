import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { quote } from '../model/quote.js';
import { responseOf } from './answer/node-internals.js';
import { hasBody } from './request/body.js';
import { HttpError } from './request/http-error.js';

export interface Limits {
  readonly maxHeaderSize: number;
  /** Milliseconds to send a request, or to take the next part of an answer. */
  readonly requestTimeout: number;
  /** Milliseconds to send a request whose body may hold an image. */
  readonly uploadTimeout: number;
  /** Milliseconds that the event loop may be behind before requests get 503; 0 never does. */
  readonly maxLoopDelay: number;
}

/** Clients that were cut off for want of room, by reason. */
export class CutCounts {
  /** Sent many requests ahead of the answers while many of others waited. */
  ahead = 0;
  /** Idle longest when a new connection came beyond the limit. */
  idle = 0;
  /** Came when all connections up to the limit were in use. */
  refused = 0;
}

const TOO_LATE = 'ERR_HTTP_REQUEST_TIMEOUT';
const STATUS: Record<string, [line: string, detail: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The URL and headers are too large.',
  ],
  HPE_INVALID_URL: [
    '400 Bad Request',
    'The address has a character that has to be encoded, such as %C3%B6 for an o with a diaeresis.',
  ],
  [TOO_LATE]: ['408 Request Timeout', 'The request took too long to arrive.'],
};

/** Milliseconds for a client to read why it is hung up on. */
const LINGER_MS = 1_000;

/** Answers what is no HTTP, too large or too slow, behind earlier answers, and hangs up. */
export function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  // what the client goes on sending is an error, too; closed now, it could not read the answer
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const pending = responseOf(socket);
  const waitsForBody = pending?.headersSent === false && !pending.req.complete;
  if (pending !== undefined && !waitsForBody) {
    pending.once('close', () => refuseBrokenRequest(error, socket));
    return;
  }
  const [line, detail] = STATUS[error.code ?? ''] ?? ['400 Bad Request', 'The request is no HTTP.'];
  const body = JSON.stringify({ detail });
  const head = [`HTTP/1.1 ${line}`, 'Content-Type: application/json', 'Connection: close'];
  head.push('X-Content-Type-Options: nosniff', `Content-Length: ${body.length}`);
  socket.end([...head, '', body].join('\r\n'));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Lets a client that wants its connection closed send all of its body, for `ms` milliseconds: Node
 * closes behind the answer, and the reset that follows may overtake it (RFC 9112, 9.6).
 */
function lingerOnClose(request: IncomingMessage, ms: number): void {
  const { socket } = request;
  const close = (): void => Socket.prototype.destroySoon.call(socket);
  socket.destroySoon = () => {
    if (request.complete || socket.destroyed) return close();
    socket.end();
    const timer = setTimeout(() => socket.destroy(), ms).unref();
    request.once('close', () => {
      clearTimeout(timer);
      close();
    });
  };
}

const MULTIPART = /^\s*multipart\/form-data\b/i;

/**
 * Holds a body without images to `requestTimeout`, since Node gives every body the time of an upload,
 * and lets one that is refused come to its end.
 */
export function limitBodyTime(request: IncomingMessage, { requestTimeout }: Limits): void {
  if (!hasBody(request.headers)) return;
  lingerOnClose(request, requestTimeout);
  // most bodies come with their heads, and need no timer
  setImmediate(() => {
    const { complete, destroyed, socket, headers } = request;
    if (complete || destroyed || MULTIPART.test(headers['content-type'] ?? '')) return;
    const timer = setTimeout(() => {
      if (!request.complete)
        refuseBrokenRequest(Object.assign(new Error(), { code: TOO_LATE }), socket);
    }, requestTimeout).unref();
    request.once('close', () => clearTimeout(timer));
  });
}

/**
 * Throws a 400 HttpError for a request of HTTP/1.1 without a Host header, for two of them, for a
 * transfer coding other than `chunked` and for any in HTTP/1.0: a proxy in front may see another
 * host, or another end of the request. Throws a 417 one for an expectation other than
 * `100-continue`.
 */
export function checkHead(
  { rawHeaders, headers, httpVersion }: IncomingMessage,
  response: ServerResponse,
): void {
  const { upgrade, expect, 'transfer-encoding': coding } = headers;
  // closing tells the client that Node drops what follows an Upgrade in the same packet
  if (upgrade !== undefined) response.shouldKeepAlive = false;
  if (coding !== undefined && httpVersion === '1.0') {
    refuse(response, 'Got Transfer-Encoding in a request of HTTP/1.0. Expected a Content-Length.');
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    const got = `Got Transfer-Encoding ${quote(coding)}`;
    refuse(response, `${got}. Expected chunked, or a Content-Length instead.`);
  }
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    const detail = `Got Expect ${quote(expect)}. Expected 100-continue, or none.`;
    throw new HttpError(417, { detail });
  }
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) refuse(response, 'There is more than one Host header.');
  if (hosts === 0 && httpVersion !== '1.0') refuse(response, 'The Host header is missing.');
}

function refuse(response: ServerResponse, detail: string): never {
  response.shouldKeepAlive = false;
  throw new HttpError(400, { detail });
}

/** Milliseconds over which the delay of the event loop is averaged. */
const SPAN_MS = 1_000;
const STEP_MS = 10;

/**
 * Tells whether the event loop was late by more than `maxDelay` milliseconds on average in the last
 * second. `@fastify/under-pressure` also reads the memory of the process, which throws where no
 * file descriptor is left.
 */
export function watchLoop(maxDelay: number): () => boolean {
  if (maxDelay === 0) return () => false;
  let isBehind = false;
  const delays = monitorEventLoopDelay({ resolution: STEP_MS });
  delays.enable();
  setInterval(() => {
    // measured from one step to the next; none at all when the loop stood still
    const delay = delays.count === 0 ? SPAN_MS : delays.mean / 1e6 - STEP_MS;
    isBehind = delay > maxDelay;
    delays.reset();
  }, SPAN_MS).unref();
  return () => isBehind;
}
