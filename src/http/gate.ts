import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseOf, stopParsing } from './answer/node-internals.js';
import type { CutCounts } from './limits.js';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Requests that may wait in a thread, at some 2 kB each, before clients are cut off. */
const MOST_WAITING = 2_048;
/** A client with no more waiting requests than this is never cut off. */
const FAIR_SHARE = 16;

interface Line {
  readonly socket: Socket;
  readonly waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
  /** Whether the end of a response is awaited, and nothing more is read meanwhile. */
  isHeld: boolean;
}

/**
 * Puts a gate in front of `handle`. A request that arrives alone passes at once. Of requests that
 * arrive before the earlier ones of their connection are answered, one is worked on at a time, each
 * in another turn of the event loop, so that other connections get theirs. Meanwhile nothing more
 * is read from the connection. One packet may hold thousands of requests: while more than
 * `mostWaiting` of others wait, a client that adds to a long line is cut off.
 */
export function createGate(
  handle: Handler,
  cut: CutCounts,
  mostWaiting: number = MOST_WAITING,
): Handler {
  const lines = new Map<Socket, Line>();
  let allWaiting = 0;

  function open(socket: Socket): Line {
    const line: Line = { socket, waiting: [], isHeld: false };
    lines.set(socket, line);
    // Node resumes a connection whenever it is done with one of its requests
    socket.on('resume', () => {
      if (line.isHeld) socket.pause();
    });
    closeWithoutTraces(socket, () => {
      lines.delete(socket);
      allWaiting -= line.waiting.length;
      line.waiting.length = 0;
    });
    return line;
  }

  function hold(line: Line, until: ServerResponse): void {
    line.isHeld = true;
    line.socket.pause();
    until.once('close', () => setImmediate(next, line));
  }

  function next(line: Line): void {
    // behind the last answer of a connection nothing is answered
    if (!line.socket.writable) return;
    const first = line.waiting.shift();
    // the rest of a body must be read; no other request can stand in front of it
    if (first?.request.complete) hold(line, first.response);
    else letGo(line);
    if (first === undefined) return;
    allWaiting--;
    handle(first.request, first.response);
  }

  return (request, response) => {
    const { socket } = request;
    // Node gives a response its socket once the earlier ones of the connection are sent
    if (response.socket !== null) {
      handle(request, response);
      return;
    }
    if (socket.destroyed) return;
    const line = lines.get(socket) ?? open(socket);
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
    if (!line.isHeld) hold(line, responseOf(socket)!);
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
