import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeQueued, responseOf, stopParsing } from './answer/node-internals.js';
import type { CutCounts } from './limits.js';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Requests of one connection that are worked on at the same time. */
const MOST_UNANSWERED = 2;
/** Requests that may wait in a thread, at some 2 kB each, before clients are cut off. */
const MOST_WAITING = 2_048;
/** A client with no more waiting requests than this is never cut off. */
const FAIR_SHARE = 16;

interface Line {
  readonly socket: Socket;
  readonly waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
  /** Responses that are being made, or that the system has not taken yet. */
  readonly unanswered: Set<ServerResponse>;
  isReady: boolean;
  isHeld: boolean;
}

/**
 * Puts a gate in front of `handle`. A request that arrives alone passes at once. Of requests that
 * arrive before the earlier ones of their connection are answered, two are worked on at a time,
 * each in another turn of the event loop, so that other connections get theirs. Meanwhile nothing
 * more is read from the connection. One packet may hold thousands of requests: while more than
 * `mostWaiting` of others wait, a client that adds to a long line is cut off.
 */
export function createGate(
  handle: Handler,
  cut: CutCounts,
  mostWaiting: number = MOST_WAITING,
): Handler {
  const lines = new Map<Socket, Line>();
  let allWaiting = 0;

  function open(socket: Socket, first: ServerResponse): Line {
    const unanswered = new Set<ServerResponse>();
    const line: Line = { socket, waiting: [], unanswered, isReady: false, isHeld: false };
    lines.set(socket, line);
    // Node resumes a connection whenever it is done with one of its requests
    socket.on('resume', () => {
      if (line.isHeld) socket.pause();
    });
    closeWithoutTraces(socket, () => {
      lines.delete(socket);
      allWaiting -= line.waiting.length;
      line.waiting.length = 0;
      for (const response of unanswered) closeQueued(response);
    });
    expect(line, first);
    return line;
  }

  function expect(line: Line, response: ServerResponse): void {
    line.unanswered.add(response);
    response.once('close', () => finish(line, response));
  }

  function invite(line: Line): void {
    const { waiting, unanswered, isReady } = line;
    if (isReady || waiting.length === 0 || unanswered.size >= MOST_UNANSWERED) return;
    line.isReady = true;
    setImmediate(begin, line);
  }

  function begin(line: Line): void {
    line.isReady = false;
    if (line.socket.destroyed) return;
    const { request, response } = line.waiting.shift()!;
    allWaiting--;
    expect(line, response);
    // the rest of a body must be read; no other request can stand in front of it
    if (!request.complete) letGo(line);
    handle(request, response);
    invite(line);
  }

  function finish(line: Line, response: ServerResponse): void {
    line.unanswered.delete(response);
    if (line.waiting.length === 0 && line.unanswered.size === 0) letGo(line);
    else invite(line);
  }

  return (request, response) => {
    const { socket } = request;
    // Node gives a response its socket once the earlier ones of the connection are sent
    if (response.socket !== null) {
      handle(request, response);
      return;
    }
    if (socket.destroyed) return;
    const line = lines.get(socket) ?? open(socket, responseOf(socket)!);
    const { length } = line.waiting;
    // a connection is read packet by packet: alone it may wait with all that one packet holds
    if (length >= FAIR_SHARE && allWaiting - length >= mostWaiting) {
      cut.ahead++;
      // its packet may hold a thousand requests more
      stopParsing(socket);
      socket.destroy();
      return;
    }
    allWaiting++;
    line.waiting.push({ request, response });
    line.isHeld = true;
    socket.pause();
    invite(line);
  };
}

/** Node makes an error for each waiting request then: stack traces would take 25 ms a thousand. */
function closeWithoutTraces(socket: Socket, onClose: () => void): void {
  let { stackTraceLimit } = Error;
  socket.prependOnceListener('close', () => {
    ({ stackTraceLimit } = Error);
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit;
    onClose();
  });
}

function letGo(line: Line): void {
  line.isHeld = false;
  line.socket.resume();
}
